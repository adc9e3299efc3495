import { expect, test } from "vitest";
import { partsOf, type Span } from "./spans";

const TEXT = "One 😀 two. Three 👩‍👩‍👧 four. Five.";

function chunk(start: number, end: number): Span {
  const text = [...TEXT].slice(start, end).join("");
  return { id: `${start}`, text, start, end, page: "", headings: [], places: [] };
}

const joined = (spans: Span[]): string =>
  partsOf(spans)
    .map((one) => one.text)
    .join("");

test("chunks that overlap give the text once", () => {
  const length = [...TEXT].length;
  for (let cut = 1; cut < length; cut++) {
    for (let back = 0; back <= cut; back++) {
      expect(joined([chunk(0, cut), chunk(cut - back, length)])).toBe(TEXT);
    }
  }
});

test("a chunk within another adds nothing, and order does not matter", () => {
  expect(joined([chunk(3, 8), chunk(0, [...TEXT].length)])).toBe(TEXT);
});

test("parts know their positions in the document", () => {
  expect(partsOf([chunk(0, 10), chunk(6, 20)]).map((one) => [one.start, one.end])).toEqual([
    [0, 10],
    [10, 20],
  ]);
});
