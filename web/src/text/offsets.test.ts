import { describe, expect, test } from "vitest";
import { Offsets, slice } from "./offsets";

/** Texts of letters, combining marks, right-to-left letters, and emoji with joiners. */
const PIECES = [
  "a",
  "Z",
  " ",
  "\n",
  "é",
  "e\u0301",
  "ß",
  "中",
  "א",
  "\u200f",
  "\u202e",
  "😀",
  "👩‍👩‍👧",
  "🇳🇱",
  "𝔘",
  "\ufffd",
  "\ud7ff",
  "\ue000",
];

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function texts(count: number): string[] {
  const next = random(20260501);
  return Array.from({ length: count }, () =>
    Array.from({ length: Math.floor(next() * 40) }, () => PIECES[Math.floor(next() * PIECES.length)]).join(
      "",
    ),
  );
}

describe("offsets", () => {
  test.each(texts(300))("of %j are those of its code points", (text) => {
    const offsets = new Offsets(text);
    const points = [...text];
    expect(offsets.codePoints).toBe(points.length);
    let units = 0;
    for (let at = 0; at <= points.length; at++) {
      expect(offsets.toUnits(at)).toBe(units);
      expect(offsets.toCodePoints(units)).toBe(at);
      units += points[at]?.length ?? 0;
    }
  });

  test.each(texts(100))("spans of %j are cut as Python cuts them", (text) => {
    const points = [...text];
    const next = random(text.length + 1);
    for (let n = 0; n < 20; n++) {
      const start = Math.floor(next() * (points.length + 1));
      const end = start + Math.floor(next() * (points.length + 1 - start));
      expect(slice(text, start, end)).toBe(points.slice(start, end).join(""));
    }
  });

  test("inside a character are those of the character", () => {
    expect(new Offsets("a😀b").toCodePoints(2)).toBe(1);
  });

  test("beyond the text are those of its ends", () => {
    const offsets = new Offsets("a😀");
    expect([offsets.toUnits(-1), offsets.toUnits(9)]).toEqual([0, 3]);
    expect([offsets.toCodePoints(-1), offsets.toCodePoints(9)]).toEqual([0, 2]);
  });
});
