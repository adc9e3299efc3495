// The state of the Compare view in its address: question, methods with their parameters, filter, whether to write answers.
import type { Filter } from "../api/ask";
import { isEmptyFilter, type Json, jsonObject, readObject } from "../ask/address";
import { filterWords, quoted } from "../ask/forms";

export const MOST_METHODS = 4;

export interface Choice {
  method: string;
  /** Only those that differ from their defaults. */
  parameters: Record<string, Json>;
}

export interface CompareState {
  question: string;
  /** Empty for the usual ones of the view. */
  choices: Choice[];
  filter: Filter;
  /** Whether each method also writes an answer, which calls the language model. */
  answers: boolean;
  /** Whether passages that every method found are left out. */
  differences: boolean;
}

/** A method with its parameters as one text: `name`, or `name:{"top_k":20}`. */
export function choiceText({ method, parameters }: Choice): string {
  return Object.keys(parameters).length ? `${method}:${JSON.stringify(parameters)}` : method;
}

/** A method with its parameters in words: `naive`, or `naive (top_k 20)`. */
export function choiceName({ method, parameters }: Choice): string {
  const changed = Object.entries(parameters).map(
    ([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return changed.length ? `${method} (${changed.join(", ")})` : method;
}

function readChoice(text: string): Choice {
  const colon = text.indexOf(":");
  if (colon < 0) return { method: text, parameters: {} };
  const method = text.slice(0, colon);
  const parameters = jsonObject(
    text.slice(colon + 1),
    `The parameters of the method ${method} in this address are`,
  );
  return { method, parameters };
}

/** The state that an address describes. Throws an Error that says what is wrong with it. */
export function readAddress(params: URLSearchParams): CompareState {
  const texts = [...new Set(params.getAll("m").filter(Boolean))];
  if (texts.length > MOST_METHODS)
    throw new Error(`This address has ${texts.length} methods; at most ${MOST_METHODS} can be compared.`);
  return {
    question: params.get("q") ?? "",
    choices: texts.map(readChoice),
    filter: readObject(params, "filter") as Filter,
    answers: params.get("answers") === "1",
    differences: params.get("differences") === "1",
  };
}

/** The command that compares the same; null if there is none, as the command takes no parameters of methods. */
export function commandOf(
  workspace: string,
  { question, choices, filter, answers }: CompareState,
): string | null {
  if (choices.some((one) => Object.keys(one.parameters).length > 0)) return null;
  const words = ["trueweave", "compare", quoted(question), "--workspace", quoted(workspace)];
  words.push("--methods", quoted(choices.map((one) => one.method).join(",")), ...filterWords(filter));
  return [...words, ...(answers ? ["--answers"] : [])].join(" ");
}

/** The body of the request that compares the same. */
export function requestOf({ question, choices, filter, answers }: CompareState): Record<string, unknown> {
  return {
    question,
    methods: choices.map((one) => (Object.keys(one.parameters).length ? one : one.method)),
    ...(isEmptyFilter(filter) ? {} : { filter }),
    ...(answers ? { answers } : {}),
  };
}

/** The search parameters for a state. Defaults are left out. */
export function writeAddress(state: Partial<CompareState>): URLSearchParams {
  const params = new URLSearchParams();
  if (state.question) params.set("q", state.question);
  for (const choice of state.choices ?? []) params.append("m", choiceText(choice));
  if (state.filter && !isEmptyFilter(state.filter)) params.set("filter", JSON.stringify(state.filter));
  if (state.answers) params.set("answers", "1");
  if (state.differences) params.set("differences", "1");
  return params;
}
