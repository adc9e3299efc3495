// Two methods compared question by question: of one run, or of two.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Link, useNavigate } from "react-router";
import { useShortcuts } from "../shell/shortcuts";
import { IN_PLACE } from "../shell/views";
import { counted, moment, number } from "../text/words";
import { CopyButton } from "../ui/CopyButton";
import { SameAs } from "../ui/SameAs";
import { ShowMore } from "../ui/ShowMore";
import { Failed, Loading } from "../ui/States";
import { FOUND_BY, type FoundBy, type RunState, runPath } from "./address";
import styles from "./Bench.module.css";
import { nameOf } from "./BenchPage";
import { DifferencePlot } from "./IntervalPlot";
import { QuestionDetail } from "./QuestionDetail";
import { compareQuery, type Run, runQuery, runsQuery, type Sides } from "./queries";
import { GoneRun, isGone } from "./RunPage";
import { between, percent, points } from "./words";

const LABELS: Record<FoundBy, string> = {
  a: "A found more",
  b: "B found more",
  both: "Both found the same",
  neither: "Neither found any",
};

interface Props {
  workspace: string;
  run: Run;
  state: RunState;
  measure: string;
}

export function Comparison({ workspace, run, state, measure }: Props) {
  const other = useQuery({ ...runQuery(workspace, state.other), enabled: state.other !== "" });
  if (state.other && other.isError)
    return isGone(other.error) ? (
      <GoneRun workspace={workspace} />
    ) : (
      <Failed error={other.error} again={() => other.refetch()} />
    );
  const second = state.other ? other.data : run;
  if (!second) return <Loading what="the other run" />;
  const a = nameIn(run, state.a) ?? run.methods[0]?.name ?? "";
  const usual = state.other ? a : run.methods.find((one) => one.name !== a)?.name;
  const b = nameIn(second, state.b) ?? (usual && nameIn(second, usual)) ?? second.methods[0]?.name ?? "";
  const sides = { run_a: run.id, method_a: a, run_b: second.id, method_b: b, measure };
  return (
    <section aria-label="Comparison" className={styles.page}>
      <Choice workspace={workspace} run={run} second={second} state={state} measure={measure} a={a} b={b} />
      <Compared workspace={workspace} run={run} second={second} state={state} sides={sides} />
    </section>
  );
}

const nameIn = (run: Run, method: string): string | undefined =>
  run.methods.find((one) => one.name === method)?.name;

interface ChoiceProps extends Props {
  second: Run;
  a: string;
  b: string;
}

