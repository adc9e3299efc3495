// Questions, whose answers come as a stream of events.
import { EventSourceParserStream } from "eventsource-parser/stream";
import { Problem, type ProblemBody, problemOf, type Schemas } from "./client";

/** A question as the server takes it. What is left out has its default. */
export type Question = Partial<Schemas["AskBody"]> & { question: string };
export type Found = Schemas["RetrievedBody"];
export type Answer = Schemas["AnswerBody"];
export type Filter = Partial<Schemas["FilterBody"]>;

export type AskEvent =
  | { name: "rewritten"; data: { question: string } }
  | { name: "evidence"; data: Found }
  | { name: "token"; data: { text: string } }
  | { name: "answer"; data: Answer };

/** Asks, and yields what the server sends. Throws Problem. Aborting the signal stops the model. */
export async function* ask(
  workspace: string,
  question: Question,
  signal: AbortSignal,
): AsyncGenerator<AskEvent> {
  const path = `/v1/workspaces/${encodeURIComponent(workspace)}/ask`;
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    credentials: "same-origin",
    body: JSON.stringify(question),
    signal,
  });
  if (!response.ok || !response.body) throw problemOf(response, await response.json().catch(() => null));
  const events = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { event, data } of read(events)) {
    const parsed: unknown = JSON.parse(data);
    if (event === "problem") throw new Problem(parsed as ProblemBody);
    const known = { name: event, data: parsed } as AskEvent;
    yield known;
    if (known.name === "answer") return;
  }
  const next = "Ask again.";
  throw new Problem({
    detail: "The connection ended before the answer was complete.",
    code: "cut",
    next_step: next,
  });
}

/** Not every browser can iterate over a stream. */
async function* read<T>(stream: ReadableStream<T>): AsyncGenerator<T> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}
