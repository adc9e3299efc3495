import { expect, test } from "vitest";
import { type AskState, readAddress, writeAddress } from "./address";

const STATE: AskState = {
  question: 'Who built it? 😀 & "why"',
  method: "weave",
  parameters: { top_k: 5, pick: "order" },
  filter: { uris: ["a/b.md"], metadata: { year: [1843] } },
  sentence: 2,
  tab: "search",
};

test("an address gives the state back that it was written from", () => {
  expect(readAddress(new URLSearchParams(writeAddress(STATE).toString()))).toEqual(STATE);
});

test("defaults are left out", () => {
  const state = {
    ...STATE,
    method: "",
    parameters: {},
    filter: {},
    sentence: null,
    tab: "passages" as const,
  };
  expect([...writeAddress(state).keys()]).toEqual(["q"]);
});

test.each(["p", "filter"])("a parameter %s that is not a JSON object is an error that names it", (name) => {
  for (const value of ["{", "[1]", "null", "3"]) {
    expect(() => readAddress(new URLSearchParams({ [name]: value }))).toThrow(
      `parameter ${name} of this address`,
    );
  }
});

test("an unknown tab and a sentence that is no number are ignored", () => {
  expect(readAddress(new URLSearchParams({ tab: "x", s: "y" }))).toMatchObject({
    tab: "passages",
    sentence: null,
  });
});
