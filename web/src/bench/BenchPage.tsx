// The Bench view: stored runs of benchmarks, and one's own questions.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearchParams } from "react-router";
import { me as meQuery, workspace as workspaceQuery } from "../api/queries";
import { useActivity } from "../api/useActivity";
import { quoted } from "../ask/forms";
import { useTitle } from "../shell/useTitle";
import { counted, moment, shortened } from "../text/words";
import { CopyButton } from "../ui/CopyButton";
import { NoDocuments } from "../ui/NoDocuments";
import { SameAs } from "../ui/SameAs";
import { ShowMore } from "../ui/ShowMore";
import { Empty, Failed, Loading } from "../ui/States";
import { benchPath, type Part, readPart, runPath } from "./address";
import styles from "./Bench.module.css";
import { IntervalPlot } from "./IntervalPlot";
import { MyQuestions } from "./MyQuestions";
import { type Run, runsQuery } from "./queries";

const PARTS: [Part, string][] = [
  ["runs", "Runs"],
  ["questions", "My questions"],
];
const SHOWN = 4; // methods of a run in the list
export const CHANGING = ["bench"]; // what is read again when the index changes

export function BenchPage() {
  const { ws = "" } = useParams();
  const [params] = useSearchParams();
  const part = readPart(params);
  const about = useQuery(workspaceQuery(ws));
  const { data: caller } = useQuery(meQuery);
  useActivity(ws, CHANGING);
  useTitle(part === "runs" ? "Bench" : "My questions", ws);
  if (about.isError) return <Failed error={about.error} again={() => about.refetch()} />;
  if (!about.data || !caller) return <Loading what="the workspace" />;
  const mayWrite = caller.scope !== "read";
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <h1 tabIndex={-1}>Bench</h1>
        <nav aria-label="Parts of the bench" className={styles.parts}>
          {PARTS.map(([one, name]) => (
            <Link key={one} to={benchPath(ws, one)} aria-current={part === one ? "page" : undefined}>
              {name}
            </Link>
          ))}
        </nav>
      </div>
      {about.data.status.documents === 0 ? (
        <NoDocuments workspace={ws} />
      ) : part === "questions" ? (
        <MyQuestions workspace={ws} mayWrite={mayWrite} />
      ) : (
        <Runs workspace={ws} />
      )}
    </div>
  );
}

function Runs({ workspace }: { workspace: string }) {
  const found = useInfiniteQuery(runsQuery(workspace));
  if (found.isError) return <Failed error={found.error} again={() => found.refetch()} />;
  if (!found.data) return <Loading what="the runs" lines={8} />;
  const runs = found.data.pages.flatMap((page) => page.items);
  return (
    <>
      {runs.length === 0 && (
        <Empty title="No benchmark has been run here yet">
          <p>
            A benchmark asks every method the same questions and counts how many of the right passages each
            one finds. It shows which method is best for your documents, and whether the difference is more
            than chance.
          </p>
          <p>
            First collect questions: where an answer of the Ask view is wrong, press “This answer is wrong”
            and choose the right passages, or add them under{" "}
            <Link to={benchPath(workspace, "questions")}>My questions</Link>. Then measure methods on them
            there.
          </p>
          <p className="muted">
            From a terminal: <code>trueweave bench mine --workspace {workspace}</code>, or{" "}
            <code>trueweave bench questions.jsonl --workspace {workspace}</code>
          </p>
        </Empty>
      )}
      <ul className={styles.list}>
        {runs.map((run) => (
          <li key={run.id} className={styles.card}>
            <h2>
              <Link to={runPath(workspace, run.id)}>
                <bdi>{nameOf(run)}</bdi>, {moment(run.made)}
              </Link>
            </h2>
            <Facts run={run} />
            <p className={styles.verdict}>{run.verdict}</p>
            <IntervalPlot run={run} measure={run.leading} most={SHOWN} />
            {run.methods.length > SHOWN && (
              <p className="muted">
                and {counted(run.methods.length - SHOWN, "more method", "more methods")}
              </p>
            )}
          </li>
        ))}
      </ul>
      <ShowMore of={found} />
      <div className={styles.actions}>
        <CopyButton label="Copy link" text={() => location.href} />
        <SameAs
          command={`trueweave bench saved --workspace ${quoted(workspace)}`}
          request={`GET /v1/workspaces/${workspace}/bench`}
        />
      </div>
    </>
  );
}

/** What a run was about, in words. */
export const nameOf = ({ name, own }: Run): string =>
  own && name === "mine" ? "My questions" : shortened(name, 80);

/** The size of a run, and by whom it was made. */
export function Facts({ run }: { run: Run }) {
  return (
    <p className={styles.facts}>
      <span>{counted(run.questions, "question")}</span>
      <span>{counted(run.documents, "document")}</span>
      <span>{counted(run.methods.length, "method")}</span>
      {run.author && <span>by {shortened(run.author, 80)}</span>}
      <span>Trueweave {run.version}</span>
    </p>
  );
}
