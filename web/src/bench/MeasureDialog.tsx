// Measures methods on one's own questions, and goes to the run.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Button } from "react-aria-components";
import { useNavigate } from "react-router";
import { methods as methodsQuery } from "../api/queries";
import { quoted } from "../ask/forms";
import { number } from "../text/words";
import { Popup } from "../ui/Popup";
import { Failed, Loading } from "../ui/States";
import { runPath } from "./address";
import styles from "./Bench.module.css";
import { measurableQuery, measure } from "./queries";

const USUAL = ["naive", "keyword", "fuse", "weave"];

export function MeasureDialog({ workspace, onClose }: { workspace: string; onClose: () => void }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const known = useQuery(methodsQuery(workspace));
  const measurable = useQuery(measurableQuery(workspace));
  const [chosen, setChosen] = useState<ReadonlySet<string> | null>(null);
  const [progress, setProgress] = useState<{ done: number; all: number } | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const failed = [known, measurable].find((one) => one.isError);
  const usable = (known.data ?? []).filter((one) => one.usable && measurable.data?.includes(one.name));
  const names = usable.map((one) => one.name);
  const selected = chosen ?? new Set(USUAL.filter((name) => names.includes(name)));
  const wanted = names.filter((name) => selected.has(name));
  const toggle = (name: string) => {
    const to = new Set(selected);
    if (!to.delete(name)) to.add(name);
    setChosen(to);
  };
  const run = async () => {
    const abort = new AbortController();
    running.current = abort;
    setFailure(null);
    setProgress({ done: 0, all: 0 });
    try {
      const made = await measure(workspace, wanted, (done, all) => setProgress({ done, all }), abort.signal);
      queries.invalidateQueries({ queryKey: ["bench", workspace, "runs"] });
      navigate(runPath(workspace, made.id));
    } catch (error) {
      if (abort.signal.aborted) return;
      setFailure(error);
      setProgress(null);
    }
  };
  return (
    <Popup title="Measure methods on my questions" open onClose={onClose}>
      {failed && <Failed error={failed.error} again={() => failed.refetch()} />}
      {!failed && !(known.data && measurable.data) && <Loading what="the methods" />}
      {known.data && measurable.data && (
        <div className={styles.form}>
          <fieldset className={styles.methods} disabled={progress !== null}>
            <legend className="visually-hidden">Methods</legend>
            {names.map((name) => (
              <label key={name}>
                <input type="checkbox" checked={selected.has(name)} onChange={() => toggle(name)} />
                {name}
              </label>
            ))}
          </fieldset>
          <p className="muted">
            Every question is searched with every method; no language model is called. Methods that call one
            are measured on the command line, which shows the cost first:{" "}
            <code>trueweave bench mine --workspace {quoted(workspace)}</code>
          </p>
          {progress && (
            <div className={styles.progress} role="status">
              <progress aria-label="Searches" value={progress.done} max={Math.max(progress.all, 1)} />
              <p>
                {progress.all > 0
                  ? `${number(progress.done)} of ${number(progress.all)} searches done`
                  : "Starting…"}
              </p>
            </div>
          )}
          {failure !== null && <Failed error={failure} />}
          <div className={styles.buttons}>
            <Button className="primary" onPress={run} isDisabled={progress !== null || wanted.length === 0}>
              {progress ? "Measuring…" : "Measure"}
            </Button>
            <Button onPress={onClose}>{progress ? "Stop" : "Cancel"}</Button>
          </div>
        </div>
      )}
    </Popup>
  );
}
