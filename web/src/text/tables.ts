// Tables in a text: documents have a line for each row of a table, with bars between the cells.
import { Offsets } from "./offsets";

/** A span of a text, in code points. */
export interface Span {
  start: number;
  end: number;
}

/** A part of a text: a table with the spans of its cells, or ordinary text, where `rows` is null. */
export interface Block extends Span {
  rows: Span[][] | null;
}

interface Line extends Span {
  cells: Span[];
  isRule: boolean;
}

const ROW = / \| |^\||\|$/;
const RULE = /^[\s|:-]*-[\s|:-]*$/; // between the heading and the rows of a table in Markdown

/** The text in order, as tables and what is between them. Lines with several cells that follow each other are a table;
 * empty cells at the end of a row are left out. */
export function blocksOf(text: string): Block[] {
  if (!text.includes("|")) return [{ start: 0, end: new Offsets(text).codePoints, rows: null }];
  const lines = linesOf(text);
  const blocks: Block[] = [];
  let done = 0;
  for (let at = 0; at < lines.length; ) {
    const first = lines[at] as Line;
    let next = at + 1;
    while (first.cells.length > 1 && (lines[next]?.cells.length ?? 0) > 1) next++;
    const rows = lines.slice(at, next).filter((one) => !one.isRule);
    if (rows.length > 1) {
      const end = (lines[next - 1] as Line).end;
      if (first.start > done) blocks.push({ start: done, end: first.start, rows: null });
      blocks.push({ start: first.start, end, rows: rows.map((one) => one.cells) });
      done = end;
    }
    at = next;
  }
  const offsets = new Offsets(text);
  if (done < text.length) blocks.push({ start: done, end: text.length, rows: null });
  const inPoints = <T extends Span>(one: T): T => ({
    ...one,
    start: offsets.toCodePoints(one.start),
    end: offsets.toCodePoints(one.end),
  });
  return blocks.map((block) => ({
    ...inPoints(block),
    rows: block.rows?.map((row) => row.map(inPoints)) ?? null,
  }));
}

/** The lines of a text with their breaks, in UTF-16 units. */
function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < text.length; ) {
    const stop = text.indexOf("\n", start);
    const end = stop < 0 ? text.length : stop + 1;
    const line = text.slice(start, end).trimEnd();
    lines.push({ start, end, cells: cellsOf(line, start), isRule: RULE.test(line) });
    start = end;
  }
  return lines;
}

function cellsOf(line: string, start: number): Span[] {
  if (!ROW.test(line)) return [];
  const isMarkdown = line.startsWith("|") && line.endsWith("|") && line.length > 1;
  const inside = isMarkdown ? line.slice(1, -1) : line;
  const cells: Span[] = [];
  let at = start + (isMarkdown ? 1 : 0);
  for (const cell of inside.split("|")) {
    const from = at + cell.length - cell.trimStart().length;
    cells.push({ start: from, end: Math.max(from, at + cell.trimEnd().length) });
    at += cell.length + 1;
  }
  return cells;
}
