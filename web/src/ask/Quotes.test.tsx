import { render } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { Quotes } from "./Quotes";
import { citation, sentence } from "./testing";

test("the marked words are those of the quote, whatever precedes them", () => {
  const quote = "Marta took it over";
  const before = `😀 e\u0301 \u202eabc 👩‍👩‍👧 ${"x".repeat(1000)} `;
  const text = `${before}${quote}, against advice.`;
  const start = 40 + [...before].length;
  const passage: Schemas["Passage"] = {
    id: "passage 1",
    uri: "letters/1.md",
    title: "Letters",
    text,
    start: 40,
    score: 1,
    page: "",
    headings: [],
    places: [],
    copies: 0,
    also: [],
    date: "",
  };
  const cited = citation(1, quote, { start, end: start + [...quote].length });
  const { container } = render(
    <MemoryRouter>
      <Quotes workspace="w" sentence={sentence("She did [1].", 0)} citations={[cited]} passages={[passage]} />
    </MemoryRouter>,
  );
  expect(container.querySelector("mark")?.textContent).toBe(quote);
  expect(container.querySelector("a")).toHaveAttribute(
    "href",
    `/w/document?uri=letters%2F1.md&start=${start}&end=${cited.end}`,
  );
});
