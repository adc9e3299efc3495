import { CircleAlert, CircleCheck, CircleOff, Clock, LoaderCircle } from "lucide-react";
import { Button } from "react-aria-components";
import { Link } from "react-router";
import type { Schemas } from "../api/client";
import { documentPath } from "../reader/address";
import { counted, number } from "../text/words";
import { ReadBy } from "../ui/ReadBy";
import { STATES, type WorkState } from "./address";
import styles from "./DocumentsPage.module.css";

export type Listed = Schemas["DocumentInfo"];

interface Props {
  workspace: string;
  rows: Listed[];
  selected: ReadonlySet<string>;
  /** Null if the caller may only read. */
  onSelect: ((to: ReadonlySet<string>) => void) | null;
  onRetry: ((uri: string) => void) | null;
}

/** The documents with their states. */
export function DocumentTable({ workspace, rows, selected, onSelect, onRetry }: Props) {
  const isAll = rows.every((one) => selected.has(one.uri));
  const toggle = (uri: string, on: boolean) => {
    const to = new Set(selected);
    if (on) to.add(uri);
    else to.delete(uri);
    onSelect?.(to);
  };
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          {onSelect && (
            <th scope="col" className={styles.check}>
              <label>
                <input
                  type="checkbox"
                  aria-label="Select all that are shown"
                  checked={isAll}
                  onChange={(event) =>
                    onSelect(new Set(event.target.checked ? rows.map((one) => one.uri) : []))
                  }
                />
              </label>
            </th>
          )}
          <th scope="col">Document</th>
          <th scope="col">State</th>
          <th scope="col" className={`${styles.wide} ${styles.count}`}>
            Chunks
          </th>
          <th scope="col" className={styles.wide}>
            Added
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((one) => (
          <tr key={one.uri} data-selected={selected.has(one.uri) || undefined}>
            {onSelect && (
              <td className={styles.check}>
                <label>
                  <input
                    type="checkbox"
                    aria-label={`Select ${one.uri}`}
                    checked={selected.has(one.uri)}
                    onChange={(event) => toggle(one.uri, event.target.checked)}
                  />
                </label>
              </td>
            )}
            <td>
              <Name workspace={workspace} document={one} /> <ReadBy groups={one.readers ?? []} />
              <span className={styles.narrow}>
                {counted(one.chunks, "chunk")} · <Added at={one.added} />
              </span>
              {one.error && (
                <p className={styles.reason}>
                  {one.error}{" "}
                  {one.state === "failed" && onRetry && (
                    <Button className={`quiet ${styles.retry}`} onPress={() => onRetry(one.uri)}>
                      Retry
                    </Button>
                  )}
                </p>
              )}
              {one.notes.map((note) => (
                <p key={note} className={styles.note}>
                  {note}
                </p>
              ))}
            </td>
            <td>
              <State state={one.state} />
            </td>
            <td className={`${styles.wide} ${styles.count}`}>{number(one.chunks)}</td>
            <td className={styles.wide}>
              <Added at={one.added} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The title, or else the uri. It leads to the text, as far as that is in the index. */
function Name({
  workspace,
  document: { uri, title, state, chunks },
}: {
  workspace: string;
  document: Listed;
}) {
  const shown = <bdi>{title || uri}</bdi>;
  const isReadable = state === "indexed" || (state !== "indexing" && state !== "off" && chunks > 0);
  return (
    <span className={styles.name}>
      {isReadable ? <Link to={documentPath(workspace, uri)}>{shown}</Link> : shown}
      {title && title !== uri && (
        <code>
          <bdi>{uri}</bdi>
        </code>
      )}
    </span>
  );
}

const ICONS = {
  indexed: CircleCheck,
  waiting: Clock,
  indexing: LoaderCircle,
  failed: CircleAlert,
  off: CircleOff,
};

function State({ state }: { state: WorkState }) {
  const Icon = ICONS[state];
  return (
    <span className={styles.state} data-state={state}>
      <Icon size={16} aria-hidden="true" /> {STATES[state]}
    </span>
  );
}

const DAY = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });
const TIME = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });
const FULL = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "medium" });

/** The time for today, the day for all others. */
function Added({ at }: { at: string }) {
  const added = new Date(at);
  const isToday = DAY.format(added) === DAY.format(new Date());
  return (
    <time dateTime={at} title={FULL.format(added)}>
      {isToday ? `today, ${TIME.format(added)}` : DAY.format(added)}
    </time>
  );
}
