import { viewPath } from "../shell/views";

/** The address of a document, at a span of it in code points. */
export function documentPath(workspace: string, uri: string, start?: number, end?: number): string {
  const params = new URLSearchParams({ uri });
  if (start !== undefined) params.set("start", String(start));
  if (end !== undefined) params.set("end", String(end));
  return `${viewPath(workspace, "document")}?${params}`;
}
