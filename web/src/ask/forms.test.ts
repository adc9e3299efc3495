import { expect, test } from "vitest";
import { readAddress } from "./address";
import { commandOf, markdownOf, questionOf, quoted } from "./forms";
import { answer, citation, sentence } from "./testing";

const state = readAddress(
  new URLSearchParams({
    q: "Who's there?",
    method: "weave",
    p: '{"top_k":5}',
    filter: '{"uris":["a b.md"],"metadata":{"year":[1843,{"low":1900,"high":null,"bounds":"[]"}]}}',
  }),
);

test("the command asks the same", () => {
  expect(commandOf("archive", state)).toBe(
    "trueweave ask 'Who'\\''s there?' --workspace archive --method weave --set top_k=5 " +
      "--document 'a b.md' --where year=1843 --where 'year>=1900'",
  );
});

test("words that a shell would change are quoted", () => {
  expect(quoted("$(reboot) `x` !")).toBe("'$(reboot) `x` !'");
  expect(quoted("notes/a.md")).toBe("notes/a.md");
});

test("a question has only what differs from the defaults", () => {
  expect(questionOf(readAddress(new URLSearchParams({ q: "Why?" })))).toEqual({ question: "Why?" });
  expect(questionOf(state)).toMatchObject({
    method: "weave",
    parameters: { top_k: 5 },
    filter: { uris: ["a b.md"] },
  });
});

test("Markdown has the sources, and the sentences that are not confirmed", () => {
  const doubtful = sentence("It was closed.", 15, {
    status: "not checked",
    verifier: "",
    reason: "it cites no passage",
    confirmed: false,
  });
  const text = "It was built [1]. It was closed.";
  expect(
    markdownOf(answer(text, [sentence("It was built [1].", 0), doubtful], [citation(1, "built\nin 1911")])),
  ).toBe(
    `# Who built it?

It was built [1]. It was closed.

## Sources

- [1] Letters, page 1 (letters/1.md): “built in 1911”

## Not confirmed

- It was closed. (not checked: it cites no passage)
`,
  );
});
