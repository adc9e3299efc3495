// One run: its verdict, the scores of its methods, and two of them compared question by question.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "react-aria-components";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import { asProblem } from "../api/client";
import { me as meQuery } from "../api/queries";
import { useActivity } from "../api/useActivity";
import { useTitle } from "../shell/useTitle";
import { duration, moment } from "../text/words";
import { Popup } from "../ui/Popup";
import { Empty, Failed, Loading } from "../ui/States";
import { benchPath, readRun } from "./address";
import styles from "./Bench.module.css";
import { CHANGING, Facts, nameOf } from "./BenchPage";
import { Comparison } from "./Comparison";
import { IntervalPlot } from "./IntervalPlot";
import { type Run, removeRun, runQuery } from "./queries";
import { between, meaningOf, percent } from "./words";

export function RunPage() {
  const { ws = "", run = "" } = useParams();
  const [params] = useSearchParams();
  const found = useQuery(runQuery(ws, run));
  const { data: caller } = useQuery(meQuery);
  useActivity(ws, CHANGING);
  useTitle(found.data ? nameOf(found.data) : "Bench", ws);
  if (found.isError)
    return isGone(found.error) ? (
      <GoneRun workspace={ws} />
    ) : (
      <Failed error={found.error} again={() => found.refetch()} />
    );
  if (!found.data) return <Loading what="the run" lines={8} />;
  return (
    <RunView
      key={run}
      workspace={ws}
      run={found.data}
      state={readRun(params)}
      mayWrite={caller !== undefined && caller.scope !== "read"}
    />
  );
}

/** Whether something does not exist, or its id cannot be one. */
export const isGone = (error: unknown): boolean => [404, 422].includes(asProblem(error).status);

export function GoneRun({ workspace }: { workspace: string }) {
  return (
    <Empty title="This run does not exist">
      <p>Somebody has removed it, or the address is wrong.</p>
      <Link to={benchPath(workspace)}>Show all runs</Link>
    </Empty>
  );
}

interface Props {
  workspace: string;
  run: Run;
  state: ReturnType<typeof readRun>;
  mayWrite: boolean;
}

function RunView({ workspace, run, state, mayWrite }: Props) {
  const [isRemoving, setRemoving] = useState(false);
  const measure = run.measures.includes(state.measure) ? state.measure : run.leading;
  const models = Object.entries(run.under).map(([name, value]) => `${name}: ${value}`);
  return (
    <div className={styles.page}>
      <nav aria-label="Path">
        <Link to={benchPath(workspace)}>All runs</Link>
      </nav>
      <div className={styles.head}>
        <h1 tabIndex={-1}>
          <bdi>{nameOf(run)}</bdi>, {moment(run.made)}
        </h1>
        {mayWrite && (
          <Button className="quiet" onPress={() => setRemoving(true)}>
            Remove this run
          </Button>
        )}
      </div>
      <div>
        <p className={styles.verdict}>{run.verdict}</p>
        <Facts run={run} />
        {models.length > 0 && <p className={styles.facts}>{models.join("; ")}</p>}
      </div>
      {run.notes.map((note) => (
        <p key={note} className={styles.note}>
          {note}.
        </p>
      ))}
      <section aria-label="Scores">
        <h2>
          {measure}, in per cent, with 95 % intervals
          {meaningOf(measure) && `: ${meaningOf(measure)}`}
        </h2>
        <IntervalPlot run={run} measure={measure} />
      </section>
      <details>
        <summary>All measures, and how long a question takes</summary>
        <Figures run={run} />
      </details>
      {Object.entries(run.left_out).map(([name, reason]) => (
        <p key={name} className="muted">
          {name} is left out: {reason}
        </p>
      ))}
      <Comparison workspace={workspace} run={run} state={state} measure={measure} />
      {isRemoving && <RemoveDialog workspace={workspace} run={run} onClose={() => setRemoving(false)} />}
    </div>
  );
}

function Figures({ run }: { run: Run }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls must be reachable by keyboard
    <section className={styles.scroll} aria-label="All measures" tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Method</th>
            {run.measures.map((one) => (
              <th key={one} scope="col">
                {one}
              </th>
            ))}
            <th scope="col">Median time</th>
            <th scope="col">95 % within</th>
          </tr>
        </thead>
        <tbody>
          {run.methods.map((method) => (
            <tr key={method.name}>
              <th scope="row">{method.name}</th>
              {run.measures.map((one) => {
                const score = method.scores[one];
                return (
                  <td key={one}>
                    {score && percent(score.mean)}
                    {score && <small>{between(score)}</small>}
                  </td>
                );
              })}
              <td>{duration(method.p50)}</td>
              <td>{duration(method.p95)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function RemoveDialog({ workspace, run, onClose }: { workspace: string; run: Run; onClose: () => void }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [failure, setFailure] = useState<unknown>(null);
  const remove = async () => {
    try {
      await removeRun(workspace, run.id);
    } catch (error) {
      if (!isGone(error)) return setFailure(error);
    }
    navigate(benchPath(workspace));
    queries.invalidateQueries({ queryKey: ["bench", workspace, "runs"] });
  };
  return (
    <Popup title="Remove this run?" open onClose={onClose}>
      <p>
        Its scores and what each method found are removed. Your questions stay, and can be measured again.
      </p>
      {failure !== null && <Failed error={failure} />}
      <div className={styles.buttons}>
        <Button className="primary" onPress={remove}>
          Remove
        </Button>
        <Button onPress={onClose} autoFocus>
          Cancel
        </Button>
      </div>
    </Popup>
  );
}
