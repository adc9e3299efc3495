import { render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { Disagreements } from "./Disagreements";

const side = (name: string, date: string): Schemas["ConflictSide"] => ({
  entity: `id of ${name}`,
  name,
  type: "person",
  documents: 1,
  date,
  statements: [
    {
      uri: `${name}.md`,
      title: `Report on ${name}`,
      chunk: `chunk of ${name}`,
      text: `${name} leads Acme.`,
      text_start: 0,
      names: [],
      source: name,
      target: "Acme",
      description: "",
      keywords: [],
      strength: 5,
      date,
    },
  ],
});

const conflict: Schemas["Conflict"] = {
  relation: "chief executive of",
  uniqueness: "one source at a time",
  subject: "acme",
  name: "Acme",
  type: "company",
  status: "may have changed",
  newest: "id of Bob",
  values: 2,
  sides: [side("Bob", "2024-04-30T12:00:00Z"), side("Ada", "")],
};

const shown = (conflicts: Schemas["Conflict"][]) =>
  render(
    <MemoryRouter>
      <Disagreements workspace="w" conflicts={conflicts} />
    </MemoryRouter>,
  );

test("each value has its date and its documents, and the newest is named", () => {
  shown([conflict]);
  const text = screen.getByRole("list", { name: "What sources disagree about" }).textContent;
  expect(text).toContain("Sources disagree about chief executive of Acme, which may have changed:");
  expect(text).toContain("Bob (2024-04-30, newest)");
  expect(text).toContain("Ada (no date)");
  expect(screen.getByRole("link", { name: "Report on Bob" })).toBeTruthy();
});

test("without a conflict nothing is shown", () => {
  expect(shown([]).container.textContent).toBe("");
});
