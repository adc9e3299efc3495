// What changed in the evidence of watches, the latest first.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "react-aria-components";
import { Link, useParams, useSearchParams } from "react-router";
import { PlainMarkdown } from "../ask/AnswerText";
import { quoted } from "../ask/forms";
import { documentPath } from "../reader/address";
import { useTitle } from "../shell/useTitle";
import { counted, moment, number } from "../text/words";
import { Folded } from "../ui/Folded";
import { SameAs } from "../ui/SameAs";
import { Empty, Failed, Loading } from "../ui/States";
import { alertsPath } from "./address";
import { type Alert, type AlertPassage, alertsQuery, MOST } from "./queries";
import styles from "./Watches.module.css";
import { WatchParts } from "./WatchParts";

const SHOWN = 20; // alerts at first
const FOLDED = 300; // characters of a text shown at first
const CHANGES = { added: "Added", removed: "Removed" } as const;
const DELIVERIES = {
  none: "",
  waiting: "It has not been sent to the webhook yet.",
  delivered: "It was sent to the webhook.",
  failed: "It was not sent: the webhook did not accept it.",
} as const;

export function AlertsPage() {
  const { ws = "" } = useParams();
  const [params] = useSearchParams();
  const watch = params.get("watch") ?? "";
  useTitle("Alerts", ws);
  return <Alerts key={`${ws} ${watch}`} workspace={ws} watch={watch} />;
}

function Alerts({ workspace, watch }: { workspace: string; watch: string }) {
  const [limit, setLimit] = useState(SHOWN);
  const found = useQuery(alertsQuery(workspace, watch, limit));
  const request = new URLSearchParams({ ...(watch ? { watch } : {}), limit: String(limit) });
  const command = ["trueweave watch alerts", watch && quoted(watch), "--workspace", quoted(workspace)];
  return (
    <div className={styles.page}>
      <header>
        <div className={styles.head}>
          <h1 tabIndex={-1}>
            {watch ? (
              <>
                Alerts of <bdi>{watch}</bdi>
              </>
            ) : (
              "Alerts"
            )}
          </h1>
          <WatchParts workspace={workspace} part="alerts" />
        </div>
        {watch && (
          <p>
            <Link to={alertsPath(workspace)}>Show the alerts of all watches</Link>
          </p>
        )}
        <div className={styles.same}>
          <SameAs
            command={command.filter(Boolean).join(" ")}
            request={`GET /v1/workspaces/${workspace}/watches/alerts?${request}`}
          />
        </div>
      </header>
      {found.isPending && <Loading what="the alerts" lines={6} />}
      {found.isError && <Failed error={found.error} again={() => found.refetch()} />}
      {found.data && <AlertList workspace={workspace} alerts={found.data} />}
      {found.data && found.data.length >= limit && limit < MOST && (
        <Button onPress={() => setLimit(Math.min(MOST, 2 * limit))} isDisabled={found.isPlaceholderData}>
          Show more
        </Button>
      )}
    </div>
  );
}

/** The alerts. Those that were made since the page was opened are marked. */
export function AlertList({ workspace, alerts }: { workspace: string; alerts: Alert[] }) {
  const [last] = useState(() => alerts[0]?.id ?? 0);
  const fresh = alerts.filter((one) => one.id > last).length;
  return (
    <>
      <p role="status" className={styles.done}>
        {fresh > 0 && `${counted(fresh, "new alert")} since the page was opened.`}
      </p>
      {alerts.length === 0 ? (
        <Empty title="No alerts" />
      ) : (
        <ul className={styles.list} aria-label="Alerts">
          {alerts.map((one) => (
            <li key={one.id} className={styles.card}>
              <AlertCard workspace={workspace} alert={one} isNew={one.id > last} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function AlertCard({ workspace, alert, isNew }: { workspace: string; alert: Alert; isNew: boolean }) {
  const kept = alert.passages.filter((one) => one.change === "kept").length;
  return (
    <>
      <h2>
        <Link to={alertsPath(workspace, alert.watch)}>
          <bdi>{alert.watch}</bdi>
        </Link>
        {isNew && <span className={styles.new}>New</span>}
      </h2>
      <p className={styles.question} dir="auto">
        {alert.question}
      </p>
      <p className={styles.facts}>
        <time dateTime={alert.at}>{moment(alert.at)}</time>
        <span>{countsOf(alert)}</span>
        {kept > 0 && <span>{number(kept)} unchanged</span>}
      </p>
      {alert.answer && (
        <section aria-label="Answer" className={styles.answer}>
          <PlainMarkdown text={alert.answer} />
        </section>
      )}
      {alert.problem && <p className={styles.note}>No answer: {alert.problem}</p>}
      {DELIVERIES[alert.delivery] && (
        <p className={alert.delivery === "failed" ? styles.note : styles.facts}>
          {DELIVERIES[alert.delivery]}
        </p>
      )}
      <ul className={styles.passages} aria-label="Passages">
        {alert.passages.map(
          (one, at) =>
            one.change !== "kept" && (
              // biome-ignore lint/suspicious/noArrayIndexKey: the passages of an alert keep their order
              <li key={at}>
                <Passage workspace={workspace} passage={one} change={one.change} />
              </li>
            ),
        )}
      </ul>
    </>
  );
}

/** "2 passages added, 1 removed". */
export const countsOf = (alert: Alert): string =>
  alert.is_first
    ? `found ${counted(alert.added, "passage")} when it was added`
    : `${counted(alert.added, "passage")} added, ${number(alert.removed)} removed`;

interface PassageProps {
  workspace: string;
  passage: AlertPassage;
  change: keyof typeof CHANGES;
}

function Passage({ workspace, passage, change }: PassageProps) {
  const { uri, title, date, start, text, is_indexed: isIndexed } = passage;
  return (
    <>
      <p className={styles.source}>
        <span className={styles[change]}>{CHANGES[change]}</span>
        {uri === "" ? (
          <span className="muted">a document that was removed, or cannot be read any more</span>
        ) : isIndexed ? (
          <Link to={documentPath(workspace, uri, start, start + [...text].length)}>
            <bdi>{title || uri}</bdi>
          </Link>
        ) : (
          <bdi>{title || uri}</bdi>
        )}
        {date && <time dateTime={date}>{date.slice(0, 10)}</time>}
      </p>
      {text && (
        <blockquote>
          <Folded text={text} most={FOLDED} />
        </blockquote>
      )}
    </>
  );
}
