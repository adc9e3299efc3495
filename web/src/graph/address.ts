// The Graph view in its address.
import type { Filter } from "../api/ask";
import { isEmptyFilter, readObject } from "../ask/address";

export const VIEWS = ["picture", "entities", "relations"] as const;
export type GraphView = (typeof VIEWS)[number];

export const EACH = 20; // neighbours of an entity that are shown at first, and that expanding it adds
const MOST_EACH = 200;
export const MOST_CENTRES = 20;

export interface GraphState {
  /** The entities that are shown with their neighbours. With `to`, the first is where the path begins instead. */
  of: string[];
  /** Where the path ends; empty if none is shown. */
  to: string;
  hops: number;
  /** How many neighbours of each entity are shown at most. */
  each: number;
  /** The types of entities that are shown; empty for all. */
  types: string[];
  /** The lowest weight of a relation that is shown. */
  min: number;
  /** The document that must state a relation; empty for any. */
  document: string;
  /** The documents that the graph is computed from. */
  filter: Filter;
  /** The selected entity. */
  selected: string;
  view: GraphView;
  /** The column that a table is sorted by, after a minus if the highest is first. */
  sort: string;
}

/** What the address says. Values that no graph has are left out. Throws an Error for a filter that is none. */
export function readAddress(params: URLSearchParams): GraphState {
  const min = Number(params.get("min") ?? "");
  const to = params.get("to") ?? "";
  const of = params.getAll("of").filter(Boolean);
  const start = to ? of.slice(0, 1) : []; // its neighbours can be shown as well
  return {
    of: [...start, ...[...new Set(of.slice(start.length))].slice(0, MOST_CENTRES)],
    to,
    hops: whole(params.get("hops"), 1, 3, 1),
    each: whole(params.get("each"), 1, MOST_EACH, EACH),
    types: params.getAll("types"),
    min: Number.isFinite(min) && min > 0 ? min : 0,
    document: params.get("doc") ?? "",
    filter: readObject(params, "filter") as Filter,
    selected: params.get("sel") ?? "",
    view: VIEWS.find((one) => one === params.get("view")) ?? "picture",
    sort: params.get("sort") ?? "",
  };
}

function whole(text: string | null, least: number, most: number, usual: number): number {
  const value = Number(text ?? "");
  return Number.isInteger(value) && value >= least ? Math.min(value, most) : usual;
}

/** The search parameters for a state. Defaults are left out. */
export function writeAddress(state: Partial<GraphState>): URLSearchParams {
  const params = new URLSearchParams();
  for (const one of state.of ?? []) params.append("of", one);
  if (state.to) params.set("to", state.to);
  if (state.hops && state.hops !== 1) params.set("hops", String(state.hops));
  if (state.each && state.each !== EACH) params.set("each", String(state.each));
  for (const one of state.types ?? []) params.append("types", one);
  if (state.min) params.set("min", String(state.min));
  if (state.document) params.set("doc", state.document);
  if (state.filter && !isEmptyFilter(state.filter)) params.set("filter", JSON.stringify(state.filter));
  if (state.selected) params.set("sel", state.selected);
  if (state.view && state.view !== "picture") params.set("view", state.view);
  if (state.sort) params.set("sort", state.sort);
  return params;
}

/** The entities whose neighbours are shown. */
export const centresOf = ({ of, to }: GraphState): string[] => (to ? of.slice(1) : of);

/** The state after showing the heaviest neighbours of an entity; of one whose neighbours are shown, more of them. Null if
 * no more can be shown. */
export function expanded(state: GraphState, entity: string): GraphState | null {
  const centres = centresOf(state);
  if (!centres.includes(entity)) {
    if (centres.length >= MOST_CENTRES) return null;
    return { ...state, of: [...state.of, entity] };
  }
  if (state.each >= MOST_EACH) return null;
  return { ...state, each: Math.min(MOST_EACH, state.each + EACH) };
}
