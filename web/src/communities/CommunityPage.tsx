// One community: its report with what each finding is based on, its parts and its members.
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "react-aria-components";
import { Link, useParams } from "react-router";
import { api, asProblem, dataOf, type Schemas } from "../api/client";
import { me as meQuery } from "../api/queries";
import { useActivity } from "../api/useActivity";
import { placeOf } from "../ask/Evidence";
import { quoted } from "../ask/forms";
import { documentPath } from "../reader/address";
import { useTitle } from "../shell/useTitle";
import { viewPath } from "../shell/views";
import { counted, moment, number, shortened } from "../text/words";
import { CopyButton } from "../ui/CopyButton";
import { Folded } from "../ui/Folded";
import { SameAs } from "../ui/SameAs";
import { ShowMore } from "../ui/ShowMore";
import { Empty, Failed, Loading } from "../ui/States";
import { communitiesPath, communityPath } from "./address";
import styles from "./Communities.module.css";
import { EstimateDialog } from "./EstimateDialog";
import { type Community, titleOf } from "./labels";
import { Mark } from "./Mark";
import {
  community as communityQuery,
  members as membersQuery,
  passages as passagesQuery,
  retired as retiredQuery,
  supporting,
  tree as treeQuery,
} from "./queries";

type Report = Schemas["CommunityReport"];
type Finding = Schemas["Finding"];

const CHANGING = ["communities", "spend", "budget"]; // what is read again when the index changes
const MOST_PASSAGES = 200; // that the server gives at once
const MOST_ENTITIES = 500;
const LONGEST_NAME = 80; // characters

export function CommunityPage() {
  const { ws = "", id = "" } = useParams();
  return <CommunityView key={`${ws} ${id}`} workspace={ws} id={id} />;
}

function CommunityView({ workspace, id }: { workspace: string; id: string }) {
  const found = useQuery(communityQuery(workspace, id));
  useActivity(workspace, CHANGING);
  const title = found.data ? titleOf(found.data.community) : "Community";
  useTitle(shortened(title, LONGEST_NAME), workspace);
  if (found.isError)
    return asProblem(found.error).code === "unknown_community" ? (
      <Gone workspace={workspace} id={id} title={found.data ? title : ""} />
    ) : (
      <Failed error={found.error} again={() => found.refetch()} />
    );
  if (!found.data) return <Loading what="the community" lines={8} />;
  const { community, report } = found.data;
  return <Shown workspace={workspace} community={community} report={report} />;
}

/** What is known of a community that was removed, and where to go on. */
function Gone({ workspace, id, title }: { workspace: string; id: string; title: string }) {
  const { data: before } = useQuery(retiredQuery(workspace, id));
  const name = before?.title || title;
  return (
    <>
      <h1 tabIndex={-1}>Community</h1>
      <Empty title="This community does not exist">
        {before ? (
          <p dir="auto">
            It was removed {moment(before.removed)}, when communities were found again
            {name && `: ${shortened(name, 300)}`}. Its {counted(before.size, "member")} may be in others now.
          </p>
        ) : (
          <p>Communities may have been found again since this address was made: some then get other ids.</p>
        )}
        <Link to={communitiesPath(workspace)}>Show all communities</Link>
      </Empty>
    </>
  );
}

interface ShownProps {
  workspace: string;
  community: Community;
  report: Report | null;
}

