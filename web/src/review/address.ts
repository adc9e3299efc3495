// The Review view in its address.

/** What is shown: proposed merges, pairs that were rejected, or the rules. */
export type Part = "merges" | "rejected" | "rules";

export interface ReviewState {
  part: Part;
  /** How alike names must be, in per cent; null for the setting of the workspace. */
  least: number | null;
  type: string;
}

export const LEAST = 70;
export const MOST = 100;

export function readAddress(params: URLSearchParams): ReviewState {
  const least = Number.parseInt(params.get("min") ?? "", 10);
  const show = params.get("show");
  return {
    part: show === "rejected" || show === "rules" ? show : "merges",
    least: least >= LEAST && least <= MOST ? least : null,
    type: params.get("type") ?? "",
  };
}

export function writeAddress({ part, least, type }: ReviewState): URLSearchParams {
  const params = new URLSearchParams();
  if (part !== "merges") params.set("show", part);
  if (least !== null) params.set("min", String(least));
  if (type) params.set("type", type);
  return params;
}
