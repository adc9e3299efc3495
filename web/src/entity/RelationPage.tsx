// A relation: its ends, what is known about it, and every statement of it in its sentence.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useParams } from "react-router";
import { FilterBar } from "../ask/FilterBar";
import { filterQuery, type Passing, useFilter } from "../ask/useFilter";
import { Correct } from "../review/CorrectDialog";
import { nameOf } from "../review/queries";
import { useShortcuts } from "../shell/shortcuts";
import { useTitle } from "../shell/useTitle";
import { counted, number, shortened } from "../text/words";
import { CopyButton } from "../ui/CopyButton";
import { Folded } from "../ui/Folded";
import { SameAs } from "../ui/SameAs";
import { ShowMore } from "../ui/ShowMore";
import { Failed, Loading } from "../ui/States";
import { entityPath, graphPath } from "./address";
import { focusMention } from "./EntityPage";
import styles from "./EntityPage.module.css";
import { Gone } from "./Gone";
import { Quotes } from "./Quotes";
import { isDirected, isGone, type Relation, relationQuery, type Statement, statementsQuery } from "./queries";
import type { Quote, Span } from "./sentences";

const DESCRIPTION = 500; // characters shown at first

export function RelationPage() {
  const { ws = "", id = "" } = useParams();
  const passing = useFilter();
  const relation = useQuery(relationQuery(ws, id, passing.text));
  if (isGone(relation.error)) return <Gone workspace={ws} what="relation" />;
  if (relation.isError) return <Failed error={relation.error} again={() => relation.refetch()} />;
  if (!relation.data) return <Loading what="the relation" lines={8} />;
  return <Contents key={id} workspace={ws} relation={relation.data} passing={passing} />;
}

interface Props {
  workspace: string;
  relation: Relation;
  passing: Passing;
}

function Contents({ workspace, relation, passing }: Props) {
  const { text, keep } = passing;
  const { source_name: source, target_name: target } = relation;
  const between = isDirected(relation) ? "to" : "and";
  useTitle(`${shortened(source, 40)} ${between} ${shortened(target, 40)}`, workspace);
  useShortcuts({ n: () => focusMention(1), p: () => focusMention(-1) });
  const words = [relation.type, ...relation.keywords.filter((one) => one.toLowerCase() !== relation.type)];
  return (
    <div className={styles.single}>
      <header className={styles.head}>
        <h1 tabIndex={-1} className={styles.ends}>
          <Link to={keep(entityPath(workspace, relation.source))}>
            <bdi>{source}</bdi>
          </Link>{" "}
          <span aria-hidden="true">{isDirected(relation) ? "→" : "–"}</span>
          <span className="visually-hidden">{between}</span>{" "}
          <Link to={keep(entityPath(workspace, relation.target))}>
            <bdi>{target}</bdi>
          </Link>
        </h1>
        <p className={styles.about}>
          {words.filter(Boolean).length > 0 && (
            <span className={styles.type}>{words.filter(Boolean).join(", ")}</span>
          )}
          <span>weight {number(Math.round(relation.weight * 10) / 10)}</span>
          <span>{counted(relation.count, "statement")}</span>
        </p>
        <Folded
          text={relation.summary || relation.description}
          most={DESCRIPTION}
          className={styles.description}
        />
        <div className={styles.actions}>
          <Link className="quiet" to={keep(graphPath(workspace, relation.source))}>
            Show in the graph
          </Link>
          <Correct
            workspace={workspace}
            what="relation"
            now={{
              name: source,
              type: relation.type,
              description: relation.summary || relation.description,
            }}
            findNames={async () => [
              await nameOf(workspace, relation.source, [source]),
              await nameOf(workspace, relation.target, [target]),
            ]}
          />
          <CopyButton label="Copy link" text={() => location.href} />
          <SameAs
            command={{
              none: "There is no command for one relation. `trueweave entity NAME` lists the relations of an entity.",
            }}
            request={`GET /v1/workspaces/${workspace}/relation/statements?${new URLSearchParams({ id: relation.id, ...filterQuery(text) })}`}
          />
        </div>
        <FilterBar passing={passing} />
      </header>
      <Statements workspace={workspace} id={relation.id} filter={text} />
    </div>
  );
}

interface StatedQuote extends Quote {
  statement: Statement;
}

interface StatementsProps {
  workspace: string;
  id: string;
  filter: string;
}

function Statements({ workspace, id, filter }: StatementsProps) {
  const found = useInfiniteQuery(statementsQuery(workspace, id, filter));
  const quotes = useMemo(
    () =>
      (found.data?.pages.flatMap((page) => page.items) ?? []).map(
        (statement): StatedQuote => ({
          ...statement,
          textStart: statement.text_start,
          spans: statement.names as Span[],
          statement,
        }),
      ),
    [found.data],
  );
  if (isGone(found.error)) return <Gone workspace={workspace} what="relation" />;
  return (
    <section className={styles.mentions} aria-labelledby="statements">
      <h2 id="statements">Statements</h2>
      {found.isPending && <Loading what="the statements" lines={6} />}
      {found.data && quotes.length === 0 && <p>No document states it any more.</p>}
      <Quotes
        workspace={workspace}
        quotes={quotes}
        below={({ statement }) => <StatedAs statement={statement} />}
      />
      {found.isError && <Failed error={found.error} again={() => found.refetch()} />}
      <ShowMore of={found} />
    </section>
  );
}

/** What was extracted from a sentence. */
function StatedAs({ statement }: { statement: Statement }) {
  const { source, target, description, keywords, strength } = statement;
  return (
    <p className={styles.stated}>
      <bdi>{shortened(source, 80)}</bdi> <span aria-hidden="true">→</span>
      <span className="visually-hidden">to</span> <bdi>{shortened(target, 80)}</bdi>
      {keywords.length > 0 && ` · ${shortened(keywords.join(", "), 160)}`} · strength {number(strength)}
      {description && <span dir="auto">{shortened(description, 400)}</span>}
    </p>
  );
}