function Shown({ workspace, community, report }: ShownProps) {
  const queries = useQueryClient();
  const { data: caller } = useQuery(meQuery);
  const around = useQuery(treeQuery(workspace, community.id, 1));
  const [isWriting, setWriting] = useState(false);
  const [said, setSaid] = useState("");
  const mayWrite = caller !== undefined && caller.scope !== "read";
  const { id, written } = community;
  const params = { path: { workspace, community: id } };
  const parts = around.data?.communities ?? [];
  return (
    <div className={styles.page}>
      <nav aria-label="Path" className={styles.path}>
        <Link to={communitiesPath(workspace)}>All communities</Link>
        {around.data?.path.slice(0, -1).map((one) => (
          <span key={one.id} dir="auto">
            <Link to={communityPath(workspace, one.id)}>{titleOf(one)}</Link>
          </span>
        ))}
      </nav>
      <div className={styles.head}>
        <h1 tabIndex={-1} className={styles.title} dir="auto">
          {titleOf(community)}
        </h1>
        {mayWrite && written !== "small" && (
          <Button className={written === "written" ? "" : "primary"} onPress={() => setWriting(true)}>
            {report ? "Write again" : "Write a report"}
          </Button>
        )}
      </div>
      <p className={styles.facts}>
        <Mark state={written} />
        <span>{counted(community.size, "member")}</span>
        <span>{counted(community.relations, "relation")}</span>
        <span>level {community.level}</span>
        <span>last changed {moment(community.changed)}</span>
      </p>
      <p role="status" className={said ? styles.said : "visually-hidden"}>
        {said}
      </p>
      {written === "stale" && (
        <p className={styles.note}>
          The community has changed since this report was written: members, relations or descriptions differ.
        </p>
      )}
      <div className={styles.columns}>
        <div>
          {report ? (
            <ReportText workspace={workspace} report={report} />
          ) : (
            <Empty title={written === "small" ? "Too small for a report" : "There is no report yet"}>
              <p>
                {written === "small"
                  ? "Two entities and what connects them are a relation, which every method finds."
                  : mayWrite
                    ? "You see what it costs before it is written."
                    : "Your key may only read. Ask the server's administrator to have it written."}
              </p>
            </Empty>
          )}
        </div>
        <aside className={styles.aside} aria-label="Parts and members">
          {parts.length > 0 && (
            <section>
              <h2>
                {counted(community.parts, "part")}{" "}
                <Link to={communitiesPath(workspace, { within: id })}>as a treemap</Link>
              </h2>
              <ul className={styles.list}>
                {parts.map((part) => (
                  <li key={part.id}>
                    <Link to={communityPath(workspace, part.id)} dir="auto">
                      {titleOf(part)}
                    </Link>
                    <span className="muted">
                      {counted(part.size, "member")} <Mark state={part.written} />
                    </span>
                  </li>
                ))}
              </ul>
            </section>
          )}
          <Members workspace={workspace} id={id} total={community.size} />
        </aside>
      </div>
      <div className={styles.actions}>
        <CopyButton label="Copy link" text={() => location.href} />
        <SameAs
          command={`trueweave communities show ${id} --workspace ${quoted(workspace)}`}
          request={`GET /v1/workspaces/${workspace}/communities/${id}`}
        >
          <CopyButton label="Copy the response" text={() => JSON.stringify({ community, report }, null, 2)} />
        </SameAs>
      </div>
      {isWriting && (
        <EstimateDialog
          workspace={workspace}
          title={report ? "Write this report again" : "Write a report"}
          estimate={() =>
            dataOf(api.GET("/v1/workspaces/{workspace}/communities/{community}/report/estimate", { params }))
          }
          label={() => "Write the report"}
          busy="Writing… this can take a minute"
          act={() =>
            dataOf(api.POST("/v1/workspaces/{workspace}/communities/{community}/report", { params }))
          }
          onClose={() => setWriting(false)}
          onDone={() => {
            setWriting(false);
            setSaid("The report is written.");
            for (const name of CHANGING) queries.invalidateQueries({ queryKey: [name, workspace] });
          }}
        />
      )}
    </div>
  );
}

function ReportText({ workspace, report }: { workspace: string; report: Report }) {
  const { summary, rating, reason, findings, author, problem, made } = report;
  const ids = [...new Set(findings.flatMap((one) => one.entities))].slice(0, MOST_ENTITIES);
  const { data: known } = useQuery(supporting(workspace, ids));
  return (
    <article className={styles.report}>
      <p dir="auto">{summary}</p>
      <p className="muted">
        {author ? (
          <>
            Written by <code>{author}</code>
          </>
        ) : (
          "Selected from the documents without a model"
        )}
        {made && `, ${moment(made)}`}. {author && `Importance ${rating} of 10${reason ? `: ${reason}` : "."}`}
      </p>
      {problem && (
        <p className={styles.note} dir="auto">
          No model wrote it: {problem}
        </p>
      )}
      <h2>{counted(findings.length, "finding")}</h2>
      <ol className={styles.findings}>
        {findings.map((finding, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: findings have no other name
          <li key={at}>
            <FindingText workspace={workspace} finding={finding} known={known} />
          </li>
        ))}
      </ol>
    </article>
  );
}

