// What is being processed: stage, rate, time left, spending, and what it waits for.
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "react-aria-components";
import { Link } from "react-router";
import type { Activity, Heard } from "../api/activity";
import { asProblem } from "../api/client";
import { spend as spendQuery } from "../api/queries";
import { viewPath } from "../shell/views";
import { counted, money, number, timeLeft } from "../text/words";
import styles from "./DocumentsPage.module.css";

interface Props {
  workspace: string;
  heard: Heard & { again: () => void };
  /** Whether files have just been added here. */
  hasAdded: boolean;
  /** Queues all failed documents again; null if the caller may only read. */
  onRetry: (() => void) | null;
  onShowFailed: () => void;
}

export function ActivityLine({ workspace, heard, hasAdded, onRetry, onShowFailed }: Props) {
  const { activity, error, again } = heard;
  const most = useMost(activity);
  const pending = activity ? pendingOf(activity) : 0;
  const isFinished = activity !== null && pending === 0 && (most > 0 || hasAdded);
  const hasSpent = activity !== null && (activity.tokens > 0 || activity.price_cap !== null);
  if (error === null && !pending && !isFinished && !hasSpent && !activity?.failed) return null;
  return (
    <section className={`card ${styles.activity}`} aria-label="Progress">
      {error !== null && <Interrupted error={error} again={again} />}
      {activity && pending > 0 && <Pending activity={activity} most={most} />}
      {isFinished && (
        <p role="status">
          All documents are indexed. <Link to={viewPath(workspace, "ask")}>Ask a question about them</Link>
        </p>
      )}
      {activity && activity.failed > 0 && (
        <div className={styles.failures}>
          <p>{counted(activity.failed, "document")} failed.</p>
          <Button className="quiet" onPress={onShowFailed}>
            Show why
          </Button>
          {onRetry && (
            <Button className="quiet" onPress={onRetry}>
              Retry all
            </Button>
          )}
        </div>
      )}
      {activity && hasSpent && <Spending workspace={workspace} activity={activity} />}
    </section>
  );
}

const pendingOf = ({ waiting, indexing, descriptions }: Activity): number =>
  waiting + indexing + descriptions;

/** The most that was pending since the queue was last empty. */
function useMost(activity: Activity | null): number {
  const most = useRef({ pending: 0, before: 0 });
  if (activity) {
    const pending = pendingOf(activity);
    if (pending > 0 && most.current.before === 0) most.current.pending = 0; // a new run
    most.current = { pending: Math.max(most.current.pending, pending), before: pending };
  }
  return most.current.pending;
}

/** What the queue waits for, in words. */
export const WAITS_FOR: Record<Activity["waits_for"], ReactNode> = {
  "": null,
  worker: (
    <>
      No worker is running. Start one with <code>trueweave worker</code>.
    </>
  ),
  budget: (
    <>
      The budget of the workspace is used up. Raise it with <code>trueweave budget</code>.
    </>
  ),
  retry: "Model calls failed. They are tried again by themselves.",
};
const LASTING = 5_000; // milliseconds after which it is said what the queue waits for

/** A value once it has lasted. A document waits for a worker for a moment, until the worker has seen it. */
export function useLasting<T extends string>(value: T): T | "" {
  const [lasting, setLasting] = useState<T | "">("");
  useEffect(() => {
    if (!value) return setLasting("");
    const timer = setTimeout(() => setLasting(value), LASTING);
    return () => clearTimeout(timer);
  }, [value]);
  return lasting === value ? lasting : "";
}

function Pending({ activity, most }: { activity: Activity; most: number }) {
  const { waiting, indexing, descriptions, per_minute, seconds_left, waits_for } = activity;
  const lasting = useLasting(waits_for);
  const parts = [
    waiting > 0 && `${counted(waiting, "document")} waiting`,
    indexing > 0 && `${number(indexing)} being indexed`,
    descriptions > 0 && `${counted(descriptions, "description")} being summarised`,
    per_minute > 0 && `${number(per_minute)} a minute`,
    waiting > 0 && seconds_left !== null && `${timeLeft(seconds_left)} left`,
  ].filter(Boolean);
  return (
    <>
      <progress
        className={styles.progress}
        value={most - pendingOf(activity)}
        max={most}
        aria-label="Processed"
      />
      <p role="status">{parts.join(" · ")}</p>
      {lasting && <p className={styles.waits}>{WAITS_FOR[lasting]}</p>}
    </>
  );
}

function Spending({ workspace, activity }: { workspace: string; activity: Activity }) {
  const { data } = useQuery(spendQuery(workspace));
  if (!data) return null;
  const { price, price_cap, token_cap, tokens } = activity;
  const ofMoney = `${money(price, data.currency)}${price_cap === null ? "" : ` of ${money(price_cap, data.currency)}`}`;
  const ofTokens = `${number(tokens)}${token_cap === null ? "" : ` of ${number(token_cap)}`} tokens`;
  return (
    <details className={styles.spending}>
      <summary>
        Spent on models: {ofMoney}, {ofTokens}
      </summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Stage</th>
            <th scope="col">Model</th>
            <th scope="col">Calls</th>
            <th scope="col">Tokens in, out</th>
            <th scope="col">Price</th>
          </tr>
        </thead>
        <tbody>
          {data.receipt.map((one) => (
            <tr key={`${one.stage} ${one.model}`}>
              <td>{one.stage}</td>
              <td>{one.model}</td>
              <td>{number(one.calls)}</td>
              <td>
                {number(one.tokens_in)}, {number(one.tokens_out)}
              </td>
              <td>{money(one.price, data.currency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/** The stream is interrupted; unless the server refuses it, it is opened again by itself. */
function Interrupted({ error, again }: { error: unknown; again: () => void }) {
  const problem = asProblem(error);
  return (
    <div className={styles.failures} role="alert">
      <p>Progress is not shown at the moment: {problem.message} It is tried again by itself.</p>
      <Button className="quiet" onPress={again}>
        Try now
      </Button>
    </div>
  );
}
