// What the views of communities read. All of it is cached under "communities", and read again when the index changes.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "../api/client";
import { subgraph } from "../api/subgraph";

const SHOWN = 500; // communities in a tree or treemap
const LEVELS = 3;
const MEMBERS = 50; // on a page
const YEAR = 365 * 86_400_000; // milliseconds; the server lists removed communities for a year

export const hierarchy = (workspace: string) =>
  queryOptions({
    queryKey: ["communities", workspace, "hierarchy"],
    queryFn: async ({ signal }) => {
      const params = { path: { workspace } };
      return dataOf(api.GET("/v1/workspaces/{workspace}/communities/hierarchy", { params, signal }));
    },
  });

/** The largest communities within one, or of all if it is empty. */
export const tree = (workspace: string, within: string, levels = LEVELS) =>
  queryOptions({
    queryKey: ["communities", workspace, "tree", within, levels],
    queryFn: ({ signal }) => {
      const query = { depth: levels, limit: SHOWN, ...(within ? { within } : {}) };
      const params = { path: { workspace }, query };
      return dataOf(api.GET("/v1/workspaces/{workspace}/communities/tree", { params, signal }));
    },
  });

export const community = (workspace: string, id: string) =>
  queryOptions({
    queryKey: ["communities", workspace, "one", id],
    queryFn: ({ signal }) => {
      const params = { path: { workspace, community: id }, query: { members: 0 } };
      return dataOf(api.GET("/v1/workspaces/{workspace}/communities/{community}", { params, signal }));
    },
  });

export const members = (workspace: string, id: string) =>
  infiniteQueryOptions({
    queryKey: ["communities", workspace, "members", id],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const params = { path: { workspace, community: id }, query: { limit: MEMBERS, cursor: pageParam } };
      return dataOf(
        api.GET("/v1/workspaces/{workspace}/communities/{community}/members", { params, signal }),
      );
    },
    getNextPageParam: (last) => last.next ?? null,
  });

/** The entities and relations that findings are based on: the names of those that still exist. */
export const supporting = (workspace: string, ids: string[]) =>
  queryOptions({
    queryKey: ["communities", workspace, "supporting", ids],
    queryFn: ({ signal }) => subgraph(workspace, ids, {}, signal),
    enabled: ids.length > 0,
  });

export const passages = (workspace: string, ids: string[]) =>
  queryOptions({
    queryKey: ["communities", workspace, "passages", ids],
    queryFn: async ({ signal }) => {
      const params = { path: { workspace }, query: { id: ids } };
      return (await dataOf(api.GET("/v1/workspaces/{workspace}/passages", { params, signal }))).passages;
    },
  });

/** What is known of a community that no longer exists; null if nothing is. */
export const retired = (workspace: string, id: string) =>
  queryOptions({
    queryKey: ["communities", workspace, "retired", id],
    queryFn: async ({ signal }) => {
      const query = { since: new Date(Date.now() - YEAR + 60_000).toISOString(), limit: 200 };
      const params = { path: { workspace }, query };
      const found = await dataOf(
        api.GET("/v1/workspaces/{workspace}/communities/retired", { params, signal }),
      );
      return found.communities.find((one) => one.id === id) ?? null;
    },
  });
