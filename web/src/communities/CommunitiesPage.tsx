// The Communities view: all of them as a treemap or as a tree, finding them, and writing reports.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Button } from "react-aria-components";
import { Link, useParams, useSearchParams } from "react-router";
import { api, asProblem, dataOf, type Schemas } from "../api/client";
import { me as meQuery, workspace as workspaceQuery } from "../api/queries";
import { useActivity } from "../api/useActivity";
import { quoted } from "../ask/forms";
import { useTitle } from "../shell/useTitle";
import { counted, moment, number } from "../text/words";
import { CopyButton } from "../ui/CopyButton";
import { NoDocuments } from "../ui/NoDocuments";
import { SameAs } from "../ui/SameAs";
import { Empty, Failed, Loading } from "../ui/States";
import { communitiesPath, communityPath, readAddress, type Shape, writeAddress } from "./address";
import styles from "./Communities.module.css";
import { EstimateDialog } from "./EstimateDialog";
import { reportCounts, STATES, type State, titleOf } from "./labels";
import { Mark } from "./Mark";
import { Progress } from "./Progress";
import { hierarchy as hierarchyQuery, tree as treeQuery } from "./queries";
import { shownOf, TreeList } from "./TreeList";
import { Treemap } from "./Treemap";

type Hierarchy = Schemas["Hierarchy"];

const CHANGING = ["communities", "workspace", "spend", "budget"]; // what is read again when the index changes

export function CommunitiesPage() {
  const { ws = "" } = useParams();
  return <CommunitiesView key={ws} workspace={ws} />;
}

function CommunitiesView({ workspace }: { workspace: string }) {
  const [params, setParams] = useSearchParams();
  const { within, view } = readAddress(params);
  const queries = useQueryClient();
  const about = useQuery(workspaceQuery(workspace));
  const { data: caller } = useQuery(meQuery);
  const known = useQuery(hierarchyQuery(workspace));
  const found = useQuery({ ...treeQuery(workspace, within), enabled: known.data?.hierarchy != null });
  const heard = useActivity(workspace, CHANGING);
  const [isFinding, setFinding] = useState(false);
  const [isWriting, setWriting] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const [said, setSaid] = useState("");
  const mayWrite = caller !== undefined && caller.scope !== "read";
  const hierarchy = known.data?.hierarchy ?? null;
  const isElse = useFoundAgain(hierarchy?.found, isFinding);
  useTitle("Communities", workspace);

  const refresh = () => queries.invalidateQueries({ queryKey: ["communities", workspace] });
  const find = async () => {
    setFinding(true);
    setFailure(null);
    try {
      const path = "/v1/workspaces/{workspace}/communities/find";
      const changes = await dataOf(api.POST(path, { params: { path: { workspace } } }));
      setSaid(changesText(changes));
    } catch (error) {
      setFailure(error);
    }
    await refresh();
    setFinding(false);
  };
  const go = (to: Partial<{ within: string; view: Shape }>) =>
    setParams(writeAddress({ within, view, ...to }), { preventScrollReset: true });

  if (about.isError) return <Failed error={about.error} again={() => about.refetch()} />;
  if (known.isError) return <Failed error={known.error} again={() => known.refetch()} />;
  if (!known.data || !about.data) return <Loading what="the communities" lines={6} />;
  const counts = hierarchy ? reportCounts(hierarchy) : { current: 0, stale: 0, missing: 0 };
  const due = counts.stale + counts.missing;
  const all = hierarchy ? hierarchy.levels.reduce((sum, level) => sum + level.communities, 0) : 0;
  const isGone = found.isError && asProblem(found.error).status === 404;
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <h1 tabIndex={-1}>Communities</h1>
        {mayWrite && hierarchy && (
          <div className={styles.buttons}>
            <Button className={hierarchy.behind ? "primary" : ""} onPress={find} isDisabled={isFinding}>
              {isFinding ? "Finding communities…" : "Find again"}
            </Button>
            {all > 0 && (
              <Button
                className={!hierarchy.behind && due > 0 ? "primary" : ""}
                onPress={() => setWriting(true)}
                isDisabled={isFinding}
              >
                Write reports
              </Button>
            )}
          </div>
        )}
      </div>
      {failure !== null && <Failed error={failure} again={find} />}
      <p role="status" className={said ? styles.said : "visually-hidden"}>
        {said}
      </p>
      {isElse && (
        <p role="status" className={styles.note}>
          Communities were found again while this page was open. It shows the new ones; some may have other
          ids.
        </p>
      )}
      {!hierarchy && (
        <NotFound
          isEmpty={about.data.status.documents === 0}
          workspace={workspace}
          entities={about.data.status.entities}
          isFinding={isFinding}
          onFind={mayWrite ? find : null}
        />
      )}
      {hierarchy && (
        <>
          <Summary hierarchy={hierarchy} all={all} counts={counts} />
          <Progress heard={heard} />
          {all === 0 && (
            <Empty title="There are no communities">
              <p>No two entities are related. Add documents, or set a language model that finds relations.</p>
            </Empty>
          )}
          {isGone && (
            <Empty title="This community no longer exists">
              <p>Communities were found again since, and its members are in others now.</p>
              <Link to={communitiesPath(workspace, { view })}>Show all communities</Link>
            </Empty>
          )}
          {found.isError && !isGone && <Failed error={found.error} again={() => found.refetch()} />}
          {all > 0 && found.isPending && <Loading what="the communities" lines={10} />}
          {found.data && !found.isError && all > 0 && (
            <>
              <Path workspace={workspace} path={found.data.path} view={view} />
              <div className={styles.head}>
                <fieldset className={styles.shapes}>
                  <legend className="visually-hidden">Shown as</legend>
                  {(["treemap", "tree"] as const).map((shape) => (
                    <Button
                      key={shape}
                      aria-pressed={view === shape}
                      onPress={() => go({ view: shape })}
                      className={styles.shape ?? ""}
                    >
                      {shape === "tree" ? "Tree" : "Treemap"}
                    </Button>
                  ))}
                </fieldset>
                <ul className={styles.legend} aria-label="Reports">
                  {(Object.keys(STATES) as State[]).map((state) => (
                    <li key={state}>
                      <Mark state={state} />
                    </li>
                  ))}
                </ul>
              </div>
              {view === "tree" ? (
                <TreeList workspace={workspace} communities={found.data.communities} root={within || null} />
              ) : (
                <Treemap
                  workspace={workspace}
                  communities={found.data.communities}
                  root={within || null}
                  size={found.data.path.at(-1)?.size ?? hierarchy.levels[0]?.members ?? 0}
                />
              )}
              <p className="muted">{shownOf(found.data.communities.length, found.data.total)}</p>
            </>
          )}
          <div className={styles.actions}>
            <CopyButton label="Copy link" text={() => location.href} />
            <SameAs
              command={`trueweave communities tree --workspace ${quoted(workspace)}`}
              request={`GET /v1/workspaces/${workspace}/communities/tree${within ? `?within=${within}` : ""}`}
            >
              {found.data && (
                <CopyButton label="Copy the response" text={() => JSON.stringify(found.data, null, 2)} />
              )}
            </SameAs>
          </div>
        </>
      )}
      {isWriting && (
        <EstimateDialog
          workspace={workspace}
          title="Write reports"
          estimate={() =>
            dataOf(
              api.GET("/v1/workspaces/{workspace}/communities/reports/estimate", {
                params: { path: { workspace } },
              }),
            )
          }
          label={({ reports }) => `Write ${counted(reports, "report")}`}
          busy="Queueing…"
          act={() =>
            dataOf(
              api.POST("/v1/workspaces/{workspace}/communities/reports", { params: { path: { workspace } } }),
            )
          }
          onClose={() => setWriting(false)}
          onDone={() => {
            setWriting(false);
            setSaid("Workers write the reports. You can look at other views meanwhile.");
            refresh();
          }}
        />
      )}
    </div>
  );
}

