import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { CostLine } from "./CostLine";
import { answer } from "./testing";

test("the line has the method that was chosen, what was found, the time and the cost", () => {
  const whole = answer("Yes.", [], []);
  const step = {
    what: "chose",
    searched: "",
    found: 1,
    best: [{ item: "weave", score: 1 }],
    seconds: 0,
    statements: 0,
  };
  const trace = { ...whole.trace, method: "auto", steps: [step] };
  render(<CostLine found={{ ...whole, trace }} answer={whole} />);
  expect(
    screen.getByText("auto → weave · 0 passages · search 100 ms · 1 model call · 15 tokens · $0.0010"),
  ).toBeInTheDocument();
});

test("replies from the cache cost nothing", () => {
  const whole = answer("Yes.", [], []);
  const kept = { ...whole, usage: { calls: 0, kept: 2, tokens_in: 0, tokens_out: 0, price: "0" } };
  render(<CostLine found={kept} answer={kept} />);
  expect(
    screen.getByText("weave · 0 passages · search 100 ms · 2 replies from the cache, at no cost"),
  ).toBeInTheDocument();
});
