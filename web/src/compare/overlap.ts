// What several methods found in common.

export const SHOWN = 10; // passages of each method that are shown and compared

export interface Shared {
  /** Names the passage in all columns: A, B, C… */
  letter: string;
  /** The number of its colour, from 1 to 7. */
  colour: number;
}

/** The ids of a method's passages, best first; null if the method has found nothing yet. */
export type Ranked = readonly string[] | null;

const COLOURS = 7;

/** The passages that two methods or more found, by id. Those with the best ranks have the first letters. */
export function sharedPassages(columns: readonly Ranked[]): Map<string, Shared> {
  const ranks = new Map<string, number[]>();
  for (const ids of columns)
    ids?.forEach((id, rank) => {
      ranks.set(id, [...(ranks.get(id) ?? []), rank]);
    });
  const shared = [...ranks].filter(([, of]) => of.length > 1);
  shared.sort(([, a], [, b]) => Math.min(...a) - Math.min(...b));
  return new Map(
    shared.map(([id], at) => [id, { letter: letterOf(at), colour: (at % COLOURS) + 1 }] as const),
  );
}

/** A to Z, then AA, AB… */
function letterOf(at: number): string {
  const last = String.fromCharCode(65 + (at % 26));
  return at < 26 ? last : letterOf(Math.floor(at / 26) - 1) + last;
}

/** The ranks, from 1, that a passage has in the other columns. */
export function otherRanks(
  id: string,
  column: number,
  columns: readonly Ranked[],
): { column: number; rank: number }[] {
  return columns.flatMap((ids, at) => {
    const rank = at === column ? -1 : (ids?.indexOf(id) ?? -1);
    return rank < 0 ? [] : [{ column: at, rank: rank + 1 }];
  });
}

/** How many passages two methods have in common. */
export function inCommon(a: readonly string[], b: readonly string[]): number {
  const others = new Set(b);
  return a.filter((id) => others.has(id)).length;
}

/** Whether every method that has finished found the passage, and there are at least two of them. */
export function isCommon(id: string, columns: readonly Ranked[]): boolean {
  const finished = columns.filter((ids) => ids !== null);
  return finished.length > 1 && finished.every((ids) => ids.includes(id));
}

/** "1st", "2nd", "3rd", "4th". */
export function ordinal(rank: number): string {
  const teens = rank % 100 > 10 && rank % 100 < 14;
  const ending = teens ? undefined : ["th", "st", "nd", "rd"][rank % 10];
  return `${rank}${ending ?? "th"}`;
}
