// The Bench view in its address: the part of the list, and in a run both sides, the measure, the filter and the question.
import { viewPath } from "../shell/views";

export type Part = "runs" | "questions";
export const FOUND_BY = ["a", "b", "both", "neither"] as const;
export type FoundBy = (typeof FOUND_BY)[number];

export interface RunState {
  /** The methods of both sides; empty for the best two. */
  a: string;
  b: string;
  /** The run of B; empty for the same. */
  other: string;
  /** Empty for the one that the run is ordered by. */
  measure: string;
  /** Only questions found by this side, by both or by neither. */
  found: FoundBy | null;
  /** The number of the question that is open. */
  question: number | null;
}

export const readPart = (params: URLSearchParams): Part =>
  params.get("part") === "questions" ? "questions" : "runs";

export function readRun(params: URLSearchParams): RunState {
  const question = Number.parseInt(params.get("question") ?? "", 10);
  return {
    a: params.get("a") ?? "",
    b: params.get("b") ?? "",
    other: params.get("other") ?? "",
    measure: params.get("measure") ?? "",
    found: FOUND_BY.find((one) => one === params.get("found")) ?? null,
    question: Number.isInteger(question) && question > 0 ? question - 1 : null,
  };
}

/** The search parameters for a state. Defaults are left out. Questions are counted from 1. */
export function writeRun(state: Partial<RunState>): URLSearchParams {
  const params = new URLSearchParams();
  for (const name of ["a", "b", "other", "measure", "found"] as const)
    if (state[name]) params.set(name, state[name]);
  if (state.question !== null && state.question !== undefined)
    params.set("question", String(state.question + 1));
  return params;
}

export const benchPath = (workspace: string, part: Part = "runs"): string =>
  viewPath(workspace, "bench") + (part === "runs" ? "" : `?part=${part}`);

/** The address of one run. */
export function runPath(workspace: string, id: string, state: Partial<RunState> = {}): string {
  const params = writeRun(state);
  return viewPath(workspace, `bench/${encodeURIComponent(id)}`) + (params.size > 0 ? `?${params}` : "");
}
