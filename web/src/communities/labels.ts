// Communities in words.
import type { Schemas } from "../api/client";
import { number, shortened } from "../text/words";

export type Community = Schemas["Community"];
export type State = Community["written"];

const LONGEST = 300; // characters of a title

export const STATES: Record<State, string> = {
  written: "report written",
  stale: "report is stale",
  unwritten: "no report yet",
  small: "too small for a report",
};

/** The title of its report; without one, the names of its most related members. */
export function titleOf({ title, names, size }: Community): string {
  const more = size - names.length;
  return shortened(title || `${names.join(", ")}${more > 0 ? ` and ${number(more)} more` : ""}`, LONGEST);
}

/** Communities by the one right around them; null for the outermost. */
export function byParent(communities: readonly Community[]): Map<string | null, Community[]> {
  const found = new Map<string | null, Community[]>();
  for (const one of communities) {
    const beside = found.get(one.parent);
    if (beside) beside.push(one);
    else found.set(one.parent, [one]);
  }
  return found;
}

/** How many reports are up to date, stale and missing. */
export function reportCounts(hierarchy: Schemas["Hierarchy"]): {
  current: number;
  stale: number;
  missing: number;
} {
  const found = { current: 0, stale: 0, missing: 0 };
  for (const { communities, written, stale, small } of hierarchy.levels) {
    found.current += written - stale;
    found.stale += stale;
    found.missing += Math.max(0, communities - small - written);
  }
  return found;
}
