// One question of a comparison: its right passages, and what both sides found.
import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import { Link } from "react-router";
import { writeAddress as writeAsk } from "../ask/address";
import { writeAddress as writeCompare } from "../compare/address";
import { viewPath } from "../shell/views";
import { duration } from "../text/words";
import { Failed, Loading } from "../ui/States";
import styles from "./Bench.module.css";
import { PassageText } from "./PassageText";
import { type Outcome, outcomeQuery } from "./queries";
import { GoneRun, isGone } from "./RunPage";

interface Side {
  run: string;
  n: number;
  method: string;
}

interface Props {
  workspace: string;
  a: Side;
  b: Side;
  measure: string;
}

export function QuestionDetail({ workspace, a, b, measure }: Props) {
  const first = useQuery(outcomeQuery(workspace, a.run, a.n));
  const second = useQuery(outcomeQuery(workspace, b.run, b.n));
  const failed = [first, second].find((one) => one.isError);
  if (failed)
    return isGone(failed.error) ? (
      <GoneRun workspace={workspace} />
    ) : (
      <Failed error={failed.error} again={() => failed.refetch()} />
    );
  if (!first.data || !second.data) return <Loading what="the passages" />;
  const { question, passages } = first.data;
  const asked = writeAsk({ question, method: a.method });
  const methods = [...new Set([a.method, b.method])];
  const compared = writeCompare({
    question,
    choices: methods.map((method) => ({ method, parameters: {} })),
  });
  return (
    <div className={styles.open}>
      <section aria-label="Right passages">
        <h3>Right passages</h3>
        {passages.length === 0 && (
          <p className="muted">None are known; what was found is scored by its words.</p>
        )}
        <ul className={styles.passages}>
          {passages.map((passage, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a passage that is gone has no other name
            <li key={at} data-right>
              <PassageText workspace={workspace} passage={passage} />
            </li>
          ))}
        </ul>
      </section>
      <div className={styles.columns}>
        <Found workspace={workspace} label="A" method={a.method} measure={measure} outcome={first.data} />
        <Found workspace={workspace} label="B" method={b.method} measure={measure} outcome={second.data} />
      </div>
      <div className={styles.actions}>
        <Link className="quiet" to={`${viewPath(workspace, "ask")}?${asked}`}>
          Ask with {a.method}
        </Link>
        <Link className="quiet" to={`${viewPath(workspace, "compare")}?${compared}`}>
          Compare methods on it now
        </Link>
      </div>
    </div>
  );
}

interface FoundProps {
  workspace: string;
  label: string;
  method: string;
  measure: string;
  outcome: Outcome;
}

const SHORT = 160; // characters of a passage

function Found({ workspace, label, method, measure, outcome }: FoundProps) {
  const depth = Number(measure.split("@")[1] ?? Number.POSITIVE_INFINITY);
  const found = outcome.found.find((one) => one.method === method);
  if (!found) return null;
  return (
    <section aria-label={`Found by ${label}`}>
      <h3>
        {label}: {method}, {duration(found.seconds)}
      </h3>
      {found.passages.length === 0 && <p className="muted">It found nothing.</p>}
      <ol className={styles.passages}>
        {found.passages.map(({ passage, right }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a passage that is gone has no other name
          <Fragment key={at}>
            {at === depth && <li className={styles.cut}>From here on, nothing counts for {measure}.</li>}
            <li data-right={right || undefined}>
              <PassageText workspace={workspace} passage={passage} most={SHORT}>
                <span>{at + 1}</span>
                {right && <span className={styles.right}>✓ right</span>}
              </PassageText>
            </li>
          </Fragment>
        ))}
      </ol>
    </section>
  );
}
