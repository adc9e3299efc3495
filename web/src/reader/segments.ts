// The text of a part in segments: outside and inside of mentions, and of the cited words. Positions are in code points.
import type { Schemas } from "../api/client";
import { Offsets } from "../text/offsets";
import type { Part } from "./spans";

export type Mention = Schemas["EntitySpan"];

export interface Segment {
  text: string;
  /** Where it begins in the document. */
  start: number;
  mention: Mention | null;
}

/** The part before the cited words, these words, and the part after them. */
export interface Cut {
  before: Segment[];
  cited: Segment[];
  after: Segment[];
}

/** Mentions in order that do not overlap: of two that do, the one that begins first; of these, the longest. Chunks
 * overlap, so a mention may come twice. */
export function separate(mentions: Mention[]): Mention[] {
  const found: Mention[] = [];
  let done = -1;
  for (const one of [...mentions].sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (one.start < done || one.end <= one.start) continue;
    found.push(one);
    done = one.end;
  }
  return found;
}

/** Cuts a part at the ends of mentions and of the cited words. The mentions are in order and do not overlap. */
export function cut(part: Part, mentions: Mention[], start: number, end: number): Cut {
  const offsets = new Offsets(part.text);
  const piece = (from: number, to: number, mention: Mention | null): Segment[] => {
    const text = part.text.slice(offsets.toUnits(from - part.start), offsets.toUnits(to - part.start));
    return text ? [{ text, start: from, mention }] : [];
  };
  const between = (from: number, to: number): Segment[] => {
    const segments: Segment[] = [];
    let at = from;
    for (const one of mentions) {
      if (one.end <= at || one.start >= to) continue;
      segments.push(...piece(at, one.start, null));
      segments.push(...piece(Math.max(one.start, at), Math.min(one.end, to), one));
      at = Math.min(one.end, to);
    }
    return [...segments, ...piece(at, to, null)];
  };
  const limit = (at: number) => Math.min(Math.max(at, part.start), part.end);
  const [first, last] = [limit(start), limit(Math.max(start, end))];
  return {
    before: between(part.start, first),
    cited: between(first, last),
    after: between(last, part.end),
  };
}

/** The mentions that touch each part. Both are in order. */
export function byPart(parts: Part[], mentions: Mention[]): Mention[][] {
  let at = 0;
  return parts.map((part) => {
    while (at < mentions.length && (mentions[at] as Mention).end <= part.start) at++;
    const found: Mention[] = [];
    for (let next = at; next < mentions.length; next++) {
      const one = mentions[next] as Mention;
      if (one.start >= part.end) break;
      found.push(one);
    }
    return found;
  });
}

/** A place that `n` and `p` stop at: a mention, or the cited words. */
export interface Stop {
  start: number;
  mention: Mention | null;
}

/** The stops in order: the cited words, and all mentions, or those of one entity. */
export function stopsOf(mentions: Mention[], cited: { start: number; end: number }, entity: string): Stop[] {
  const stops: Stop[] = mentions
    .filter((one) => !entity || one.entity === entity)
    .map((mention) => ({ start: mention.start, mention }));
  if (!entity && cited.end > cited.start && !stops.some((one) => one.start === cited.start))
    stops.push({ start: cited.start, mention: null });
  return stops.sort((a, b) => a.start - b.start);
}

/** The colours of types, by how often they come: 1 to 7, and 0 for all others. */
export function typeColours(types: string[]): (type: string) => number {
  const known = [...new Set(types)].slice(0, 7);
  return (type) => known.indexOf(type) + 1;
}