interface FindingProps {
  workspace: string;
  finding: Finding;
  known: Schemas["GraphPart"] | undefined;
}

function FindingText({ workspace, finding, known }: FindingProps) {
  const [isOpen, setOpen] = useState(false);
  const names = new Map(known?.nodes.map((one) => [one.id, one.name]));
  const entities = finding.entities.filter((id) => names.has(id));
  const related = known?.edges.filter((one) => finding.relations.includes(one.id)) ?? [];
  return (
    <>
      <h3 dir="auto">{finding.summary}</h3>
      {finding.text && finding.text !== finding.summary && <p dir="auto">{finding.text}</p>}
      {(entities.length > 0 || related.length > 0) && (
        <ul className={styles.chips} aria-label="Entities and relations of this finding">
          {entities.map((id) => (
            <li key={id}>
              <Link to={viewPath(workspace, `entity/${id}`)} dir="auto">
                {shortened(names.get(id) ?? "", LONGEST_NAME)}
              </Link>
            </li>
          ))}
          {related.map(({ id, source, target, type }) => (
            <li key={id}>
              <Link to={viewPath(workspace, `relation/${id}`)}>
                <bdi>{shortened(names.get(source) ?? "", LONGEST_NAME)}</bdi>{" "}
                {type ? shortened(type, 40) : "–"}{" "}
                <bdi>{shortened(names.get(target) ?? "", LONGEST_NAME)}</bdi>
              </Link>
            </li>
          ))}
        </ul>
      )}
      {finding.chunks.length > 0 && (
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>{counted(finding.chunks.length, "passage")}</summary>
          {isOpen && <Passages workspace={workspace} ids={finding.chunks} />}
        </details>
      )}
    </>
  );
}

function Passages({ workspace, ids }: { workspace: string; ids: string[] }) {
  const found = useQuery(passagesQuery(workspace, ids.slice(0, MOST_PASSAGES)));
  if (found.isError) return <Failed error={found.error} again={() => found.refetch()} />;
  if (!found.data) return <Loading what="the passages" />;
  const gone = Math.min(ids.length, MOST_PASSAGES) - found.data.length;
  return (
    <>
      <ol className={styles.passages}>
        {found.data.map((one) => (
          <li key={one.id}>
            <Link
              to={documentPath(workspace, one.uri, one.start, one.start + [...one.text].length)}
              dir="auto"
            >
              {placeOf(one)}
            </Link>
            <Folded text={one.text} most={600} className={styles.passage} />
          </li>
        ))}
      </ol>
      {gone > 0 && (
        <p className="muted">
          {counted(gone, "passage is", "passages are")} of documents that were removed or changed.
        </p>
      )}
      {ids.length > MOST_PASSAGES && <p className="muted">The first {number(MOST_PASSAGES)} are shown.</p>}
    </>
  );
}

function Members({ workspace, id, total }: { workspace: string; id: string; total: number }) {
  const found = useInfiniteQuery(membersQuery(workspace, id));
  const rows = found.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section>
      <h2>
        {found.data && rows.length < total
          ? `${number(rows.length)} of ${counted(total, "member")}, the most related first`
          : counted(total, "member")}
      </h2>
      {found.isError && <Failed error={found.error} again={() => found.refetch()} />}
      {found.isPending && <Loading what="the members" />}
      <ul className={styles.list}>
        {rows.map((one) => (
          <li key={one.id}>
            <Link to={viewPath(workspace, `entity/${one.id}`)} dir="auto">
              {shortened(one.name, LONGEST_NAME)}
            </Link>
            <span className="muted">
              {one.type && <bdi>{shortened(one.type, 40)}, </bdi>}
              {counted(one.degree, "relation")}
            </span>
          </li>
        ))}
      </ul>
      <ShowMore of={found} />
    </section>
  );
}
