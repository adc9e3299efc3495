// The Documents view in its address.
import type { Schemas } from "../api/client";

export type WorkState = Schemas["DocumentInfo"]["state"];
export type Order = "added" | "uri";

export interface ListState {
  prefix: string;
  state: WorkState | "";
  order: Order;
  /** A day, as in 2026-05-01; empty for all. */
  since: string;
}

export const STATES: Record<WorkState, string> = {
  indexed: "indexed",
  waiting: "waiting",
  indexing: "being indexed",
  failed: "failed",
  off: "switched off",
};

/** What the address says. Values that no list has are left out. */
export function readAddress(params: URLSearchParams): ListState {
  const state = params.get("state") ?? "";
  const since = params.get("since") ?? "";
  return {
    prefix: params.get("q") ?? "",
    state: Object.hasOwn(STATES, state) ? (state as WorkState) : "",
    order: params.get("order") === "uri" ? "uri" : "added",
    since: /^\d{4}-\d{2}-\d{2}$/.test(since) && !Number.isNaN(Date.parse(since)) ? since : "",
  };
}

export function writeAddress({ prefix, state, order, since }: ListState): URLSearchParams {
  const params = new URLSearchParams();
  if (prefix) params.set("q", prefix);
  if (state) params.set("state", state);
  if (order !== "added") params.set("order", order);
  if (since) params.set("since", since);
  return params;
}

/** Whether the list leaves documents out. */
export const isFiltered = ({ prefix, state, since }: ListState): boolean => Boolean(prefix || state || since);

/** The parameters of the request for the list. */
export const queryOf = ({ prefix, state, order, since }: ListState) => ({
  prefix,
  state: state || ("any" as const),
  order,
  ...(since ? { since: new Date(`${since}T00:00`).toISOString() } : {}),
});

export const requestOf = (workspace: string, list: ListState): string =>
  `GET /v1/workspaces/${workspace}/documents?${new URLSearchParams(queryOf(list))}`;

export const commandOf = (workspace: string, list: ListState): string | { none: string } =>
  isFiltered(list)
    ? { none: "The command lists all documents by name. The request has the filters." }
    : `trueweave documents --workspace ${workspace}`;
