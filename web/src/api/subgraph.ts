// The part of the graph that some entities make.
import { wholeFilter } from "./ask";
import { api, dataOf } from "./client";

export const DRAWN = 500; // entities of a part of the graph, at most

/** Those of these entities that still exist, and the relations between them. */
export const subgraph = (workspace: string, entities: string[], signal: AbortSignal) => {
  const body = { entities, chunks: [], limit: DRAWN, filter: wholeFilter({}) };
  return dataOf(
    api.POST("/v1/workspaces/{workspace}/subgraph", { params: { path: { workspace } }, body, signal }),
  );
};
