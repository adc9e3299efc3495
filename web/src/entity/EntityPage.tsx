// An entity: what is known about it, its relations by weight, and every mention in its sentence.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { ArrowLeft, ArrowRight, Minus } from "lucide-react";
import { useMemo } from "react";
import { Button } from "react-aria-components";
import { Link, useParams, useSearchParams } from "react-router";
import { FilterBar } from "../ask/FilterBar";
import { filterWords, quoted } from "../ask/forms";
import { questionAbout } from "../ask/recent";
import { filterQuery, type Passing, useFilter } from "../ask/useFilter";
import { Correct } from "../review/CorrectDialog";
import { nameOf } from "../review/queries";
import { useShortcuts } from "../shell/shortcuts";
import { useTitle } from "../shell/useTitle";
import { viewPath } from "../shell/views";
import { counted, number, shortened } from "../text/words";
import { CopyButton } from "../ui/CopyButton";
import { Folded } from "../ui/Folded";
import { SameAs } from "../ui/SameAs";
import { ShowMore } from "../ui/ShowMore";
import { Failed, Loading } from "../ui/States";
import { entityPath, graphPath, relationPath } from "./address";
import styles from "./EntityPage.module.css";
import { Gone } from "./Gone";
import { Quotes } from "./Quotes";
import {
  countsQuery,
  type Entity,
  entityQuery,
  isDirected,
  isGone,
  mentionsQuery,
  type Relation,
  relationsQuery,
} from "./queries";
import { quotesOf } from "./sentences";

const DESCRIPTION = 500; // characters shown at first
const RELATION = 160;

export function EntityPage() {
  const { ws = "", id = "" } = useParams();
  const passing = useFilter();
  const entity = useQuery(entityQuery(ws, id, passing.text));
  if (isGone(entity.error)) return <Gone workspace={ws} what="entity" />;
  if (entity.isError) return <Failed error={entity.error} again={() => entity.refetch()} />;
  if (!entity.data) return <Loading what="the entity" lines={8} />;
  return <Contents key={id} workspace={ws} entity={entity.data} passing={passing} />;
}

interface PartProps {
  workspace: string;
  entity: Entity;
  passing: Passing;
}

function Contents({ workspace, entity, passing }: PartProps) {
  const { filter, text, keep } = passing;
  const aliases = entity.aliases.filter((one) => one !== entity.name);
  useTitle(shortened(entity.name, 80), workspace);
  useShortcuts({ n: () => focusMention(1), p: () => focusMention(-1) });
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1 tabIndex={-1} dir="auto">
          {entity.name}
        </h1>
        <p className={styles.about}>
          {entity.type && <span className={styles.type}>{entity.type}</span>}
          {aliases.length > 0 && (
            <span>
              also written{" "}
              {aliases.map((one, at) => (
                <span key={one}>
                  {at > 0 && ", "}
                  <bdi>{one}</bdi>
                </span>
              ))}
            </span>
          )}
        </p>
        <Folded
          text={entity.summary || entity.description}
          most={DESCRIPTION}
          className={styles.description}
        />
        <div className={styles.actions}>
          <Link className="quiet" to={keep(graphPath(workspace, entity.id))}>
            Show in the graph
          </Link>
          <Link
            className="quiet"
            to={keep(
              `${viewPath(workspace, "ask")}?${new URLSearchParams({ q: questionAbout(entity.name) })}`,
            )}
          >
            Ask about it
          </Link>
          <Correct
            workspace={workspace}
            what="entity"
            now={{ name: entity.name, type: entity.type, description: entity.summary || entity.description }}
            findNames={async () => [await nameOf(workspace, entity.id, [entity.name, ...entity.aliases])]}
          />
          <CopyButton label="Copy link" text={() => location.href} />
          <SameAs
            command={[
              "trueweave entity",
              entity.id,
              "--workspace",
              quoted(workspace),
              ...filterWords(filter),
            ].join(" ")}
            request={`GET /v1/workspaces/${workspace}/entity/mentions?${new URLSearchParams({ name: entity.id, ...filterQuery(text) })}`}
          />
        </div>
        <FilterBar passing={passing} />
      </header>
      <Relations workspace={workspace} entity={entity} passing={passing} />
      <Mentions workspace={workspace} id={entity.id} filter={text} />
    </div>
  );
}

/** Moves the focus to the next or the previous mention. */
export function focusMention(by: 1 | -1): void {
  const all = [...globalThis.document.querySelectorAll<HTMLElement>("main [data-mention]")];
  const at = all.indexOf(globalThis.document.activeElement as HTMLElement);
  const to = at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by;
  all[to]?.focus();
}

