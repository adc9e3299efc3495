import { afterEach, expect, test, vi } from "vitest";
import { followActivity, type Heard } from "./activity";

const FAST = { first: 1, longest: 4, ordinary: 0 };

afterEach(() => vi.unstubAllGlobals());

const stream = (...waiting: number[]) =>
  new Response(waiting.map((one) => `event: activity\ndata: {"waiting": ${one}}\n\n`).join(""));

/** Follows while the responses last, and then aborts. Returns what was heard, and how often the server was asked. */
async function follow(responses: (() => Response)[]) {
  const abort = new AbortController();
  const heard: Heard[] = [];
  let asked = 0;
  vi.stubGlobal("fetch", async () => {
    const next = responses[asked++];
    if (!next) {
      abort.abort();
      throw new DOMException("aborted", "AbortError");
    }
    return next();
  });
  await followActivity("a/b", (one) => heard.push(one), abort.signal, FAST);
  return { heard, asked };
}

const waitingOf = (heard: Heard[]) => heard.map((one) => (one.error ? "lost" : one.activity?.waiting));

test("a stream that ends is opened again", async () => {
  const { heard } = await follow([() => stream(3, 2), () => stream(1)]);
  expect(waitingOf(heard)).toEqual([3, 2, 1]);
});

test("a lost connection is told, with what was known last, and tried again", async () => {
  const lost = () => {
    throw new TypeError("Failed to fetch");
  };
  const { heard } = await follow([() => stream(3), lost, lost, () => stream(1)]);
  expect(waitingOf(heard)).toEqual([3, "lost", "lost", 1]);
  expect(heard[1]?.activity?.waiting).toBe(3);
});

test("a problem within the stream is told, and the stream is opened again", async () => {
  const problem = () =>
    new Response('event: problem\ndata: {"status": 503, "detail": "The database did not answer."}\n\n');
  const { heard } = await follow([problem, () => stream(1)]);
  expect(waitingOf(heard)).toEqual(["lost", 1]);
});

test.each([401, 404])("a refusal with status %i ends it", async (status) => {
  const refused = () => Response.json({ detail: "No." }, { status });
  const { heard, asked } = await follow([() => stream(2), refused, () => stream(1)]);
  expect(waitingOf(heard)).toEqual([2, "lost"]);
  expect(asked).toBe(2);
});
