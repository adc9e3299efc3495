import { expect, test } from "vitest";
import { asFunctional, asLines, asRows, asTypes, changes } from "./settings";

test("types survive the way through lines", () => {
  const types = { person: "somebody: alive or not", place: "" };
  expect(asLines(types)).toBe("person: somebody: alive or not\nplace");
  expect(asTypes(asLines(types))).toEqual(types);
  expect(asTypes("\n : nobody\n  ship :  a vessel ")).toEqual({ ship: "a vessel" });
  expect(asTypes("__proto__: x")).toEqual(Object.fromEntries([["__proto__", "x"]]));
});

test("only what differs is sent, and what is removed as null", () => {
  expect(changes({ a: 1, b: [1], c: true }, { a: 2, b: [1], d: "x" })).toEqual({ a: 2, c: null, d: "x" });
  expect(changes({ a: 1 }, { a: 1 })).toEqual({});
  expect(changes({ a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } })).toEqual({});
});

test("functional relations survive the way through rows", () => {
  const setting = { "born in": "one target", "chief of": "one source at a time" } as const;
  expect(asFunctional(asRows(setting))).toEqual(setting);
  const rows = asRows(setting).map((row) => ({ ...row, relation: ` ${row.relation} ` }));
  expect(asFunctional([...rows, { id: 9, relation: " ", uniqueness: "one source" }])).toEqual(setting);
});
