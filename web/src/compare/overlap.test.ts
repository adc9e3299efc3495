import { expect, test } from "vitest";
import { inCommon, isCommon, ordinal, otherRanks, sharedPassages } from "./overlap";

const COLUMNS = [["a", "b", "c"], null, ["c", "d", "a"], ["e"]];

test("what several methods found has a letter, the best ranks first", () => {
  const shared = sharedPassages(COLUMNS);
  expect([...shared.entries()].map(([id, one]) => `${id}${one.letter}${one.colour}`)).toEqual(["aA1", "cB2"]);
});

test("letters and colours do not run out", () => {
  const many = Array.from({ length: 60 }, (_, at) => `passage ${at}`);
  const letters = [...sharedPassages([many, many]).values()];
  expect(letters.map((one) => one.letter).slice(25, 28)).toEqual(["Z", "AA", "AB"]);
  expect(new Set(letters.map((one) => one.letter)).size).toBe(60);
  expect(Math.max(...letters.map((one) => one.colour))).toBe(7);
});

test("a passage has its ranks in the other columns", () => {
  expect(otherRanks("c", 0, COLUMNS)).toEqual([{ column: 2, rank: 1 }]);
  expect(otherRanks("e", 3, COLUMNS)).toEqual([]);
  expect(inCommon(["a", "b", "c"], ["c", "d", "a"])).toBe(2);
});

test("common is what every method found that has finished", () => {
  expect(isCommon("a", [["a"], ["a", "b"], null])).toBe(true);
  expect(isCommon("b", [["a"], ["a", "b"], null])).toBe(false);
  expect(isCommon("a", [["a"], null])).toBe(false);
});

test("ranks in words", () => {
  expect([1, 2, 3, 4, 11, 12, 13, 21, 22, 111].map(ordinal)).toEqual([
    "1st",
    "2nd",
    "3rd",
    "4th",
    "11th",
    "12th",
    "13th",
    "21st",
    "22nd",
    "111th",
  ]);
});
