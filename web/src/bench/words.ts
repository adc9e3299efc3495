// Scores and states in words.
import type { BenchPassage } from "./queries";

export interface Interval {
  mean: number;
  low: number;
  high: number;
}

/** "68.3": a score in per cent. */
export const percent = (score: number): string => (100 * score).toFixed(1);

/** "64.1 to 72.5": the interval of a score in per cent. */
export const between = ({ low, high }: Interval): string => `${percent(low)} to ${percent(high)}`;

/** "+12.0", "0.0", "−3.1": a difference in points. */
export function points(difference: number): string {
  const text = (100 * Math.abs(difference)).toFixed(1);
  if (text === "0.0") return text;
  return `${difference > 0 ? "+" : "−"}${text}`;
}

/** What is wrong with a passage; empty if it is as it was. */
export const stateText = ({ state }: BenchPassage): string =>
  state === "removed"
    ? "The document of this passage was removed."
    : state === "changed"
      ? "The document has changed, and this passage is no longer in it."
      : "";

const HELP: Record<string, string> = {
  recall: "the share of the right passages among the first {k}",
  ndcg: "the share of the right passages among the first {k}, where earlier ranks count more",
  mrr: "one over the rank of the first right passage, if it is among the first {k}",
  map: "the precision at the rank of each right passage among the first {k}, averaged",
  evidence: "the share of the words of the evidence that was found",
};

/** What a measure means; empty if that is not known. */
export function meaningOf(measure: string): string {
  const [what = "", k = ""] = measure.split("@");
  return (HELP[what] ?? "").replace("{k}", k);
}
