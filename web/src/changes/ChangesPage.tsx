// What is different between two times: documents, entities and relations, with passages on both sides.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { Button } from "react-aria-components";
import { Link, useParams, useSearchParams } from "react-router";
import type { Schemas } from "../api/client";
import { showPast, usePast } from "../api/past";
import { history } from "../api/queries";
import { placeOf } from "../ask/Evidence";
import { quoted } from "../ask/forms";
import { documentPath } from "../reader/address";
import { useTitle } from "../shell/useTitle";
import { localTime, utcTime } from "../text/times";
import { moment, number } from "../text/words";
import { Folded } from "../ui/Folded";
import { SameAs } from "../ui/SameAs";
import { Empty, Failed, Loading } from "../ui/States";
import { firstTime, readTimes, type Times, writeTimes } from "./address";
import styles from "./ChangesPage.module.css";
import { type Change, changesQuery, MOST, type Passage } from "./queries";

const KINDS = { document: "Documents", entity: "Entities", relation: "Relations" } as const;
const CHANGES = { added: "Added", removed: "Removed", changed: "Changed" } as const;
const FOLDED = 300; // characters of a text shown at first

export function ChangesPage() {
  const { ws = "" } = useParams();
  useTitle("Changes", ws);
  const kept = useQuery(history(ws));
  const settings = kept.data?.settings;
  return (
    <div className={styles.page}>
      <header>
        <h1 tabIndex={-1}>Changes</h1>
        <p>What was added, removed or changed between two times.</p>
      </header>
      {kept.isPending && <Loading what="the history" lines={2} />}
      {kept.isError && <Failed error={kept.error} again={() => kept.refetch()} />}
      {kept.data && !settings && (
        <Empty title="This workspace keeps no history">
          <p>
            <code>trueweave history keep --workspace {quoted(ws)}</code> keeps it from then on: replaced and
            removed documents stay stored, and times since then can be compared.
          </p>
        </Empty>
      )}
      {settings && <Compared workspace={ws} settings={settings} />}
    </div>
  );
}

interface ComparedProps {
  workspace: string;
  settings: Schemas["HistorySettings"];
}

function Compared({ workspace, settings }: ComparedProps) {
  const [params, setParams] = useSearchParams();
  const given = readTimes(params);
  const first = firstTime(settings);
  const times = { ...given, since: given.since || first };
  const found = useQuery(changesQuery(workspace, times));
  const request = new URLSearchParams({ ...times, limit: String(MOST) });
  if (!times.until) request.delete("until");
  return (
    <>
      <Choice
        key={`${times.since} ${times.until}`}
        times={times}
        first={first}
        show={(next) => setParams(writeTimes(next))}
      />
      <div className={styles.same}>
        <SameAs
          command={["trueweave diff", times.since, times.until, "--workspace", quoted(workspace)]
            .filter(Boolean)
            .join(" ")}
          request={`GET /v1/workspaces/${workspace}/history/diff?${request}`}
        />
      </div>
      {found.isPending && (
        <>
          <p role="status">The index of that time is being built. This can take a minute or longer.</p>
          <Loading what="the changes" lines={6} />
        </>
      )}
      {found.isError && <Failed error={found.error} again={() => found.refetch()} />}
      {found.data && <Changes workspace={workspace} times={times} found={found.data} />}
    </>
  );
}

interface ChoiceProps {
  times: Times;
  first: string;
  show: (times: Times) => void;
}

function Choice({ times, first, show }: ChoiceProps) {
  const limits = { step: 1, min: localTime(first), max: localTime(new Date().toISOString()) };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    show({ since: utcTime(String(fields.get("since"))), until: utcTime(String(fields.get("until"))) });
  };
  return (
    <form className={styles.choice} onSubmit={submit}>
      <label>
        From
        <input type="datetime-local" name="since" {...limits} defaultValue={localTime(times.since)} />
      </label>
      <label>
        Until (now, if empty)
        <input
          type="datetime-local"
          name="until"
          {...limits}
          defaultValue={times.until && localTime(times.until)}
        />
      </label>
      <Button type="submit">Show changes</Button>
      <span className="muted">The first time that can be compared is {moment(first)}.</span>
    </form>
  );
}

interface ChangesProps {
  workspace: string;
  times: Times;
  found: Schemas["IndexDiff"];
}

function Changes({ workspace, times, found }: ChangesProps) {
  const count = (kind: string, change: string) => found.counts[kind]?.[change] ?? 0;
  const totals = Object.keys(KINDS).map((kind) =>
    Object.keys(CHANGES).reduce((sum, change) => sum + count(kind, change), 0),
  );
  if (totals.every((total) => total === 0))
    return (
      <Empty title="No changes">
        <p>Both indexes have the same documents, entities and relations.</p>
      </Empty>
    );
  return (
    <>
      <table className={styles.counts}>
        <caption className="visually-hidden">How many were added, removed and changed</caption>
        <thead>
          <tr>
            <td />
            {Object.values(CHANGES).map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Object.entries(KINDS).map(([kind, name]) => (
            <tr key={kind}>
              <th scope="row">{name}</th>
              {Object.keys(CHANGES).map((change) => (
                <td key={change}>{number(count(kind, change))}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {Object.entries(KINDS).map(([kind, name], at) => {
        const changes = found.changes.filter((one) => one.kind === kind);
        const total = totals[at] ?? 0;
        if (changes.length === 0) return null;
        return (
          <section key={kind} aria-labelledby={kind}>
            <h2 id={kind}>
              {name}{" "}
              {changes.length < total && (
                <span className={styles.count}>
                  the first {number(changes.length)} of {number(total)}
                </span>
              )}
            </h2>
            <ul className={styles.changes}>
              {changes.map((one) => (
                <ChangeLine key={`${one.change} ${one.name}`} workspace={workspace} times={times} one={one} />
              ))}
            </ul>
          </section>
        );
      })}
    </>
  );
}

interface LineProps {
  workspace: string;
  times: Times;
  one: Change;
}

function ChangeLine({ workspace, times, one }: LineProps) {
  return (
    <li>
      <h3>
        <span className={styles[one.change]}>{CHANGES[one.change]}</span> <bdi>{one.name}</bdi>
      </h3>
      <div className={styles.sides}>
        {one.change !== "added" && (
          <Side
            title="Before"
            workspace={workspace}
            at={times.since}
            said={one.before}
            passages={one.passages_before}
          />
        )}
        {one.change !== "removed" && (
          <Side
            title="After"
            workspace={workspace}
            at={times.until}
            said={one.after}
            passages={one.passages_after}
          />
        )}
      </div>
    </li>
  );
}

interface SideProps {
  title: string;
  workspace: string;
  /** The time of this side; empty for now. */
  at: string;
  said: string;
  passages: Passage[];
}

/** What is said on one side, and passages that say it. Their documents open as they were at that time. */
function Side({ title, workspace, at, said, passages }: SideProps) {
  const shown = usePast(workspace) ?? "";
  const queries = useQueryClient();
  const show = () => {
    if (shown === at) return;
    showPast(workspace, at ? new Date(at) : null);
    void queries.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== "changes" });
  };
  return (
    <div className={styles.side}>
      <h4>{title}</h4>
      {said && <Folded text={said} most={FOLDED} />}
      {passages.map((passage) => (
        <blockquote key={passage.id}>
          <Folded text={passage.text} most={FOLDED} />
          <Link
            to={documentPath(workspace, passage.uri, passage.start, passage.start + [...passage.text].length)}
            onClick={show}
          >
            {placeOf(passage)}
          </Link>
        </blockquote>
      ))}
    </div>
  );
}
