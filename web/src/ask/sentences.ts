// Puts the sentences and citations of an answer into its Markdown, by their positions in the source.
import type { Element, ElementContent, Root, RootContent, Text } from "hast";
import type { Schemas } from "../api/client";
import { Offsets } from "../text/offsets";

export type Sentence = Schemas["SentenceBody"];
export type Citation = Schemas["CitationBody"];

/** A sentence by its number, and its span in UTF-16 units of the answer's text. */
export interface Range {
  index: number;
  start: number;
  end: number;
}

export function rangesOf(text: string, sentences: Sentence[]): Range[] {
  const offsets = new Offsets(text);
  return sentences.map((one, index) => ({
    index,
    start: offsets.toUnits(one.start),
    end: offsets.toUnits(one.end),
  }));
}

const CITATION = /\[(\d+)\]/g;

/** A plugin for react-markdown: text of sentences becomes `span` elements with `data-sentence`, and `[1]` becomes `sup`
 * elements with `data-citation`. Markdown itself never makes either of them. */
export function markSentences(source: string, ranges: Range[], known: ReadonlySet<number>) {
  const split = (node: Text): ElementContent[] => {
    const from = node.position?.start.offset;
    const to = node.position?.end.offset;
    if (from === undefined || to === undefined) return [node];
    const places = sourcePositions(source.slice(from, to), node.value).map((at) => at + from);
    return pieces(node.value, places, ranges).flatMap(({ text, sentence }) => {
      const parts = withCitations(text, known, sentence);
      return sentence === null ? parts : [span(sentence, parts)];
    });
  };
  const walk = (node: Root | Element): void => {
    const made: RootContent[] = [];
    for (const child of node.children) {
      if (child.type === "text") made.push(...split(child));
      else {
        if (child.type === "element") walk(child);
        made.push(child);
      }
    }
    node.children = made as ElementContent[];
  };
  return () => walk;
}

function span(sentence: number, children: ElementContent[]): Element {
  return { type: "element", tagName: "span", properties: { dataSentence: sentence }, children };
}

/** The text in pieces that are each within one sentence, or between sentences. */
function pieces(
  text: string,
  places: number[],
  ranges: Range[],
): { text: string; sentence: number | null }[] {
  const found: { text: string; sentence: number | null }[] = [];
  for (let at = 0; at < text.length; at++) {
    const place = places[at] as number;
    const sentence = ranges.find((one) => one.start <= place && place < one.end)?.index ?? null;
    const last = found.at(-1);
    if (last && last.sentence === sentence) last.text += text[at];
    else found.push({ text: text[at] as string, sentence });
  }
  return found;
}

function withCitations(text: string, known: ReadonlySet<number>, sentence: number | null): ElementContent[] {
  const parts: ElementContent[] = [];
  let done = 0;
  for (const match of text.matchAll(CITATION)) {
    const mark = Number(match[1]);
    if (!known.has(mark)) continue;
    if (match.index > done) parts.push({ type: "text", value: text.slice(done, match.index) });
    const properties = { dataCitation: mark, ...(sentence === null ? {} : { dataOf: sentence }) };
    parts.push({
      type: "element",
      tagName: "sup",
      properties,
      children: [{ type: "text", value: String(mark) }],
    });
    done = match.index + match[0].length;
  }
  if (done < text.length) parts.push({ type: "text", value: text.slice(done) });
  return parts;
}

const ENTITY = /^&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{0,31});/;

/** For each unit of a text, its position in the Markdown that it was read from: backslashes before punctuation are not
 * part of the text, and a character reference such as `&amp;` is one character. */
export function sourcePositions(source: string, value: string): number[] {
  if (source.length === value.length) return range(value.length);
  const places: number[] = [];
  let from = 0;
  for (let at = 0; at < value.length; at++) {
    const entity = source[from] === "&" ? ENTITY.exec(source.slice(from, from + 40)) : null;
    if (entity && !source.startsWith(value.slice(at, at + entity[0].length), from)) {
      places.push(Math.min(from, source.length));
      from += entity[0].length;
      continue;
    }
    // Skip what Markdown removed: backslashes, and spaces and quotation marks at the start of lines.
    while (from < source.length && source[from] !== value[at]) from++;
    places.push(Math.min(from, source.length));
    from++;
  }
  return places;
}

function range(length: number): number[] {
  return Array.from({ length }, (_, at) => at);
}

/** The citations that a sentence rests on, in the order of its citation numbers. If one passage is cited for several
 * words, those that the check looked at come alone. */
export function citationsOf(sentence: Sentence, citations: Citation[]): Citation[] {
  return sentence.citations.flatMap((mark) => {
    const all = citations.filter((one) => one.number === mark);
    const own = all.filter(
      (one) => sentence.basis && (sentence.basis.includes(one.quote) || one.quote.includes(sentence.basis)),
    );
    return own.length ? own : all;
  });
}
