import { viewPath } from "../shell/views";

/** The address of an entity's page, optionally with its mentions in one document. */
export function entityPath(workspace: string, id: string, document = ""): string {
  const params = document ? `?${new URLSearchParams({ doc: document })}` : "";
  return `${viewPath(workspace, "entity")}/${encodeURIComponent(id)}${params}`;
}

export const relationPath = (workspace: string, id: string): string =>
  `${viewPath(workspace, "relation")}/${encodeURIComponent(id)}`;

/** The address of the graph around an entity. */
export const graphPath = (workspace: string, id: string): string =>
  `${viewPath(workspace, "graph")}?${new URLSearchParams({ of: id })}`;
