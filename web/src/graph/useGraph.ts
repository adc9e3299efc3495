// The graph that an address asks for: the neighbourhoods of entities, and the path between two.
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import type { Filter } from "../api/ask";
import { api, dataOf, type Schemas } from "../api/client";
import { DRAWN, subgraph } from "../api/subgraph";
import { filterJson, filterQuery } from "../ask/useFilter";
import { centresOf, type GraphState } from "./address";
import type { Loaded } from "./shown";

const LONGEST = 6; // relations of a path

type Part = Schemas["GraphPart"];
type Path = Schemas["EntityPath"];

/** What was loaded, or that there is no path between the two entities. */
export type Found = { kind: "graph"; loaded: Loaded } | { kind: "no path"; longest: number };

async function aroundOf(
  workspace: string,
  state: GraphState,
  exclude: string[],
  signal: AbortSignal,
): Promise<Part> {
  const query = {
    entity: centresOf(state),
    hops: state.hops,
    limit: state.each,
    ...(exclude.length > 0 ? { exclude } : {}),
    ...(state.document ? { document: state.document } : {}),
    ...filterQuery(filterJson(state.filter)),
  };
  const params = { path: { workspace }, query };
  return dataOf(api.GET("/v1/workspaces/{workspace}/around", { params, signal }));
}

async function load(workspace: string, state: GraphState, signal: AbortSignal): Promise<Found> {
  const centres = centresOf(state);
  if (!state.to) {
    const part = await aroundOf(workspace, state, [], signal);
    return { kind: "graph", loaded: neighbourhood(part, centres.length) };
  }
  const ends = { start: state.of[0] ?? "", end: state.to };
  const query = { ...ends, longest: LONGEST, passages: 0, ...filterQuery(filterJson(state.filter)) };
  const params = { path: { workspace }, query };
  const { path } = await dataOf(api.GET("/v1/workspaces/{workspace}/path", { params, signal }));
  if (!path) return { kind: "no path", longest: LONGEST };
  const onPath = path.entities.map((one) => one.id);
  const around = centres.length > 0 ? await aroundOf(workspace, state, onPath, signal) : null;
  const entities = [...new Set([...onPath, ...(around?.nodes.map((one) => one.id) ?? [])])].slice(0, DRAWN);
  const part = await subgraph(workspace, entities, state.filter, signal);
  return { kind: "graph", loaded: withPath(part, path, around, centres.length) };
}

/** The server names the entities that were asked for first. */
function neighbourhood(part: Part, centres: number): Loaded {
  return {
    nodes: part.nodes,
    edges: part.edges,
    centres: new Set(part.nodes.slice(0, centres).map((one) => one.id)),
    path: new Set(),
    steps: null,
    around: { loaded: part.nodes.length, entities: part.entities },
    relations: part.relations,
  };
}

function withPath(part: Part, path: Path, around: Part | null, centres: number): Loaded {
  const relations = path.steps.map((one) => one.relation.id);
  const known = new Set(part.edges.map((one) => one.id));
  // Only the heaviest relations are in the part; those of the path are always shown.
  const missing = path.steps.map((one) => one.relation).filter((one) => !known.has(one.id));
  return {
    nodes: part.nodes,
    edges: [...part.edges, ...missing],
    centres: new Set(around?.nodes.slice(0, centres).map((one) => one.id)),
    path: new Set([...path.entities.map((one) => one.id), ...relations]),
    steps: relations.length,
    around: around ? { loaded: around.nodes.length, entities: around.entities } : null,
    relations: Math.max(part.relations, part.edges.length + missing.length),
  };
}

export function useGraph(workspace: string, state: GraphState) {
  const { of, to, hops, each, document, filter } = state;
  return useQuery({
    queryKey: ["graph", workspace, of, to, hops, each, document, filterJson(filter)],
    queryFn: ({ signal }) => load(workspace, state, signal),
    enabled: of.length > 0,
    placeholderData: keepPreviousData, // the graph stays while more of it is loaded
  });
}

/** The types of a workspace, the most frequent first. */
export const types = (workspace: string) =>
  queryOptions({
    queryKey: ["types", workspace],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/v1/workspaces/{workspace}/types", { params: { path: { workspace } }, signal })),
    staleTime: 60_000,
  });

/** An entity with its heaviest relations, under a filter as JSON. */
export const entityDetails = (workspace: string, id: string, filter: string) =>
  queryOptions({
    queryKey: ["entity", workspace, id, filter, "details"],
    queryFn: ({ signal }) => {
      const query = { name: id, relations: 10, passages: 0, ...filterQuery(filter) };
      const params = { path: { workspace }, query };
      return dataOf(api.GET("/v1/workspaces/{workspace}/entity", { params, signal }));
    },
  });

/** Those of some entities that still exist under a filter. */
export const existing = (workspace: string, ids: string[], filter: Filter) =>
  queryOptions({
    queryKey: ["existing", workspace, ids, filterJson(filter)],
    queryFn: async ({ signal }) => {
      const part = await subgraph(workspace, ids, filter, signal);
      return new Set(part.nodes.map((one) => one.id));
    },
  });
