// What the page of watches reads, and how often it reads it again.
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, dataOf, type Schemas } from "../api/client";

export type Watch = Schemas["WatchBody"];
export type Alert = Schemas["Alert"];
export type AlertPassage = Schemas["AlertPassage"];
/** A question to be asked again. What is left out has its default. */
export type NewWatch = Partial<Schemas["NewWatchBody"]> & { question: string };

export const MOST = 200; // alerts that the server sends at once
const AGAIN = 5_000; // milliseconds between two reads

/** After an error, a page reads only when the user asks for it. */
const refetchInterval = ({ state }: { state: { error: unknown } }) => (state.error ? false : AGAIN);

/** The watches in the order of their names. */
export const watchesQuery = (workspace: string) =>
  infiniteQueryOptions({
    initialPageParam: "",
    getNextPageParam: (last: { next?: string | null }) => last.next ?? null,
    queryKey: ["watches", workspace],
    queryFn: ({ pageParam, signal }) => {
      const params = { path: { workspace }, query: { limit: 50, cursor: pageParam } };
      return dataOf(api.GET("/v1/workspaces/{workspace}/watches", { params, signal }));
    },
    refetchInterval,
  });

/** The latest alerts of a watch, or of all if it is empty. The latest one is first. */
export const alertsQuery = (workspace: string, watch: string, limit: number) =>
  queryOptions({
    queryKey: ["alerts", workspace, watch, limit],
    queryFn: async ({ signal }) => {
      const params = { path: { workspace }, query: { limit, ...(watch ? { watch } : {}) } };
      const found = await dataOf(api.GET("/v1/workspaces/{workspace}/watches/alerts", { params, signal }));
      return found.alerts.toReversed();
    },
    placeholderData: keepPreviousData,
    refetchInterval,
  });

export function addWatch(workspace: string, watch: NewWatch): Promise<Watch> {
  const body = watch as Schemas["NewWatchBody"];
  return dataOf(api.POST("/v1/workspaces/{workspace}/watches", { params: { path: { workspace } }, body }));
}

export const removeWatch = (workspace: string, watch: string) =>
  dataOf(
    api.DELETE("/v1/workspaces/{workspace}/watches/{watch}", { params: { path: { workspace, watch } } }),
  );
