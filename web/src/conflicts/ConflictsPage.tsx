// Where documents state different values of a relation that has only one.
import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useParams } from "react-router";
import { FilterBar } from "../ask/FilterBar";
import { filterQuery, useFilter } from "../ask/useFilter";
import { entityPath } from "../entity/address";
import { Quotes } from "../entity/Quotes";
import type { Quote, Span } from "../entity/sentences";
import { useTitle } from "../shell/useTitle";
import { viewPath } from "../shell/views";
import { counted } from "../text/words";
import { SameAs } from "../ui/SameAs";
import { ShowMore } from "../ui/ShowMore";
import { Empty, Failed, Loading } from "../ui/States";
import styles from "./ConflictsPage.module.css";
import { type Conflict, conflictsQuery, type Side } from "./queries";

export function ConflictsPage() {
  const { ws = "" } = useParams();
  const passing = useFilter();
  const { text, keep } = passing;
  useTitle("Conflicts", ws);
  const found = useInfiniteQuery(conflictsQuery(ws, text));
  const conflicts = found.data?.pages.flatMap((page) => page.items) ?? [];
  const request = new URLSearchParams({ limit: "20", ...filterQuery(text) });
  return (
    <div className={styles.page}>
      <header>
        <h1 tabIndex={-1}>Conflicts</h1>
        <p>
          Documents that state different values of a relation that has only one. The setting{" "}
          <code>functional_relations</code> names these relations.
        </p>
        <SameAs command="trueweave conflicts" request={`GET /v1/workspaces/${ws}/conflicts?${request}`} />
        <FilterBar passing={passing} />
      </header>
      {found.isPending && <Loading what="the conflicts" lines={6} />}
      {found.data && conflicts.length === 0 && (
        <Empty title="No conflicts">
          <p>
            No two documents state different values of a relation that the setting names. An administrator
            names them in <Link to={viewPath(ws, "settings/types")}>Settings, Types</Link>.
          </p>
        </Empty>
      )}
      {conflicts.map((one) => (
        <section key={`${one.subject} ${one.relation}`} className={styles.conflict}>
          <h2>
            <Link to={keep(entityPath(ws, one.subject))}>
              <bdi>{one.name}</bdi>
            </Link>{" "}
            <span className={styles.relation}>{one.relation}</span>
          </h2>
          <p className={styles.status}>
            {one.status === "contradiction" ? "Contradiction" : "May have changed"}
            {one.values > one.sides.length && `, ${one.values - one.sides.length} more values`}
          </p>
          <div className={styles.sides}>
            {one.sides.map((side) => (
              <Value
                key={side.entity}
                workspace={ws}
                conflict={one}
                side={side}
                path={keep(entityPath(ws, side.entity))}
              />
            ))}
          </div>
        </section>
      ))}
      {found.isError && <Failed error={found.error} again={() => found.refetch()} />}
      <ShowMore of={found} />
    </div>
  );
}

interface ValueProps {
  workspace: string;
  conflict: Conflict;
  side: Side;
  path: string;
}

/** One of the values, with what documents say of it. */
function Value({ workspace, conflict, side, path }: ValueProps) {
  const quotes = useMemo(
    () =>
      side.statements.map(
        (one): Quote => ({ ...one, textStart: one.text_start, spans: one.names as Span[] }),
      ),
    [side],
  );
  const date = side.date.slice(0, 10) || "no date";
  return (
    <section className={styles.side}>
      <h3>
        <Link to={path}>
          <bdi>{side.name}</bdi>
        </Link>
      </h3>
      <p className={styles.status}>
        {date}
        {side.entity === conflict.newest && ", newest"}, {counted(side.documents, "document")}
      </p>
      <Quotes workspace={workspace} quotes={quotes} />
    </section>
  );
}
