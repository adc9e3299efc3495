// The states of a view without contents: empty, loading, failed.
import { type ReactNode, useEffect, useState } from "react";
import { Button } from "react-aria-components";
import { asProblem } from "../api/client";
import { loginPath } from "../api/session";
import styles from "./States.module.css";

/** Says what is missing, and how to get it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={styles.state}>
      <p className={styles.title}>{title}</p>
      {children}
    </div>
  );
}

/** Grey lines in the place of text that is being loaded. */
export function Loading({ what, lines = 3 }: { what: string; lines?: number }) {
  return (
    <div role="status" className={styles.loading}>
      <span className="visually-hidden">Loading {what}</span>
      {Array.from({ length: lines }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike
        <i key={at} aria-hidden="true" />
      ))}
    </div>
  );
}

interface FailedProps {
  error: unknown;
  again?: () => void;
  /** Whether this is the login page, which needs no link to itself. */
  isLogin?: boolean;
}

/** Says what went wrong and what to do next, and tries again. If the server asks to wait, it counts down first. */
export function Failed({ error, again, isLogin = false }: FailedProps) {
  const problem = asProblem(error);
  const near = problem.near.filter((name) => !problem.message.includes(name));
  const wait = useCountdown(problem.retryAfter ?? 0);
  return (
    <div role="alert" className={`${styles.state} ${styles.failed}`}>
      <p className={styles.title}>{sentence(problem.message)}</p>
      {problem.nextStep && <p>{problem.nextStep}</p>}
      {near.length > 0 && <p>Similar: {near.join(", ")}</p>}
      {problem.status === 401 && !isLogin && (
        <p>
          <a href={`/ui${loginPath(location.pathname.replace(/^\/ui/, "") + location.search)}`}>Log in</a>
        </p>
      )}
      {again && (
        <Button onPress={again} isDisabled={wait > 0}>
          {wait > 0 ? `Try again in ${wait} s` : "Try again"}
        </Button>
      )}
      {problem.requestId && (
        <p className="muted">
          Request id: <code>{problem.requestId}</code>
        </p>
      )}
    </div>
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function useCountdown(seconds: number): number {
  const [left, setLeft] = useState(seconds);
  useEffect(() => setLeft(seconds), [seconds]);
  useEffect(() => {
    if (left <= 0) return;
    const timer = setTimeout(() => setLeft(left - 1), 1000);
    return () => clearTimeout(timer);
  }, [left]);
  return left;
}