function Relations({ workspace, entity, passing }: PartProps) {
  const found = useInfiniteQuery(relationsQuery(workspace, entity.id, passing.text));
  const relations = found.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section className={styles.relations} aria-labelledby="relations">
      <h2 id="relations">
        Relations <span className={styles.count}>{number(entity.degree)}</span>
      </h2>
      {found.isPending && <Loading what="the relations" lines={4} />}
      {found.isError && <Failed error={found.error} again={() => found.refetch()} />}
      {found.data && relations.length === 0 && <p className="muted">It has no relations.</p>}
      <ul>
        {relations.map((one) => (
          <RelationLine
            key={one.id}
            workspace={workspace}
            entity={entity.id}
            relation={one}
            keep={passing.keep}
          />
        ))}
      </ul>
      <ShowMore of={found} />
    </section>
  );
}

interface RelationLineProps {
  workspace: string;
  entity: string;
  relation: Relation;
  keep: Passing["keep"];
}

function RelationLine({ workspace, entity, relation, keep }: RelationLineProps) {
  const isSource = relation.source === entity;
  const Arrow = !isDirected(relation) ? Minus : isSource ? ArrowRight : ArrowLeft;
  const said = relation.type || relation.keywords.join(", ");
  const description = relation.summary || relation.description;
  return (
    <li>
      <p className={styles.end}>
        <Arrow size={16} aria-label={isSource ? "to" : "from"} />
        <Link to={keep(entityPath(workspace, isSource ? relation.target : relation.source))}>
          <bdi>{shortened(isSource ? relation.target_name : relation.source_name, RELATION)}</bdi>
        </Link>
        <span className={styles.weight} title="Weight: the sum of the strengths of its statements">
          <span className="visually-hidden">weight </span>
          {number(Math.round(relation.weight * 10) / 10)}
        </span>
      </p>
      <p className={styles.said}>
        <Link to={keep(relationPath(workspace, relation.id))}>
          {shortened(said, RELATION) || counted(relation.count, "statement")}
        </Link>
        {description && <span dir="auto">{shortened(description, RELATION)}</span>}
      </p>
    </li>
  );
}

interface MentionsProps {
  workspace: string;
  id: string;
  filter: string;
}

function Mentions({ workspace, id, filter }: MentionsProps) {
  const [params, setParams] = useSearchParams();
  const document = params.get("doc") ?? "";
  const counts = useQuery(countsQuery(workspace, id, filter));
  const found = useInfiniteQuery(mentionsQuery(workspace, id, filter, document));
  const mentions = useMemo(() => found.data?.pages.flatMap((page) => page.items) ?? [], [found.data]);
  const quotes = useMemo(() => quotesOf(mentions), [mentions]);
  const choose = (uri: string) =>
    setParams({ ...(uri ? { doc: uri } : {}), ...filterQuery(filter) }, { preventScrollReset: true });
  const total = counts.data && (document ? countIn(counts.data.by_document, document) : counts.data.mentions);
  if (isGone(found.error)) return <Gone workspace={workspace} what="entity" />;
  return (
    <section className={styles.mentions} aria-labelledby="mentions">
      <div className={styles.bar}>
        <h2 id="mentions">
          Mentions{" "}
          {counts.data && (
            <span className={styles.count}>
              {number(counts.data.mentions)} in {counted(counts.data.documents, "document")}
            </span>
          )}
        </h2>
        {counts.data && (counts.data.documents > 1 || document) && (
          <label className={styles.filter}>
            <span>In</span>
            <select value={document} onChange={(event) => choose(event.target.value)}>
              <option value="">all documents</option>
              {document && !counts.data.by_document.some((one) => one.uri === document) && (
                <option value={document}>{shortened(document, 80)}</option>
              )}
              {counts.data.by_document.map((one) => (
                <option key={one.uri} value={one.uri}>
                  {shortened(one.title || one.uri, 80)} ({number(one.mentions)})
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      {found.isPending && <Loading what="the mentions" lines={6} />}
      {found.data && mentions.length === 0 && (
        <div>
          <p>{document ? "This document does not mention it." : "No document mentions it any more."}</p>
          {document && <Button onPress={() => choose("")}>Show all documents</Button>}
        </div>
      )}
      <Quotes workspace={workspace} quotes={quotes} />
      {found.isError && <Failed error={found.error} again={() => found.refetch()} />}
      {found.hasNextPage && (
        <div className={styles.more}>
          <Button onPress={() => found.fetchNextPage()} isDisabled={found.isFetchingNextPage}>
            Show more
          </Button>
          {total !== undefined && (
            <span className="muted">
              {number(mentions.length)} of {number(total)} shown
            </span>
          )}
        </div>
      )}
    </section>
  );
}

const countIn = (documents: { uri: string; mentions: number }[], uri: string): number | undefined =>
  documents.find((one) => one.uri === uri)?.mentions;