/** The methods of both sides, the run of B, and the measure. */
function Choice({ workspace, run, second, state, measure, a, b }: ChoiceProps) {
  const navigate = useNavigate();
  const runs = useInfiniteQuery(runsQuery(workspace));
  const listed = (runs.data?.pages.flatMap((page) => page.items) ?? []).filter(({ id }) => id !== run.id);
  const others =
    second.id === run.id || listed.some(({ id }) => id === second.id) ? listed : [second, ...listed];
  const go = (to: Partial<RunState>) =>
    navigate(runPath(workspace, run.id, { ...state, a, b, question: null, ...to }), IN_PLACE);
  return (
    <div className={styles.sides}>
      <label>
        <span>A</span>
        <select value={a} onChange={(event) => go({ a: event.target.value })}>
          {run.methods.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        <span>B</span>
        <select value={b} onChange={(event) => go({ b: event.target.value })}>
          {second.methods.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      {others.length > 0 && (
        <label>
          <span>B is from</span>
          <select value={state.other} onChange={(event) => go({ other: event.target.value })}>
            <option value="">this run</option>
            {others.map((one) => (
              <option key={one.id} value={one.id}>
                {nameOf(one)}, {moment(one.made)}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        <span>Measure</span>
        <select value={measure} onChange={(event) => go({ measure: event.target.value })}>
          {run.measures.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
    </div>
  );
}

interface ComparedProps {
  workspace: string;
  run: Run;
  second: Run;
  state: RunState;
  sides: Sides;
}

function Compared({ workspace, run, second, state, sides }: ComparedProps) {
  const found = useInfiniteQuery(compareQuery(workspace, sides, state.found));
  const navigate = useNavigate();
  const list = useRef<HTMLOListElement>(null);
  const questions = found.data?.pages.flatMap((page) => page.questions) ?? [];
  const at = questions.findIndex((one) => one.n_a === state.question);
  const address = (to: Partial<RunState>) => runPath(workspace, run.id, { ...state, ...to });
  const open = (next: number) => {
    const one = questions[next];
    if (!one) return;
    navigate(address({ question: one.n_a }), IN_PLACE);
  };
  useShortcuts(
    questions.length === 0
      ? {}
      : {
          j: () => open(at + 1),
          k: () => open(at < 0 ? questions.length - 1 : at - 1),
          Escape: () => navigate(address({ question: null }), IN_PLACE),
        },
  );
  // An address may name a question that is on a later page.
  const isLater = state.question !== null && at < 0 && found.hasNextPage && !found.isFetching;
  useEffect(() => {
    if (isLater) found.fetchNextPage();
  }, [isLater, found.fetchNextPage]);
  useEffect(() => {
    if (at >= 0) list.current?.children[at]?.scrollIntoView({ block: "nearest" });
  }, [at]);

  if (found.isError)
    return isGone(found.error) ? (
      <GoneRun workspace={workspace} />
    ) : (
      <Failed error={found.error} again={() => found.refetch()} />
    );
  const first = found.data?.pages[0];
  if (!first) return <Loading what="the comparison" lines={6} />;
  const isSame = sides.run_a === sides.run_b && sides.method_a === sides.method_b;
  const all = FOUND_BY.reduce((sum, one) => sum + (first.counts[one] ?? 0), 0);
  const query = new URLSearchParams({ ...sides, ...(state.found ? { found_by: state.found } : {}) });
  return (
    <>
      {isSame ? (
        <p className={styles.note}>
          A and B are the same. Choose two methods, or the same method in another run, to see where they
          differ.
        </p>
      ) : (
        <div>
          <p className={styles.verdict} role="status">
            {first.verdict}
          </p>
          <p className={styles.facts}>
            <span>
              A {percent(first.a.score.mean)} ({between(first.a.score)})
            </span>
            <span>
              B {percent(first.b.score.mean)} ({between(first.b.score)})
            </span>
            <span>
              A − B {points(first.difference.mean)} ({points(first.difference.low)} to{" "}
              {points(first.difference.high)})
            </span>
          </p>
          <DifferencePlot {...first.difference} />
        </div>
      )}
      {first.unpaired > 0 && (
        <p className={styles.note}>
          {counted(first.unpaired, "question is", "questions are")} left out: in only one of the two runs, or
          with other right passages there.
        </p>
      )}
      <nav aria-label="Questions by who found their passages" className={styles.filters}>
        <Link
          to={address({ found: null, question: null })}
          replace
          preventScrollReset
          aria-current={state.found === null ? "page" : undefined}
        >
          All ({number(all)})
        </Link>
        {FOUND_BY.map((one) => (
          <Link
            key={one}
            to={address({ found: one, question: null })}
            replace
            preventScrollReset
            aria-current={state.found === one ? "page" : undefined}
          >
            {LABELS[one]} ({number(first.counts[one] ?? 0)})
          </Link>
        ))}
      </nav>
      {questions.length === 0 && <p className="muted">No question is like that.</p>}
      {state.question !== null && at < 0 && !found.hasNextPage && !found.isFetching && (
        <p className={styles.note}>
          The question of this address is not in this list. Choose another filter.
        </p>
      )}
      <ol className={styles.questions} ref={list}>
        {questions.map((one) => {
          const isOpen = one.n_a === state.question;
          return (
            <li key={one.n_a}>
              <Link
                to={address({ question: isOpen ? null : one.n_a })}
                replace
                preventScrollReset
                role="button"
                aria-expanded={isOpen}
                className={styles.asked}
              >
                <bdi>{one.question}</bdi>
                <span className={styles.scores}>
                  A {percent(one.a)} · B {percent(one.b)}
                </span>
              </Link>
              {isOpen && (
                <QuestionDetail
                  workspace={workspace}
                  measure={sides.measure}
                  a={{ run: run.id, n: one.n_a, method: sides.method_a }}
                  b={{ run: second.id, n: one.n_b, method: sides.method_b }}
                />
              )}
            </li>
          );
        })}
      </ol>
      <ShowMore of={found} />
      <div className={styles.actions}>
        <CopyButton label="Copy link" text={() => location.href} />
        <SameAs
          command={{
            none: "The report of `trueweave bench` shows the questions on which methods differ most.",
          }}
          request={`GET /v1/workspaces/${workspace}/bench/compare?${query}`}
        >
          <CopyButton label="Copy the response" text={() => JSON.stringify(first, null, 2)} />
        </SameAs>
      </div>
    </>
  );
}
