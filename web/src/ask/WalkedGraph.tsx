// A small picture of the entities and relations that the search walked.
import { lazy, Suspense } from "react";
import type { Schemas } from "../api/client";

const Picture = lazy(() => import("./WalkedPicture"));

/** Nothing, if the method walked no graph. The layout is loaded only when there is something to draw. */
export function WalkedGraph({ evidence }: { evidence: Schemas["EvidenceBody"] }) {
  const size =
    evidence.paths.length +
    evidence.relations.length +
    evidence.connections.flatMap((one) => one.neighbours).length;
  if (size === 0) return null;
  return (
    <Suspense fallback={null}>
      <Picture evidence={evidence} />
    </Suspense>
  );
}
