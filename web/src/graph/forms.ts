// The graph in other forms: as commands, as requests.
import { filterWords, quoted } from "../ask/forms";
import { filterJson } from "../ask/useFilter";
import { centresOf, type GraphState } from "./address";

/** The commands that draw the same, one for the path and one for each neighbourhood. */
export function commandsOf(workspace: string, state: GraphState): string {
  const at = [`--workspace ${quoted(workspace)}`, ...filterWords(state.filter)].join(" ");
  const hops = state.hops > 1 ? ` --hops ${state.hops}` : "";
  const path = state.to
    ? [`trueweave graph show --path ${quoted(state.of[0] ?? "")} ${quoted(state.to)} ${at}`]
    : [];
  const around = centresOf(state).map((one) => `trueweave graph show ${quoted(one)}${hops} ${at}`);
  return [...path, ...around].join("\n");
}

/** The requests that load the graph. */
export function requestsOf(workspace: string, state: GraphState): string {
  const base = `/v1/workspaces/${encodeURIComponent(workspace)}`;
  const path = new URLSearchParams({ start: state.of[0] ?? "", end: state.to });
  const filter = filterJson(state.filter);
  if (filter) path.set("filter", filter);
  const around = new URLSearchParams(centresOf(state).map((one) => ["entity", one]));
  if (state.hops > 1) around.set("hops", String(state.hops));
  around.set("limit", String(state.each));
  if (state.document) around.set("document", state.document);
  if (filter && around.has("entity")) around.set("filter", filter);
  return [
    ...(state.to ? [`GET ${base}/path?${path}`] : []),
    ...(around.has("entity") ? [`GET ${base}/around?${around}`] : []),
  ].join("\n");
}
