// The part of the graph that some entities make.
import { type Filter, wholeFilter } from "./ask";
import { api, dataOf } from "./client";

export const DRAWN = 500; // entities of a part of the graph, at most

/** Those of these entities that still exist, and the relations between them, under a filter. */
export const subgraph = (workspace: string, entities: string[], filter: Filter, signal: AbortSignal) => {
  const body = { entities, chunks: [], limit: DRAWN, filter: wholeFilter(filter) };
  return dataOf(
    api.POST("/v1/workspaces/{workspace}/subgraph", { params: { path: { workspace } }, body, signal }),
  );
};
