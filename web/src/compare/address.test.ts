import { expect, test } from "vitest";
import { type CompareState, choiceName, commandOf, readAddress, requestOf, writeAddress } from "./address";
import { swapped, usualChoices } from "./ComparePage";

const STATE: CompareState = {
  question: "Who's there? a=b&c",
  choices: [
    { method: "naive", parameters: {} },
    { method: "weave", parameters: { top_k: 20, mode: "a:b" } },
  ],
  filter: { uris: ["a b.md"], metadata: { year: [1843] } },
  answers: true,
  differences: true,
};

test("an address has the whole state", () => {
  expect(readAddress(new URLSearchParams(writeAddress(STATE).toString()))).toEqual(STATE);
  expect(writeAddress(readAddress(new URLSearchParams())).toString()).toBe("");
});

test("an address with mistakes says which", () => {
  const read = (text: string) => readAddress(new URLSearchParams(text));
  expect(() => read("m=naive:[]")).toThrow(
    "The parameters of the method naive in this address are not a JSON object.",
  );
  expect(() => read("m=a&m=b&m=c&m=d&m=e")).toThrow("at most 4");
  expect(read("m=a&m=a&m=&m=b").choices.map(choiceName)).toEqual(["a", "b"]);
});

test("the same as a command and as a request", () => {
  const plain = { ...STATE, choices: STATE.choices.map((one) => ({ ...one, parameters: {} })) };
  expect(commandOf("my ws", plain)).toBe(
    "trueweave compare 'Who'\\''s there? a=b&c' --workspace 'my ws' --methods naive,weave --document 'a b.md' --where year=1843 --answers",
  );
  expect(commandOf("ws", STATE)).toBeNull();
  expect(requestOf(STATE).methods).toEqual(["naive", STATE.choices[1]]);
});

test("the usual methods are those that can be used", () => {
  const named = (names: string[]) => usualChoices(names.map((name) => ({ name, usable: name !== "naive" })));
  expect(named(["auto", "naive", "keyword", "fuse", "weave"]).map(choiceName)).toEqual(["fuse", "weave"]);
  expect(named(["auto", "naive", "keyword", "walk"]).map(choiceName)).toEqual(["keyword", "walk"]);
});

test("a column changes places with the next", () => {
  expect(swapped(STATE, 0).choices.map((one) => one.method)).toEqual(["weave", "naive"]);
  expect(swapped(STATE, 1)).toBe(STATE);
});
