// What views read from the server, by the name under which it is cached.
import { queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "./client";

/** The workspaces that the caller may use: all pages of the list. */
export const workspaces = queryOptions({
  queryKey: ["workspaces"],
  queryFn: async ({ signal }) => {
    const found = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const query: { limit: number; cursor: string } = { limit: 200, cursor };
      const page = await dataOf(api.GET("/v1/workspaces", { params: { query }, signal }));
      found.push(...page.items);
      cursor = page.next ?? null;
    }
    return found;
  },
});

/** One workspace: its size, its default method, whether it has a language model. */
export const workspace = (name: string) =>
  queryOptions({
    queryKey: ["workspace", name],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/v1/workspaces/{workspace}", { params: { path: { workspace: name } }, signal })),
  });

/** All methods with the schemas of their parameters, and why those that cannot be used in this workspace cannot. */
export const methods = (name: string) =>
  queryOptions({
    queryKey: ["methods", name],
    queryFn: async ({ signal }) => {
      const params = { path: { workspace: name } };
      return (await dataOf(api.GET("/v1/workspaces/{workspace}/methods", { params, signal }))).methods;
    },
    staleTime: 60_000,
  });

/** The most mentioned entities, under a filter as JSON. */
export const entities = (name: string, limit: number, filter = "") =>
  queryOptions({
    queryKey: ["entities", name, limit, filter],
    queryFn: async ({ signal }) => {
      const params = { path: { workspace: name }, query: { limit, ...(filter ? { filter } : {}) } };
      return (await dataOf(api.GET("/v1/workspaces/{workspace}/entities", { params, signal }))).items;
    },
  });

/** The heaviest relations of an entity. */
export const relationsOf = (name: string, entity: string) =>
  queryOptions({
    queryKey: ["relations", name, entity],
    queryFn: async ({ signal }) => {
      const params = { path: { workspace: name }, query: { entity: [entity], limit: 5 } };
      return (await dataOf(api.GET("/v1/workspaces/{workspace}/relations", { params, signal }))).items;
    },
  });

/** Since when the workspace keeps history. */
export const history = (name: string) =>
  queryOptions({
    queryKey: ["history", name],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/v1/workspaces/{workspace}/history", { params: { path: { workspace: name } }, signal }),
      ),
  });

/** The caller: what it may do. */
export const me = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => dataOf(api.GET("/v1/me", { signal })),
  staleTime: 60_000,
});

/** What the workspace has spent on models, by stage, and the currency of prices. */
export const spend = (name: string) =>
  queryOptions({
    queryKey: ["spend", name],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/v1/workspaces/{workspace}/spend", { params: { path: { workspace: name } }, signal })),
  });

/** How much the workspace may spend on models, and how much it has spent. */
export const budget = (name: string) =>
  queryOptions({
    queryKey: ["budget", name],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/v1/workspaces/{workspace}/budget", { params: { path: { workspace: name } }, signal })),
  });

const SUGGESTED = 6; // entities, and documents, in a list of suggestions

/** Entities whose names begin with a text, and documents whose uris do. */
export const suggestions = (name: string, text: string) =>
  queryOptions({
    queryKey: ["suggestions", name, text],
    queryFn: async ({ signal }) => {
      const path = { workspace: name };
      const [entities, documents] = await Promise.all([
        dataOf(
          api.GET("/v1/workspaces/{workspace}/entities/complete", {
            params: { path, query: { text, limit: SUGGESTED } },
            signal,
          }),
        ),
        dataOf(
          api.GET("/v1/workspaces/{workspace}/documents", {
            params: { path, query: { prefix: text, limit: SUGGESTED } },
            signal,
          }),
        ),
      ]);
      return { entities: entities.entities, documents: documents.items };
    },
  });
