import type { Schemas } from "../api/client";
import { counted } from "../text/words";

/** The size of a workspace, and what is queued. */
export function StatusLine({ status }: { status: Schemas["Status"] }) {
  const waiting = status.waiting_documents;
  return (
    <>
      <span>{counted(status.documents, "document")}</span>
      <span>{counted(status.entities, "entity", "entities")}</span>
      <span>{counted(status.relations, "relation")}</span>
      <span>{waiting ? `${counted(waiting, "document")} waiting` : "up to date"}</span>
    </>
  );
}
