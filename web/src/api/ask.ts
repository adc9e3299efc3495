// Questions, whose answers come as a stream of events.
import { Problem, type Schemas } from "./client";
import { streamed } from "./stream";

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
  const init = {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(question),
    signal,
  };
  for await (const event of streamed(path, init)) {
    const known = event as AskEvent;
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
