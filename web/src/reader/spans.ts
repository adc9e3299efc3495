// The text of a document from its chunks, which may overlap.
import type { Schemas } from "../api/client";
import { Offsets } from "../text/offsets";

export type Span = Schemas["SpanBody"];

/** A chunk's own part of the document: what the chunks before it do not have. Positions are in code points. */
export interface Part {
  id: string;
  text: string;
  start: number;
  end: number;
  page: string;
  headings: string[];
}

/** The parts of chunks in order, without what they repeat. */
export function partsOf(spans: Span[]): Part[] {
  const parts: Part[] = [];
  let done = 0;
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    if (span.end <= done) continue;
    const skip = Math.max(0, done - span.start);
    const text = skip ? span.text.slice(new Offsets(span.text).toUnits(skip)) : span.text;
    parts.push({
      id: span.id,
      text,
      start: span.start + skip,
      end: span.end,
      page: span.page,
      headings: span.headings,
    });
    done = span.end;
  }
  return parts;
}
