import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { followActivity, type Heard } from "./activity";

const REFRESH = 1_000; // milliseconds between two reads of the lists, at least

/** The activity of a workspace while the view is shown. What is cached under `names` is read again when something
 * changed. */
export function useActivity(workspace: string, names: readonly string[]): Heard & { again: () => void } {
  const queries = useQueryClient();
  const [heard, setHeard] = useState<Heard>({ activity: null, error: null });
  const [turn, setTurn] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another turn connects again
  useEffect(() => {
    const abort = new AbortController();
    setHeard({ activity: null, error: null });
    followActivity(workspace, setHeard, abort.signal);
    return () => abort.abort();
  }, [workspace, turn]);

  const { activity } = heard;
  const version =
    activity &&
    [activity.position, activity.waiting, activity.indexing, activity.failed, activity.reports].join();
  const before = useRef<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    if (version === null || version === before.current) return;
    const isFirst = before.current === null;
    before.current = version;
    if (isFirst || timer.current !== undefined) return; // the list has just been read, or is about to be
    timer.current = setTimeout(() => {
      timer.current = undefined;
      for (const name of names) queries.invalidateQueries({ queryKey: [name, workspace] });
    }, REFRESH);
  }, [version, workspace, queries, names]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
      before.current = null;
    },
    [],
  );
  return { ...heard, again: useCallback(() => setTurn((now) => now + 1), []) };
}
