// The state of the Ask view in its address: question, method, parameters, filter, sentence in focus, tab.
import type { Filter } from "../api/ask";
import { filterText } from "./filterText";

export const TABS = ["passages", "facts", "paths", "reports", "search", "context"] as const;
export type Tab = (typeof TABS)[number];
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface AskState {
  question: string;
  /** Empty for the default of the workspace. */
  method: string;
  parameters: Record<string, Json>;
  filter: Filter;
  /** The number of the sentence in focus, from 0. */
  sentence: number | null;
  tab: Tab;
}

/** The state that an address describes. Throws an Error that says what is wrong with it. */
export function readAddress(params: URLSearchParams): AskState {
  const sentence = Number.parseInt(params.get("s") ?? "", 10);
  return {
    question: params.get("q") ?? "",
    method: params.get("method") ?? "",
    parameters: readObject(params, "p"),
    filter: readObject(params, "filter") as Filter,
    sentence: Number.isInteger(sentence) && sentence > 0 ? sentence - 1 : null,
    tab: TABS.find((one) => one === params.get("tab")) ?? "passages",
  };
}

/** A parameter of an address that is a JSON object; empty if there is none. */
export function readObject(params: URLSearchParams, name: string): Record<string, Json> {
  const text = params.get(name);
  return text ? jsonObject(text, `The parameter ${name} of this address is`) : {};
}

/** The object that a text describes. Throws an Error that begins with `what`. */
export function jsonObject(text: string, what: string): Record<string, Json> {
  const wrong = new Error(`${what} not a JSON object.`);
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    throw wrong;
  }
  if (typeof found !== "object" || found === null || Array.isArray(found)) throw wrong;
  return found as Record<string, Json>;
}

/** The search parameters for a state. Defaults are left out. Sentences are counted from 1. */
export function writeAddress(state: Partial<AskState>): URLSearchParams {
  const params = new URLSearchParams();
  if (state.question) params.set("q", state.question);
  if (state.method) params.set("method", state.method);
  if (state.parameters && Object.keys(state.parameters).length)
    params.set("p", JSON.stringify(state.parameters));
  if (state.filter && !isEmptyFilter(state.filter)) params.set("filter", JSON.stringify(state.filter));
  if (state.sentence !== null && state.sentence !== undefined) params.set("s", String(state.sentence + 1));
  if (state.tab && state.tab !== "passages") params.set("tab", state.tab);
  return params;
}

export function isEmptyFilter(filter: Filter): boolean {
  return filterText(filter) === "";
}
