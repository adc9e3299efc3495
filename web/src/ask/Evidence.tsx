// What the search found, in tabs: passages, facts, paths, reports, the steps of the search, the model's context.
import type { ReactNode } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { Link } from "react-router";
import type { Found } from "../api/ask";
import type { Schemas } from "../api/client";
import { entityPath, relationPath } from "../entity/address";
import { documentPath } from "../reader/address";
import { duration, number, shortened } from "../text/words";
import { CopyButton } from "../ui/CopyButton";
import { Folded } from "../ui/Folded";
import { TABS, type Tab as TabName } from "./address";
import styles from "./Evidence.module.css";
import { PlainMarkdown } from "./LazyText";
import { useFilter } from "./useFilter";

interface Props {
  workspace: string;
  found: Found;
  /** What the model was shown; null while that is not known. */
  context: string | null;
  tab: TabName;
  onTab: (tab: TabName) => void;
  /** The passages that the answer cites, with their numbers. */
  cited: ReadonlyMap<string, number>;
}

const TITLES: Record<TabName, string> = {
  passages: "Passages",
  facts: "Facts",
  paths: "Paths",
  reports: "Reports",
  search: "Search",
  context: "Context",
};

export function Evidence({ workspace, found, context, tab, onTab, cited }: Props) {
  const { evidence, trace } = found;
  const counts: Partial<Record<TabName, number>> = {
    passages: evidence.passages.length,
    facts: evidence.relations.length + evidence.entities.length,
    paths: evidence.paths.length + evidence.connections.length,
    reports: evidence.reports.length,
    search: trace.steps.length,
  };
  const panels: Record<TabName, ReactNode> = {
    passages: (
      <Passages workspace={workspace} passages={evidence.passages} reason={evidence.reason} cited={cited} />
    ),
    facts: <Facts workspace={workspace} entities={evidence.entities} relations={evidence.relations} />,
    paths: (
      <Paths
        workspace={workspace}
        paths={evidence.paths}
        connections={evidence.connections}
        passages={evidence.passages}
      />
    ),
    reports: <Reports reports={evidence.reports} />,
    search: <Steps trace={trace} keywords={evidence.keywords} />,
    context: <Context text={context} />,
  };
  return (
    <Tabs className={styles.tabs ?? ""} selectedKey={tab} onSelectionChange={(key) => onTab(key as TabName)}>
      <TabList className={styles.list ?? ""} aria-label="What the answer is based on">
        {TABS.map((name) => (
          <Tab key={name} id={name} className={styles.tab ?? ""}>
            {TITLES[name]}
            {counts[name] !== undefined && <span className={styles.count}>{counts[name]}</span>}
          </Tab>
        ))}
      </TabList>
      {TABS.map((name) => (
        <TabPanel key={name} id={name} className={styles.panel ?? ""}>
          {panels[name]}
        </TabPanel>
      ))}
    </Tabs>
  );
}

const None = ({ children }: { children: ReactNode }) => <p className="muted">{children}</p>;

/** Why there are no passages. */
export const nothingFound = (reason: string): string =>
  reason ? `Nothing was found: ${reason}` : "No passage was found.";

interface PassagesProps {
  workspace: string;
  passages: Schemas["Passage"][];
  reason: string;
  cited: ReadonlyMap<string, number>;
}

function Passages({ workspace, passages, reason, cited }: PassagesProps) {
  if (passages.length === 0) return <None>{nothingFound(reason)}</None>;
  return (
    <ol className={styles.passages}>
      {passages.map((passage, at) => (
        <li key={passage.id}>
          <p className={styles.source}>
            <span className={styles.rank}>{at + 1}</span>
            <Link
              to={documentPath(
                workspace,
                passage.uri,
                passage.start,
                passage.start + [...passage.text].length,
              )}
            >
              {placeOf(passage)}
            </Link>
            {passage.date && <time dateTime={passage.date}>{passage.date.slice(0, 10)}</time>}
            {cited.has(passage.id) && <span className={styles.cited}>cited as {cited.get(passage.id)}</span>}
            {passage.copies > 0 && <span>and in {number(passage.copies)} more places</span>}
          </p>
          <Folded text={passage.text} most={FOLDED} className={styles.passage} />
        </li>
      ))}
    </ol>
  );
}

const LONGEST_PLACE = 200; // characters

/** The title and the place of a passage in words. */
export function placeOf(passage: Schemas["Passage"]): string {
  const headings = passage.headings[0] === passage.title ? passage.headings.slice(1) : passage.headings;
  const place = passage.page ? `page ${passage.page}` : headings.join(" > ");
  return shortened([passage.title || passage.uri, place].filter(Boolean).join(", "), LONGEST_PLACE);
}

const FOLDED = 600; // characters of a passage shown at first

