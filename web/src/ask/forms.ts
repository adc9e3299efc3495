// An answer in other forms: as a command, as a request, as Markdown with sources.
import type { Answer, Filter, Question } from "../api/ask";
import type { AskState } from "./address";
import { isEmptyFilter } from "./address";
import { conditions, filterText } from "./filterText";
import { isDoubtful, verdictOf } from "./status";

/** The question as the server takes it. */
export function questionOf(state: AskState): Question {
  return {
    question: state.question,
    ...(state.method ? { method: state.method } : {}),
    ...(Object.keys(state.parameters).length
      ? { parameters: state.parameters as Question["parameters"] }
      : {}),
    ...(isEmptyFilter(state.filter) ? {} : { filter: state.filter }),
  } as Question;
}

/** The command that asks the same. */
export function commandOf(workspace: string, state: AskState): string {
  const words = ["trueweave", "ask", quoted(state.question), "--workspace", quoted(workspace)];
  if (state.method) words.push("--method", quoted(state.method));
  for (const [name, value] of Object.entries(state.parameters)) {
    words.push("--set", quoted(`${name}=${typeof value === "string" ? value : JSON.stringify(value)}`));
  }
  return [...words, ...filterWords(state.filter)].join(" ");
}

/** The options of a command that limit a question to documents. */
export function filterWords(filter: Filter): string[] {
  const documents = (filter.uris ?? []).flatMap((uri) => ["--document", quoted(uri)]);
  const wheres = Object.entries(filter.metadata ?? {}).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap((one) =>
      conditions(key, one).flatMap((text) => ["--where", quoted(text)]),
    ),
  );
  const { uris: _uris, metadata: _metadata, ...combined } = filter;
  const text = filterText(combined);
  return [...documents, ...wheres, ...(text ? ["--filter", quoted(text)] : [])];
}

/** A word for a POSIX shell. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The answer with its sources, and the sentences that the check does not confirm. */
export function markdownOf(answer: Answer): string {
  const sources = answer.citations.map(
    (one) =>
      `[${one.number}] ${one.source}${one.source === one.uri ? "" : ` (${one.uri})`}: “${oneLine(one.quote)}”`,
  );
  const doubtful = answer.sentences
    .filter(isDoubtful)
    .map((one) => `- ${oneLine(one.text)} (${verdictOf(one)}${one.reason ? `: ${one.reason}` : ""})`);
  return [
    `# ${oneLine(answer.question)}`,
    answer.answer ?? "",
    sources.length ? `## Sources\n\n${sources.map((one) => `- ${one}`).join("\n")}` : "",
    doubtful.length ? `## Not confirmed\n\n${doubtful.join("\n")}` : "",
  ]
    .filter(Boolean)
    .join("\n\n")
    .concat("\n");
}

const oneLine = (text: string): string => text.split(/\s+/).join(" ").trim();
