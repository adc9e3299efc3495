// Mentions in the form in which they are shown: by document, and those of one sentence together.
import { Offsets } from "../text/offsets";

/** A span of a sentence, in code points of the document. */
export type Span = [start: number, end: number];

export interface Piece {
  text: string;
  /** The span that the piece is; null between spans. */
  span: Span | null;
}

/** A sentence with the names in it. Positions are in code points of the document. */
export interface Quote {
  uri: string;
  title: string;
  chunk: string;
  text: string;
  textStart: number;
  spans: Span[];
}

interface Mentioned {
  uri: string;
  title: string;
  chunk: string;
  text: string;
  text_start: number;
  start: number;
  end: number;
}

/** The sentences of mentions, in order. Mentions in the same sentence are marked together. */
export function quotesOf(mentions: Mentioned[]): Quote[] {
  const quotes: Quote[] = [];
  for (const { uri, title, chunk, text, text_start: textStart, start, end } of mentions) {
    const last = quotes.at(-1);
    const span: Span[] = end > start ? [[start, end]] : [];
    if (last?.uri === uri && last.chunk === chunk && last.textStart === textStart && last.text === text)
      last.spans.push(...span);
    else quotes.push({ uri, title, chunk, text, textStart, spans: span });
  }
  return quotes;
}

/** What comes from one document, in order. */
export function byDocument<T extends { uri: string }>(items: T[]): T[][] {
  const groups: T[][] = [];
  for (const one of items) {
    const last = groups.at(-1);
    if (last?.[0]?.uri === one.uri) last.push(one);
    else groups.push([one]);
  }
  return groups;
}

/** A sentence cut at the ends of its spans. Of spans that overlap, the longest of those that begin first is kept. */
export function pieces({ text, textStart, spans }: Pick<Quote, "text" | "textStart" | "spans">): Piece[] {
  const shown = text.replace(/(?<!\n)\n(?!\n)/g, " "); // lines of a sentence end anywhere
  const offsets = new Offsets(shown);
  const found: Piece[] = [];
  let at = 0;
  for (const span of [...spans].sort((a, b) => a[0] - b[0] || b[1] - a[1])) {
    const start = offsets.toUnits(span[0] - textStart);
    const end = offsets.toUnits(span[1] - textStart);
    if (start < at || end <= start) continue;
    if (start > at) found.push({ text: shown.slice(at, start), span: null });
    found.push({ text: shown.slice(start, end), span });
    at = end;
  }
  if (at < shown.length) found.push({ text: shown.slice(at), span: null });
  return found;
}
