import { expect, test } from "vitest";
import { byPart, cut, type Mention, separate, stopsOf } from "./segments";
import type { Part } from "./spans";

const TEXT = "😀 Mr 👩‍👩‍👧 Scrooge and שלום Marley";
const POINTS = [...TEXT];

const mention = (start: number, end: number, entity = "e"): Mention => ({
  start,
  end,
  entity,
  chunk: "c",
  name: entity,
  type: "person",
});
const part = (start: number, end: number): Part => ({
  id: `${start}`,
  text: POINTS.slice(start, end).join(""),
  start,
  end,
  page: "",
  headings: [],
});

test("segments give the text back, and each mention its own characters, wherever parts and citations cut", () => {
  for (let middle = 1; middle < POINTS.length; middle++) {
    for (let start = 0; start < POINTS.length; start += 3) {
      const mentions = [mention(2, 10), mention(11, 18)];
      const parts = [part(0, middle), part(middle, POINTS.length)];
      const cuts = parts.map((one, at) => cut(one, byPart(parts, mentions)[at] ?? [], start, start + 5));
      const all = cuts.flatMap((one) => [...one.before, ...one.cited, ...one.after]);
      expect(all.map((one) => one.text).join("")).toBe(TEXT);
      for (const one of mentions) {
        const shown = all.filter((segment) => segment.mention === one).map((segment) => segment.text);
        expect(shown.join("")).toBe(POINTS.slice(one.start, one.end).join(""));
      }
      const cited = cuts.flatMap((one) => one.cited).map((one) => one.text);
      expect(cited.join("")).toBe(POINTS.slice(start, start + 5).join(""));
      for (const segment of all) expect(TEXT.indexOf(segment.text)).toBeGreaterThanOrEqual(0);
    }
  }
});

test("of mentions that overlap, the first and longest is shown, once", () => {
  const found = separate([
    mention(4, 8, "York"),
    mention(0, 8, "New York"),
    mention(0, 3),
    mention(0, 8),
    mention(8, 9),
  ]);
  expect(found.map((one) => [one.start, one.end, one.entity])).toEqual([
    [0, 8, "New York"],
    [8, 9, "e"],
  ]);
});

test("n and p stop at the cited words and at mentions, or at those of one entity alone", () => {
  const mentions = [mention(3, 5, "a"), mention(9, 11, "b")];
  expect(stopsOf(mentions, { start: 7, end: 8 }, "").map((one) => one.start)).toEqual([3, 7, 9]);
  expect(stopsOf(mentions, { start: 9, end: 10 }, "").map((one) => one.start)).toEqual([3, 9]);
  expect(stopsOf(mentions, { start: 7, end: 8 }, "b").map((one) => one.start)).toEqual([9]);
  expect(stopsOf(mentions, { start: 0, end: 0 }, "").map((one) => one.start)).toEqual([3, 9]);
});
