import { render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { expect, test } from "vitest";
import { AlertList } from "./AlertsPage";
import { alertsPath } from "./address";
import { readWatch } from "./NewWatchForm";
import type { Alert, AlertPassage } from "./queries";

const passage = (change: AlertPassage["change"], uri: string, text: string): AlertPassage => ({
  change,
  uri,
  title: "",
  date: "",
  start: 7,
  text,
  is_indexed: change !== "removed",
});

const alert = (id: number, more: Partial<Alert> = {}): Alert => ({
  id,
  watch: "chief",
  question: "Who leads Acme?",
  at: "2026-05-01T12:00:00Z",
  is_first: false,
  added: 1,
  removed: 1,
  passages: [],
  answer: "",
  problem: "",
  delivery: "none",
  ...more,
});

const list = (alerts: Alert[]) => (
  <MemoryRouter>
    <AlertList workspace="w" alerts={alerts} />
  </MemoryRouter>
);

test("passages link to the reader if they are in the index", () => {
  const passages = [
    passage("added", "a b.md", "Ada 😀"),
    passage("kept", "c.md", "Same."),
    passage("removed", "d.md", "As it was."),
    passage("removed", "", ""),
  ];
  render(list([alert(1, { passages, delivery: "failed", problem: "no model" })]));
  expect(screen.getByRole("link", { name: "a b.md" }).getAttribute("href")).toBe(
    "/w/document?uri=a+b.md&start=7&end=12",
  );
  expect(screen.queryByRole("link", { name: "d.md" })).toBeNull();
  const text = screen.getByRole("list", { name: "Alerts" }).textContent;
  expect(text).toContain("1 passage added, 1 removed");
  expect(text).toContain("1 unchanged");
  expect(text).not.toContain("Same.");
  expect(text).toContain("As it was.");
  expect(text).toContain("Removeda document that was removed, or cannot be read any more");
  expect(text).toContain("No answer: no model");
  expect(text).toContain("the webhook did not accept it");
});

test("alerts made since the page was opened are marked", () => {
  const shown = render(list([alert(1, { is_first: true })]));
  expect(screen.queryByText("New")).toBeNull();
  shown.rerender(list([alert(2), alert(1, { is_first: true })]));
  expect(screen.getByRole("status").textContent).toBe("1 new alert since the page was opened.");
  const items = screen.getAllByRole("listitem").map((one) => one.textContent);
  expect(items[0]).toContain("chiefNew");
  expect(items[1]).not.toContain("New");
});

test("the fields of the form become a watch", () => {
  const fields = new FormData();
  for (const [name, value] of Object.entries({ question: " Who? ", name: "", passages: "3", answers: "on" }))
    fields.set(name, value);
  expect(readWatch(fields)).toEqual({
    question: "Who?",
    name: "",
    method: "",
    passages: 3,
    answers: true,
    webhook: "",
  });
  fields.delete("answers");
  expect(readWatch(fields).answers).toBe(false);
});

test("a watch is in the address of its alerts", () => {
  expect(alertsPath("a b")).toBe("/a%20b/watches/alerts");
  expect(alertsPath("w", "x&y")).toBe("/w/watches/alerts?watch=x%26y");
});
