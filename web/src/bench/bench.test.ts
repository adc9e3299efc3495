import { expect, test } from "vitest";
import { readRun, runPath, writeRun } from "./address";
import { between, meaningOf, points } from "./words";

test("an address has the state of a run, and questions are counted from 1", () => {
  const state = {
    a: "weave",
    b: "naive",
    other: "",
    measure: "",
    found: "a" as const,
    question: 0,
  };
  expect(String(writeRun(state))).toBe("a=weave&b=naive&found=a&question=1");
  expect(readRun(writeRun(state))).toEqual(state);
  expect(readRun(new URLSearchParams("found=all&question=x")).found).toBeNull();
  expect(readRun(new URLSearchParams("question=0")).question).toBeNull();
  expect(runPath("my notes", "r1")).toBe("/my%20notes/bench/r1");
});

test("scores are in per cent, and differences have a sign unless they are nothing", () => {
  expect(between({ mean: 0.5, low: 0.4321, high: 0.6 })).toBe("43.2 to 60.0");
  expect([0.12, -0.031, 0.0001].map(points)).toEqual(["+12.0", "−3.1", "0.0"]);
  expect(meaningOf("recall@5")).toContain("first 5");
  expect(meaningOf("F1")).toBe("");
});
