// Asks a question and follows its answer.
import { useCallback, useEffect, useReducer, useState } from "react";
import { type Answer, type AskEvent, ask, type Found, type Question, wholeFilter } from "../api/ask";
import { api, asProblem, dataOf, type Problem } from "../api/client";
import { loadRenderer } from "./LazyText";

export type Phase = "idle" | "searching" | "answering" | "done" | "stopped" | "failed";

export interface Asked {
  phase: Phase;
  /** The question in the words that it was searched by, if it was rewritten. */
  rewritten: string;
  found: Found | null;
  /** The answer as far as it has arrived. */
  text: string;
  answer: Answer | null;
  problem: Problem | null;
}

export type Step =
  | { name: "started" }
  | { name: "idle" }
  | { name: "stopped" }
  | { name: "failed"; problem: Problem }
  | { name: "found"; data: Found }
  | AskEvent;

export const IDLE: Asked = {
  phase: "idle",
  rewritten: "",
  found: null,
  text: "",
  answer: null,
  problem: null,
};

/** The state after one more event. What was found stays when the answer fails or is stopped. */
export function next(state: Asked, step: Step): Asked {
  switch (step.name) {
    case "idle":
      return IDLE;
    case "started":
      return { ...IDLE, phase: "searching" };
    case "rewritten":
      return { ...state, rewritten: step.data.question };
    case "evidence":
      return { ...state, phase: "answering", found: step.data };
    case "token":
      return { ...state, phase: "answering", text: state.text + step.data.text };
    case "answer":
      return { ...state, phase: "done", answer: step.data, text: step.data.answer ?? "" };
    case "found":
      return { ...state, phase: "done", found: step.data };
    case "stopped":
      return { ...state, phase: "stopped" };
    case "failed":
      return { ...state, phase: "failed", problem: step.problem };
  }
}

interface Options {
  workspace: string;
  /** Null while there is nothing to ask. */
  question: Question | null;
  /** Without a language model, only the evidence is retrieved. */
  hasModel: boolean;
}

/** Asks whenever the question changes, and stops the model when it does, or when the view is left. */
export function useAsk({ workspace, question, hasModel }: Options) {
  const [state, dispatch] = useReducer(next, IDLE);
  const [running, setRunning] = useState<AbortController | null>(null);
  const [round, setRound] = useState(0);
  const asked = question && JSON.stringify(question);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another round asks the same question again
  useEffect(() => {
    if (!asked) {
      dispatch({ name: "idle" });
      return;
    }
    const controller = new AbortController();
    const body = JSON.parse(asked) as Question;
    setRunning(controller);
    dispatch({ name: "started" });
    const run = async () => {
      try {
        if (hasModel) {
          loadRenderer();
          for await (const event of ask(workspace, body, controller.signal)) {
            if (controller.signal.aborted) return;
            dispatch(event);
          }
        } else {
          const data = await retrieve(workspace, body, controller.signal);
          if (!controller.signal.aborted) dispatch({ name: "found", data });
        }
      } catch (error) {
        if (!controller.signal.aborted) dispatch({ name: "failed", problem: asProblem(error) });
      }
    };
    const start = setTimeout(run); // a view that is left at once asks nothing
    return () => {
      clearTimeout(start);
      controller.abort();
    };
  }, [workspace, asked, hasModel, round]);

  const stop = useCallback(() => {
    running?.abort();
    dispatch({ name: "stopped" });
  }, [running]);
  const again = useCallback(() => setRound((before) => before + 1), []);
  return { ...state, stop, again };
}

function retrieve(workspace: string, question: Question, signal: AbortSignal): Promise<Found> {
  const { method = null, parameters = {}, filter } = question;
  const body = {
    question: question.question,
    method,
    parameters,
    filter: wholeFilter(filter ?? {}),
    rerank: question.rerank ?? false,
  };
  return dataOf(
    api.POST("/v1/workspaces/{workspace}/retrieve", { params: { path: { workspace } }, body, signal }),
  );
}
