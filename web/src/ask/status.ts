// What the check of a sentence found, in words and by the class of its style.
import { counted } from "../text/words";
import type { Sentence } from "./sentences";

export type Verdict = Sentence["status"] | "not supported" | "no claim";

/** A sentence that a verifier judged without confirming it is *not supported*; one that claims nothing needs no check. */
export function verdictOf(sentence: Sentence): Verdict {
  if (!sentence.claims) return "no claim";
  return sentence.status === "not checked" && sentence.verifier ? "not supported" : sentence.status;
}

export const isDoubtful = (sentence: Sentence): boolean => sentence.claims && !sentence.confirmed;

/** The name of the verdict in styles. */
export const kindOf = (sentence: Sentence): string => verdictOf(sentence).replace(" ", "-");

const ORDER: Verdict[] = [
  "quoted",
  "computed",
  "entailed",
  "not supported",
  "not checked",
  "contradicted",
  "no claim",
];

/** "4 sentences: 2 quoted, 1 not checked, 1 contradicted". */
export function summaryOf(sentences: Sentence[]): string {
  const parts = ORDER.map(
    (verdict) => [verdict, sentences.filter((one) => verdictOf(one) === verdict).length] as const,
  )
    .filter(([, count]) => count > 0)
    .map(([verdict, count]) => `${count} ${verdict === "no claim" ? "without a claim" : verdict}`);
  return `${counted(sentences.length, "sentence")}: ${parts.join(", ")}`;
}
