// What the pages of an entity and of a relation read. Filters are JSON, and empty if all documents pass.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, asProblem, dataOf, type Schemas } from "../api/client";
import { filterQuery } from "../ask/useFilter";

const PAGE = 50;

export type Entity = Schemas["Entity"];
export type Relation = Schemas["Relation"];
export type Mention = Schemas["EntityMention"];
export type Statement = Omit<Schemas["RelationStatement"], "names">;

const next = {
  initialPageParam: "",
  getNextPageParam: (last: { next?: string | null }) => last.next ?? null,
};

/** Whether the server said that this no longer exists: merged into another, or removed with its documents. */
export const isGone = (error: unknown): boolean =>
  error !== null && ["unknown_entity", "unknown_relation"].includes(asProblem(error).code);

export const entityQuery = (workspace: string, id: string, filter: string) =>
  queryOptions({
    queryKey: ["entity", workspace, id, filter],
    queryFn: async ({ signal }) => {
      const params = {
        path: { workspace },
        query: { name: id, relations: 0, passages: 0, ...filterQuery(filter) },
      };
      return (await dataOf(api.GET("/v1/workspaces/{workspace}/entity", { params, signal }))).entity;
    },
  });

/** The relations of an entity, the heaviest first. */
export const relationsQuery = (workspace: string, id: string, filter: string) =>
  infiniteQueryOptions({
    ...next,
    queryKey: ["entity", workspace, id, filter, "relations"],
    queryFn: ({ pageParam, signal }) => {
      const query = { entity: [id], limit: 12, cursor: pageParam, ...filterQuery(filter) };
      const params = { path: { workspace }, query };
      return dataOf(api.GET("/v1/workspaces/{workspace}/relations", { params, signal }));
    },
  });

export const countsQuery = (workspace: string, id: string, filter: string) =>
  queryOptions({
    queryKey: ["entity", workspace, id, filter, "counts"],
    queryFn: ({ signal }) => {
      const params = { path: { workspace }, query: { name: id, ...filterQuery(filter) } };
      return dataOf(api.GET("/v1/workspaces/{workspace}/entity/documents", { params, signal }));
    },
  });

/** The mentions of an entity; in one document, if its uri is given. */
export const mentionsQuery = (workspace: string, id: string, filter: string, document: string) =>
  infiniteQueryOptions({
    ...next,
    queryKey: ["entity", workspace, id, filter, "mentions", document],
    queryFn: ({ pageParam, signal }) => {
      const query = { name: id, document, limit: PAGE, cursor: pageParam, ...filterQuery(filter) };
      const params = { path: { workspace }, query };
      return dataOf(api.GET("/v1/workspaces/{workspace}/entity/mentions", { params, signal }));
    },
  });

export const relationQuery = (workspace: string, id: string, filter: string) =>
  queryOptions({
    queryKey: ["relation", workspace, id, filter],
    queryFn: ({ signal }) => {
      const params = { path: { workspace }, query: { id, ...filterQuery(filter) } };
      return dataOf(api.GET("/v1/workspaces/{workspace}/relation", { params, signal }));
    },
  });

export const statementsQuery = (workspace: string, id: string, filter: string) =>
  infiniteQueryOptions({
    ...next,
    queryKey: ["relation", workspace, id, filter, "statements"],
    queryFn: ({ pageParam, signal }) => {
      const query = { id, limit: PAGE, cursor: pageParam, ...filterQuery(filter) };
      const params = { path: { workspace }, query };
      return dataOf(api.GET("/v1/workspaces/{workspace}/relation/statements", { params, signal }));
    },
  });

/** Whether a relation has a direction. One without a statement, such as sharing a sentence, has none. */
export const isDirected = (one: Relation): boolean =>
  Boolean(one.type || one.keywords.length || one.description || one.summary);
