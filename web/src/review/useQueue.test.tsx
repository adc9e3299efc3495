import { act, renderHook, waitFor } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { Problem } from "../api/client";
import type { Suggestion } from "./queries";
import { useQueue } from "./useQueue";

const pair = (id: string): Suggestion => ({ id }) as Suggestion;
const PAIRS = ["a", "b", "c"].map(pair);
const ids = (some: Suggestion[]): string[] => some.map((one) => one.id);

function setUp(decide = vi.fn(async () => "rule"), undo = vi.fn(async () => {})) {
  const { result } = renderHook(() => useQueue(PAIRS, { decide, undo, onChange: () => {} }));
  return { result, decide, undo };
}

test("a decision counts at once, and is undone when the server has made it", async () => {
  let made = (_: string) => {};
  const { result, undo } = setUp(vi.fn(() => new Promise<string>((resolve) => (made = resolve))));
  act(() => result.current.put(PAIRS[0] as Suggestion, "merged"));
  expect(ids(result.current.left)).toEqual(["b", "c"]);
  let undone = Promise.resolve();
  act(() => {
    undone = result.current.takeBack();
  });
  expect(undo).not.toHaveBeenCalled();
  await act(async () => {
    made("r1");
    await undone;
  });
  expect(undo).toHaveBeenCalledWith(PAIRS[0], "merged", "r1");
  expect(ids(result.current.left)).toEqual(["a", "b", "c"]);
});

test("a pair comes back with the reason if the server cannot be reached", async () => {
  const { result } = setUp(vi.fn(() => Promise.reject(new TypeError("Failed to fetch"))));
  act(() => result.current.put(PAIRS[0] as Suggestion, "not the same"));
  await waitFor(() => expect(result.current.refused?.problem.message).toBe("The server cannot be reached."));
  expect(ids(result.current.left)).toEqual(["a", "b", "c"]);
  expect(result.current.history).toEqual([]);
});

test("a pair that somebody else has decided on does not come back", async () => {
  const problem = new Problem({ detail: "Ada merged them.", code: "already_decided" });
  const { result } = setUp(vi.fn(() => Promise.reject(problem)));
  act(() => result.current.put(PAIRS[1] as Suggestion, "merged"));
  await waitFor(() => expect(result.current.refused?.problem.message).toBe("Ada merged them."));
  expect(ids(result.current.left)).toEqual(["a", "c"]);
});

test("what is skipped is not sent, and a rule that is gone cannot be undone twice", async () => {
  const gone = vi.fn(() =>
    Promise.reject(new Problem({ detail: "There is no rule.", code: "unknown_rule" })),
  );
  const { result, decide } = setUp(undefined, gone);
  act(() => result.current.put(PAIRS[0] as Suggestion, "skipped"));
  expect(decide).not.toHaveBeenCalled();
  await act(() => result.current.takeBack());
  expect(gone).not.toHaveBeenCalled();
  act(() => result.current.put(PAIRS[0] as Suggestion, "merged"));
  await act(() => result.current.takeBack());
  expect(result.current.refused?.wanted).toBe("undo");
  expect(result.current.history).toEqual([]);
});
