// What a filter leaves of the graph that was loaded, and the sentence about what is not shown.
import type { Schemas } from "../api/client";
import { counted, number } from "../text/words";

export type GraphNode = Schemas["GraphNode"];
export type GraphEdge = Schemas["GraphEdge"];

/** The graph that was loaded. */
export interface Loaded {
  nodes: GraphNode[];
  edges: GraphEdge[];
  /** The entities that were asked for, which filters do not hide. */
  centres: ReadonlySet<string>;
  /** The entities and relations on the path, which filters do not hide either. */
  path: ReadonlySet<string>;
  /** How many relations the path has; null if there is none. */
  steps: number | null;
  /** The neighbourhood: how many entities of it were loaded, and how many there are. */
  around: { loaded: number; entities: number } | null;
  /** How many relations there are between the loaded entities. */
  relations: number;
}

export interface Shown {
  nodes: GraphNode[];
  edges: GraphEdge[];
  nodeIds: ReadonlySet<string>;
  edgeIds: ReadonlySet<string>;
}

/** What the filters leave: entities of some types, over relations of at least a weight. */
export function shownOf(loaded: Loaded, types: string[], min: number): Shown {
  const isKept = (id: string) => loaded.centres.has(id) || loaded.path.has(id);
  const ofType = new Set(
    loaded.nodes
      .filter((one) => types.length === 0 || types.includes(one.type) || isKept(one.id))
      .map((one) => one.id),
  );
  const edges = loaded.edges.filter(
    (one) =>
      ofType.has(one.source) && ofType.has(one.target) && (one.weight >= min || loaded.path.has(one.id)),
  );
  const connected = new Set(edges.flatMap((one) => [one.source, one.target]));
  // An entity whose relations are all too light is hidden with them.
  const nodes = loaded.nodes.filter(
    (one) => ofType.has(one.id) && (min === 0 || connected.has(one.id) || isKept(one.id)),
  );
  return {
    nodes,
    edges,
    nodeIds: new Set(nodes.map((one) => one.id)),
    edgeIds: new Set(edges.map((one) => one.id)),
  };
}

/** "Shown: 21 of 155 entities, those with the heaviest relations, and 38 relations. Filters hide 4 entities." */
export function summary(loaded: Loaded, shown: Shown): string {
  const sentences = [];
  if (loaded.steps !== null) sentences.push(`A shortest path has ${counted(loaded.steps, "relation")}.`);
  const relations =
    loaded.relations > loaded.edges.length
      ? `${number(shown.edges.length)} of ${counted(loaded.relations, "relation")} between them`
      : counted(shown.edges.length, "relation");
  // Only the neighbourhood can be too large to be shown; what else was loaded is all that there is.
  const missing = loaded.around ? loaded.around.entities - loaded.around.loaded : 0;
  const total = loaded.nodes.length + missing;
  const entities =
    total > shown.nodes.length
      ? `${number(shown.nodes.length)} of ${counted(total, "entity", "entities")}${missing > 0 ? ", those with the heaviest relations" : ""}`
      : counted(total, "entity", "entities");
  sentences.push(`Shown: ${entities}, and ${relations}.`);
  const hidden = loaded.nodes.length - shown.nodes.length;
  if (hidden > 0) sentences.push(`Filters hide ${counted(hidden, "entity", "entities")}.`);
  return sentences.join(" ");
}

/** The types of the loaded entities with their numbers, the most frequent first. */
export function typesOf(nodes: GraphNode[]): { type: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { type } of nodes) counts.set(type, (counts.get(type) ?? 0) + 1);
  return [...counts]
    .map(([type, count]) => ({ type, count }))
    .sort((a, b) => b.count - a.count || (a.type < b.type ? -1 : 1));
}

/** The types that are shown after one is switched on or off; empty for all. The last one cannot be switched off. */
export function toggled(types: string[], type: string, all: string[]): string[] {
  const now = types.length === 0 ? all : types;
  const to = now.includes(type) ? now.filter((one) => one !== type) : [...now, type];
  if (to.length === 0) return types;
  return all.every((one) => to.includes(one)) ? [] : to;
}

/** The name of a type. */
export const typeName = (type: string): string => type || "no type";

/** The letter of a type, for those who cannot tell its colour from others. */
export const letterOf = (type: string): string => [...type.trim()][0]?.toUpperCase() ?? "";