/** Whether somebody else has found communities again since the page was opened. */
function useFoundAgain(found: string | undefined, isOwn: boolean): boolean {
  const before = useRef(found);
  const [isElse, setElse] = useState(false);
  useEffect(() => {
    if (found === before.current) return;
    setElse(before.current !== undefined && !isOwn);
    before.current = found;
  }, [found, isOwn]);
  return isElse;
}

function changesText({ added, changed, unchanged, removed }: Schemas["CommunityChanges"]): string {
  if (added + changed + removed === 0)
    return `Nothing has changed: ${counted(unchanged, "community", "communities")}.`;
  return `${counted(added + changed + unchanged, "community", "communities")}: ${number(added)} added, ${number(changed)} changed, ${number(unchanged)} unchanged, ${number(removed)} removed.`;
}

interface SummaryProps {
  hierarchy: Hierarchy;
  all: number;
  counts: ReturnType<typeof reportCounts>;
}

function Summary({ hierarchy, all, counts }: SummaryProps) {
  const { levels, found, behind, alone } = hierarchy;
  const parts = [
    `${counted(counts.current, "report")} up to date`,
    counts.stale > 0 && `${number(counts.stale)} stale`,
    counts.missing > 0 && `${number(counts.missing)} not written`,
  ].filter(Boolean);
  return (
    <div>
      <p className={styles.summary}>
        {counted(all, "community", "communities")} on {counted(levels.length, "level")}, found {moment(found)}
        . {all > 0 && `${parts.join(", ")}.`}
        {alone > 0 && ` ${counted(alone, "entity is", "entities are")} in none, without any relation.`}
      </p>
      {behind && (
        <p className={styles.note}>
          The graph has changed since. Find communities again to bring them up to date: no model is called for
          that.
        </p>
      )}
    </div>
  );
}

interface NotFoundProps {
  workspace: string;
  isEmpty: boolean;
  entities: number;
  isFinding: boolean;
  onFind: (() => void) | null;
}

function NotFound({ workspace, isEmpty, entities, isFinding, onFind }: NotFoundProps) {
  if (isEmpty) return <NoDocuments workspace={workspace} />;
  return (
    <Empty title="Communities have not been looked for yet">
      <p>
        A community is a group of entities that are more related to each other than to the rest. A report on
        each answers questions on the documents as a whole. Finding them calls no model; you see what reports
        cost before they are written.
      </p>
      {onFind ? (
        <Button className="primary" onPress={onFind} isDisabled={isFinding || entities === 0}>
          {isFinding ? "Finding communities…" : "Find communities"}
        </Button>
      ) : (
        <p>Your key may only read. Ask the server's administrator to find them.</p>
      )}
      <p className="muted">
        From a terminal: <code>trueweave communities build --workspace {workspace}</code>
      </p>
    </Empty>
  );
}

/** The way from all communities to the one whose parts are shown. */
function Path({ workspace, path, view }: { workspace: string; path: Schemas["Community"][]; view: Shape }) {
  const last = path.at(-1);
  if (!last) return null;
  return (
    <nav aria-label="Path" className={styles.path}>
      <Link to={communitiesPath(workspace, { view })}>All communities</Link>
      {path.map((one) => (
        <span key={one.id} dir="auto">
          {one === last ? (
            titleOf(one)
          ) : (
            <Link to={communitiesPath(workspace, { within: one.id, view })}>{titleOf(one)}</Link>
          )}
        </span>
      ))}
      <Link to={communityPath(workspace, last.id)}>Read its report</Link>
    </nav>
  );
}
