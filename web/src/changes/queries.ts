// What the page of changes reads.
import { queryOptions } from "@tanstack/react-query";
import { api, dataOf, type Schemas } from "../api/client";
import type { Times } from "./address";

export type Change = Schemas["IndexChange"];
export type Passage = Change["passages_before"][number];

export const MOST = 100; // changes of each kind

/** What is different between two times. The server builds their indexes, and keeps them for a while. */
export const changesQuery = (workspace: string, { since, until }: Times) =>
  queryOptions({
    queryKey: ["changes", workspace, since, until],
    queryFn: ({ signal }) => {
      const query = { since, ...(until ? { until } : {}), limit: MOST };
      const params = { path: { workspace }, query };
      return dataOf(api.GET("/v1/workspaces/{workspace}/history/diff", { params, signal }));
    },
    enabled: since !== "",
    staleTime: until ? Number.POSITIVE_INFINITY : 60_000, // milliseconds: the past does not change
  });
