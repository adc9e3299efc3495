// Deciding one pair after the other: what was decided counts at once, and comes back if the server refuses.
import { useCallback, useRef, useState } from "react";
import { asProblem, type Problem } from "../api/client";
import type { Suggestion } from "./queries";

export type Decision = "merged" | "not the same" | "skipped";

interface Entry {
  suggestion: Suggestion;
  decision: Decision;
  /** The id of the rule, when the server has made it. */
  made: Promise<string>;
}

export interface Refused {
  suggestion: Suggestion;
  wanted: Decision | "undo";
  problem: Problem;
}

export interface Actions {
  decide: (suggestion: Suggestion, same: boolean) => Promise<string>;
  undo: (suggestion: Suggestion, decision: Decision, rule: string) => Promise<void>;
  onChange: () => void;
}

/** The pairs that are left, in order, and what was decided. */
export function useQueue(listed: Suggestion[], { decide, undo, onChange }: Actions) {
  const [history, setHistory] = useState<Entry[]>([]);
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const [refused, setRefused] = useState<Refused | null>(null);
  const entries = useRef(history);
  const update = useCallback((to: Entry[]) => {
    entries.current = to;
    setHistory(to);
  }, []);
  const done = new Set(history.map((one) => one.suggestion.id));
  const left = listed.filter((one) => !done.has(one.id) && !gone.has(one.id));

  const put = (suggestion: Suggestion, decision: Decision) => {
    setRefused(null);
    const made = decision === "skipped" ? Promise.resolve("") : decide(suggestion, decision === "merged");
    const entry: Entry = { suggestion, decision, made };
    update([...entries.current, entry]);
    made.then(
      () => decision !== "skipped" && onChange(),
      (error) => {
        const problem = asProblem(error);
        // Somebody else has decided, or a name is gone: there is nothing left to decide.
        if (problem.code === "already_decided") setGone((before) => new Set([...before, suggestion.id]));
        update(entries.current.filter((one) => one !== entry));
        setRefused({ suggestion, wanted: decision, problem });
        onChange();
      },
    );
  };
  const takeBack = async () => {
    const entry = entries.current.at(-1);
    if (!entry) return;
    setRefused(null);
    try {
      const rule = await entry.made;
      if (entry.decision !== "skipped") await undo(entry.suggestion, entry.decision, rule);
      update(entries.current.filter((one) => one !== entry));
      onChange();
    } catch (error) {
      if (!entries.current.includes(entry)) return; // it was refused, which is shown
      const problem = asProblem(error);
      if (problem.code === "unknown_rule") update(entries.current.filter((one) => one !== entry));
      setRefused({ suggestion: entry.suggestion, wanted: "undo", problem });
    }
  };
  return { left, history, refused, put, takeBack };
}
