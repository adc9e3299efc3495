// The Communities view in its address.
import { viewPath } from "../shell/views";

export type Shape = "treemap" | "tree";

export interface ListState {
  /** Only the communities within this one; empty for all. */
  within: string;
  view: Shape;
}

export function readAddress(params: URLSearchParams): ListState {
  return { within: params.get("within") ?? "", view: params.get("view") === "tree" ? "tree" : "treemap" };
}

export function writeAddress({ within, view }: ListState): URLSearchParams {
  const params = new URLSearchParams();
  if (within) params.set("within", within);
  if (view !== "treemap") params.set("view", view);
  return params;
}

/** The address of the communities, or of those within one. */
export function communitiesPath(workspace: string, state: Partial<ListState> = {}): string {
  const params = writeAddress({ within: "", view: "treemap", ...state });
  return viewPath(workspace, "communities") + (params.size > 0 ? `?${params}` : "");
}

/** The address of one community. */
export const communityPath = (workspace: string, id: string): string =>
  viewPath(workspace, `community/${encodeURIComponent(id)}`);
