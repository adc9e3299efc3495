// Questions, whose answers come as a stream of events.
import { Problem, type Schemas } from "./client";
import { streamed } from "./stream";

/** A question as the server takes it. What is left out has its default. */
export type Question = Partial<Omit<Schemas["AskBody"], "filter">> & { question: string; filter?: Filter };
export type Found = Schemas["RetrievedBody"];
export type Answer = Schemas["AnswerBody"];
type Groups = "all_of" | "any_of" | "none_of";
/** A filter on documents. What is left out is empty. */
export type Filter = Partial<Omit<Schemas["FilterBody"], Groups>> & { [group in Groups]?: Filter[] };

export type AskEvent =
  | { name: "rewritten"; data: { question: string } }
  | { name: "evidence"; data: Found }
  | { name: "token"; data: { text: string } }
  | { name: "answer"; data: Answer };

/** A filter with all its parts. */
export const wholeFilter = (filter: Filter): Schemas["FilterBody"] => ({
  uris: [],
  metadata: {},
  prefix: "",
  ...filter,
  all_of: (filter.all_of ?? []).map(wholeFilter),
  any_of: (filter.any_of ?? []).map(wholeFilter),
  none_of: (filter.none_of ?? []).map(wholeFilter),
});

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
