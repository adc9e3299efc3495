// What the page of conflicts reads. Filters are JSON, and empty if all documents pass.
import { infiniteQueryOptions } from "@tanstack/react-query";
import { api, dataOf, type Schemas } from "../api/client";
import { filterQuery } from "../ask/useFilter";

// The generated types of requests and of responses differ in pairs of numbers.
type Statement = Omit<Schemas["RelationStatement"], "names"> & { names: number[][] };
export type Side = Omit<Schemas["ConflictSide"], "statements"> & { statements: Statement[] };
export type Conflict = Omit<Schemas["Conflict"], "sides"> & { sides: Side[] };

export const conflictsQuery = (workspace: string, filter: string) =>
  infiniteQueryOptions({
    initialPageParam: "",
    getNextPageParam: (last: { next?: string | null }) => last.next ?? null,
    queryKey: ["conflicts", workspace, filter],
    queryFn: ({ pageParam, signal }) => {
      const params = { path: { workspace }, query: { limit: 20, cursor: pageParam, ...filterQuery(filter) } };
      return dataOf(api.GET("/v1/workspaces/{workspace}/conflicts", { params, signal }));
    },
  });
