import { expect, test } from "vitest";
import { slice } from "./offsets";
import { blocksOf } from "./tables";

function shown(text: string): (string | string[][])[] {
  return blocksOf(text).map(({ start, end, rows }) =>
    rows ? rows.map((row) => row.map((cell) => slice(text, cell.start, cell.end))) : slice(text, start, end),
  );
}

test("lines with cells are a table, and the text around it stays", () => {
  const text = "Benefits 😀:\nplan | dental | eyes\nBasic |  | 100\nGold | 200\nAll in euros.";
  expect(shown(text)).toEqual([
    "Benefits 😀:\n",
    [
      ["plan", "dental", "eyes"],
      ["Basic", "", "100"],
      ["Gold", "200"],
    ],
    "All in euros.",
  ]);
});

test("a table in Markdown has no row for its rule", () => {
  expect(shown("| a | b |\n|---|:-:|\n| 1 | 2 |")).toEqual([
    [
      ["a", "b"],
      ["1", "2"],
    ],
  ]);
});

test.each([
  ["a single line with a bar", "either | or"],
  ["bars without spaces", "grep a|b\ngrep c|d"],
  ["text without bars", "one\ntwo"],
])("%s is no table", (_, text) => {
  expect(shown(text)).toEqual([text]);
});

test("blocks cover the whole text", () => {
  const text = "x\n\na | b\nc | d\n\ne | f | g\nh | i | j\nk";
  expect(
    blocksOf(text)
      .map(({ start, end }) => slice(text, start, end))
      .join(""),
  ).toBe(text);
});
