// What the views of benchmarks read and write. All of it is cached under "bench", and read again when the index changes.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { wholeFilter } from "../api/ask";
import { api, dataOf, type Schemas } from "../api/client";
import { streamed } from "../api/stream";
import type { FoundBy } from "./address";

export type Run = Schemas["BenchRun"];
export type Question = Schemas["BenchQuestion"];
export type BenchPassage = Schemas["BenchPassage"];
export type Outcome = Schemas["BenchOutcome"];

const LISTED = 20; // runs or questions on a page
const COMPARED = 50; // questions of a comparison on a page

export const runsQuery = (workspace: string) =>
  infiniteQueryOptions({
    queryKey: ["bench", workspace, "runs"],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const params = { path: { workspace }, query: { limit: LISTED, cursor: pageParam } };
      return dataOf(api.GET("/v1/workspaces/{workspace}/bench", { params, signal }));
    },
    getNextPageParam: (last) => last.next ?? null,
  });

export const runQuery = (workspace: string, run: string) =>
  queryOptions({
    queryKey: ["bench", workspace, "run", run],
    queryFn: ({ signal }) => {
      const params = { path: { workspace, run } };
      return dataOf(api.GET("/v1/workspaces/{workspace}/bench/{run}", { params, signal }));
    },
    retry: false,
  });

/** Both sides of a comparison, with their runs. */
export interface Sides {
  run_a: string;
  method_a: string;
  run_b: string;
  method_b: string;
  measure: string;
}

export const compareQuery = (workspace: string, sides: Sides, found: FoundBy | null) =>
  infiniteQueryOptions({
    queryKey: ["bench", workspace, "compare", sides, found],
    initialPageParam: -1,
    queryFn: ({ pageParam, signal }) => {
      const query = { ...sides, limit: COMPARED, after: pageParam, ...(found ? { found_by: found } : {}) };
      return dataOf(
        api.GET("/v1/workspaces/{workspace}/bench/compare", {
          params: { path: { workspace }, query },
          signal,
        }),
      );
    },
    getNextPageParam: (last) =>
      last.questions.length < COMPARED ? null : (last.questions.at(-1)?.n_a ?? null),
    retry: false,
  });

export const outcomeQuery = (workspace: string, run: string, n: number) =>
  queryOptions({
    queryKey: ["bench", workspace, "outcome", run, n],
    queryFn: ({ signal }) => {
      const params = { path: { workspace, run, n } };
      return dataOf(api.GET("/v1/workspaces/{workspace}/bench/{run}/outcomes/{n}", { params, signal }));
    },
    retry: false,
  });

export const questionsQuery = (workspace: string) =>
  infiniteQueryOptions({
    queryKey: ["bench", workspace, "questions"],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const params = { path: { workspace }, query: { limit: LISTED, cursor: pageParam } };
      return dataOf(api.GET("/v1/workspaces/{workspace}/bench/questions", { params, signal }));
    },
    getNextPageParam: (last) => last.next ?? null,
  });

/** The methods that can be measured from here. */
export const measurableQuery = (workspace: string) =>
  queryOptions({
    queryKey: ["bench methods", workspace],
    queryFn: async ({ signal }) => {
      const params = { path: { workspace } };
      return (await dataOf(api.GET("/v1/workspaces/{workspace}/bench/methods", { params, signal }))).methods;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

/** The passages that match a text best. */
export const searchQuery = (workspace: string, text: string) =>
  queryOptions({
    queryKey: ["passages like", workspace, text],
    queryFn: async ({ signal }) => {
      const params = { path: { workspace } };
      const body = { text, limit: 10, filter: wholeFilter({}) };
      return (await dataOf(api.POST("/v1/workspaces/{workspace}/search", { params, body, signal }))).passages;
    },
  });

export interface Draft {
  question: string;
  passages: { uri: string; chunk: string | null }[];
  answers: string[];
  kind: string;
}

/** Adds a question, or replaces the one with this id. */
export function saveQuestion(workspace: string, draft: Draft, id: string | null): Promise<Question> {
  if (id === null)
    return dataOf(
      api.POST("/v1/workspaces/{workspace}/bench/questions", {
        params: { path: { workspace } },
        body: { ...draft, by: "" },
      }),
    );
  const params = { path: { workspace, question: id } };
  return dataOf(api.PUT("/v1/workspaces/{workspace}/bench/questions/{question}", { params, body: draft }));
}

export function removeQuestion(workspace: string, question: string): Promise<unknown> {
  const params = { path: { workspace, question } };
  return dataOf(api.DELETE("/v1/workspaces/{workspace}/bench/questions/{question}", { params }));
}

export function removeRun(workspace: string, run: string): Promise<unknown> {
  const params = { path: { workspace, run } };
  return dataOf(api.DELETE("/v1/workspaces/{workspace}/bench/{run}", { params }));
}

/** Measures methods on the questions of the workspace, and returns the stored run. */
export async function measure(
  workspace: string,
  methods: string[],
  onProgress: (done: number, all: number) => void,
  signal: AbortSignal,
): Promise<Run> {
  const path = `/v1/workspaces/${encodeURIComponent(workspace)}/bench`;
  const headers = { "Content-Type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify({ methods }), signal };
  for await (const { name, data } of streamed(path, init)) {
    if (name === "run") return data as Run;
    if (name === "progress") {
      const { done, all } = data as { done: number; all: number };
      onProgress(done, all);
    }
  }
  throw new TypeError("The stream ended before the run was stored.");
}