/** Both ends of a relation, each with its page, and the page of the relation between them. */
function RelationEnds({ workspace, relation }: { workspace: string; relation: Schemas["Relation"] }) {
  const { keep } = useFilter();
  return (
    <>
      <Link to={keep(entityPath(workspace, relation.source))}>{relation.source_name}</Link>{" "}
      <Link to={keep(relationPath(workspace, relation.id))} aria-label="to, see all statements">
        →
      </Link>{" "}
      <Link to={keep(entityPath(workspace, relation.target))}>{relation.target_name}</Link>
    </>
  );
}

interface FactsProps {
  workspace: string;
  entities: Schemas["Entity"][];
  relations: Schemas["Relation"][];
}

function Facts({ workspace, entities, relations }: FactsProps) {
  const { keep } = useFilter();
  if (entities.length + relations.length === 0) return <None>This method used no facts of the graph.</None>;
  return (
    <>
      {relations.length > 0 && (
        <ul className={styles.facts}>
          {relations.map((one) => (
            <li key={one.id}>
              <p className={styles.fact}>
                <RelationEnds workspace={workspace} relation={one} />
                {one.keywords.length > 0 && (
                  <span className={styles.keywords}>{one.keywords.join(", ")}</span>
                )}
              </p>
              <p className="muted">{one.summary || one.description}</p>
            </li>
          ))}
        </ul>
      )}
      {entities.length > 0 && (
        <ul className={styles.facts}>
          {entities.map((one) => (
            <li key={one.id}>
              <p className={styles.fact}>
                <Link to={keep(entityPath(workspace, one.id))}>{one.name}</Link>
                {one.type && <span className={styles.keywords}>{one.type}</span>}
              </p>
              <p className="muted">{one.summary || one.description}</p>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

interface PathsProps {
  workspace: string;
  paths: Schemas["Path"][];
  connections: Schemas["Connection"][];
  passages: Schemas["Passage"][];
}

function Paths({ workspace, paths, connections, passages }: PathsProps) {
  const { keep } = useFilter();
  if (paths.length + connections.length === 0)
    return <None>This method followed no paths in the graph.</None>;
  const rank = new Map(passages.map((one, at) => [one.id, at + 1]));
  return (
    <ul className={styles.facts}>
      {paths.map((path) => (
        <li key={path.relations.map((one) => one.id).join(" ")}>
          <p className={styles.fact}>{path.names.join(" → ")}</p>
          {path.relations.map((one) => (
            <p key={one.id} className="muted">
              <RelationEnds workspace={workspace} relation={one} />: {one.summary || one.description}
            </p>
          ))}
        </li>
      ))}
      {connections.map((one) => (
        <li key={`${one.passage} ${one.entity}`}>
          <p className={styles.fact}>
            <Link to={keep(entityPath(workspace, one.entity_id))}>{one.entity}</Link>{" "}
            <span aria-hidden="true">→</span> passage {rank.get(one.passage) ?? ""}
          </p>
          {one.neighbours.length > 0 && (
            <p className="muted">which also mentions {one.neighbours.join(", ")}</p>
          )}
        </li>
      ))}
    </ul>
  );
}

function Reports({ reports }: { reports: Schemas["Report"][] }) {
  if (reports.length === 0) return <None>This method used no reports on communities.</None>;
  return (
    <>
      {reports.map((one) => (
        <article key={one.id} className={styles.report}>
          <h3>{one.title}</h3>
          <PlainMarkdown text={one.text} />
        </article>
      ))}
    </>
  );
}

function Steps({ trace, keywords }: { trace: Schemas["TraceBody"]; keywords: Schemas["Keywords"] }) {
  const longest = Math.max(...trace.steps.map((one) => one.seconds), 0.001);
  const words = [...(keywords.low ?? []), ...(keywords.high ?? [])];
  return (
    <>
      {words.length > 0 && <p className="muted">Keywords: {words.join(", ")}</p>}
      <div className={styles.scroll}>
        <table className={styles.steps}>
          <thead>
            <tr>
              <th>Step</th>
              <th>Best</th>
              <th>Found</th>
              <th>Statements</th>
              <th>Time</th>
              <th>
                <span className="visually-hidden">Time as a bar</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {trace.steps.map((step, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: steps have no name of their own and never change
              <tr key={at}>
                <td>
                  {step.what}
                  {step.searched && <span className="muted"> {step.searched}</span>}
                </td>
                <td className={styles.best}>
                  {step.best
                    .slice(0, 3)
                    .map((one) => one.item)
                    .join(", ")}
                </td>
                <td>{number(step.found)}</td>
                <td>{number(step.statements)}</td>
                <td>{duration(step.seconds)}</td>
                <td className={styles.bars}>
                  <meter
                    min={0}
                    max={longest}
                    value={step.seconds}
                    aria-label={`${duration(step.seconds)}`}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="muted">
        {number(trace.statements)} SQL statements, {duration(trace.seconds)} in all
      </p>
    </>
  );
}

function Context({ text }: { text: string | null }) {
  if (text === null)
    return <None>The text that the model is shown appears here when the answer is complete.</None>;
  if (!text) return <None>No model was asked.</None>;
  return (
    <>
      <CopyButton text={text} label="Copy" />
      <pre dir="auto">{text}</pre>
    </>
  );
}
