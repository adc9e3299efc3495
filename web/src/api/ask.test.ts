import { afterEach, expect, test, vi } from "vitest";
import { type AskEvent, ask } from "./ask";
import { Problem } from "./client";

afterEach(() => vi.unstubAllGlobals());

function respond(body: string, init: ResponseInit = {}) {
  // In pieces of seven bytes, so that events and characters are cut in the middle.
  const bytes = new TextEncoder().encode(body);
  const stream = new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 7) controller.enqueue(bytes.slice(at, at + 7));
      controller.close();
    },
  });
  const fetched = vi.fn(async () => new Response(stream, init));
  vi.stubGlobal("fetch", fetched);
  return fetched;
}

async function all(): Promise<AskEvent[]> {
  const events: AskEvent[] = [];
  for await (const event of ask("a/b", { question: "Why?" }, new AbortController().signal))
    events.push(event);
  return events;
}

test("events arrive whole and in order", async () => {
  const fetched = respond(
    'event: token\ndata: {"text": "Ja 😀"}\n\n: \n\nevent: token\ndata: {"text": "!"}\n\nevent: answer\ndata: {"answer": "Ja 😀!"}\n\n',
  );
  expect(await all()).toEqual([
    { name: "token", data: { text: "Ja 😀" } },
    { name: "token", data: { text: "!" } },
    { name: "answer", data: { answer: "Ja 😀!" } },
  ]);
  expect(fetched).toHaveBeenCalledWith(
    "/v1/workspaces/a%2Fb/ask",
    expect.objectContaining({ method: "POST" }),
  );
});

test("a problem in the stream is thrown", async () => {
  respond('event: problem\ndata: {"detail": "The model failed.", "status": 502, "next_step": "Wait."}\n\n');
  await expect(all()).rejects.toMatchObject({ message: "The model failed.", status: 502, nextStep: "Wait." });
});

test("a stream that ends before the answer is an error", async () => {
  respond('event: token\ndata: {"text": "Ja"}\n\n');
  await expect(all()).rejects.toThrow("The connection ended before the answer was complete.");
});

test("a refusal says how long to wait", async () => {
  const headers = { "Retry-After": "7", "Content-Type": "application/problem+json" };
  respond('{"detail": "Too many questions.", "code": "rate"}', { status: 429, headers });
  await expect(all()).rejects.toMatchObject({ status: 429, retryAfter: 7, code: "rate" });
  respond("<html>", { status: 502 });
  await expect(all()).rejects.toBeInstanceOf(Problem);
});
