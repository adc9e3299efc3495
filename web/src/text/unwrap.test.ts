import { expect, test } from "vitest";
import { unwrapped } from "./unwrap";

const LONG = "a line that is as long as lines of a printed book are";

test("a break within a paragraph is a space", () => {
  expect(unwrapped(`${LONG}\ngoes on`)).toBe(`${LONG} goes on`);
});

test.each([
  ["a paragraph", `${LONG}.\n\nAnother one`],
  ["a list", `${LONG}\n- an item\n- another\n1. a third`],
  ["short lines", "Roses are red,\nviolets are blue"],
  ["a table", "a plan with a long name | and what it pays\nGold | 200"],
  ["indented lines", `${LONG}\n    code`],
])("%s stays", (_, text) => {
  expect(unwrapped(text)).toBe(text);
});

test("the length stays, so that highlights are exact", () => {
  const text = `😀 ${LONG}\nthen\r\n${LONG}\nÄgypten`;
  expect([...unwrapped(text)].length).toBe([...text].length);
});
