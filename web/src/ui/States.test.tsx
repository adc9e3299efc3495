import { act, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { Problem } from "../api/client";
import { Failed } from "./States";

afterEach(() => vi.useRealTimers());

test("a failure says what happened, what to do next, and the request id", () => {
  const problem = new Problem({
    detail: "there is no document 'x'.",
    next_step: "List them.",
    request_id: "r1",
    near: ["y"],
  });
  render(<Failed error={problem} />);
  const shown = screen.getByRole("alert");
  expect(shown).toHaveTextContent("There is no document 'x'.");
  expect(shown).toHaveTextContent("List them.");
  expect(shown).toHaveTextContent("Similar: y");
  expect(shown).toHaveTextContent("Request id: r1");
});

test("a server that asks to wait is not asked again before that", () => {
  vi.useFakeTimers();
  render(<Failed error={new Problem({ detail: "Too many." }, 2)} again={() => {}} />);
  expect(screen.getByRole("button", { name: "Try again in 2 s" })).toBeDisabled();
  act(() => vi.advanceTimersByTime(1000));
  act(() => vi.advanceTimersByTime(1000));
  expect(screen.getByRole("button", { name: "Try again" })).toBeEnabled();
});

test("a lost connection is told in words", () => {
  render(<Failed error={new TypeError("Failed to fetch")} />);
  expect(screen.getByRole("alert")).toHaveTextContent("The server cannot be reached.");
});
