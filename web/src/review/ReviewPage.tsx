// The Review view: names that may be one entity, one pair at a time; pairs that were rejected; and the rules.
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useCallback, useEffect, useMemo } from "react";
import { Button } from "react-aria-components";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import { me as meQuery, workspace as workspaceQuery } from "../api/queries";
import { quoted } from "../ask/forms";
import { entityPath } from "../entity/address";
import { useShortcuts } from "../shell/shortcuts";
import { useTitle } from "../shell/useTitle";
import { IN_PLACE, viewPath } from "../shell/views";
import { counted, number, shortened } from "../text/words";
import { CopyButton } from "../ui/CopyButton";
import { NoDocuments } from "../ui/NoDocuments";
import { SameAs } from "../ui/SameAs";
import { ShowMore } from "../ui/ShowMore";
import { Empty, Failed, Loading } from "../ui/States";
import { LEAST, MOST, type Part, type ReviewState, readAddress, writeAddress } from "./address";
import { PairCard } from "./PairCard";
import {
  decide,
  mergeOf,
  passagesQuery,
  previewQuery,
  resolutionQuery,
  type Suggestion,
  sideOf,
  suggestAgain,
  suggestionsQuery,
  typesQuery,
  undoRule,
} from "./queries";
import styles from "./ReviewPage.module.css";
import { Rules } from "./Rules";
import { type Refused, useQueue } from "./useQueue";

const AHEAD = 5; // pairs whose evidence is loaded before they are shown

const PARTS: [Part, string][] = [
  ["merges", "Proposed merges"],
  ["rejected", "Not the same"],
  ["rules", "Rules"],
];

export function ReviewPage() {
  const { ws = "" } = useParams();
  const [params] = useSearchParams();
  const state = readAddress(params);
  const about = useQuery(workspaceQuery(ws));
  const { data: caller } = useQuery(meQuery);
  useTitle("Review", ws);
  if (about.isError) return <Failed error={about.error} again={() => about.refetch()} />;
  if (!about.data || !caller) return <Loading what="the workspace" />;
  const mayWrite = caller.scope !== "read";
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <h1 tabIndex={-1}>Review</h1>
        <nav aria-label="Parts of the review" className={styles.parts}>
          {PARTS.map(([part, name]) => (
            <Link
              key={part}
              to={`?${writeAddress({ ...state, part })}`}
              aria-current={state.part === part ? "page" : undefined}
            >
              {name}
            </Link>
          ))}
        </nav>
      </div>
      <Contents
        key={`${ws} ${writeAddress(state)}`}
        workspace={ws}
        state={state}
        mayWrite={mayWrite}
        hasDocuments={about.data.status.documents > 0}
      />
    </div>
  );
}

interface Props {
  workspace: string;
  state: ReviewState;
  mayWrite: boolean;
  hasDocuments: boolean;
}

function Contents({ workspace, state, mayWrite, hasDocuments }: Props) {
  if (state.part === "rules") return <Rules workspace={workspace} mayWrite={mayWrite} />;
  if (!mayWrite)
    return (
      <Empty title="Your key may only read">
        <p>Deciding which names are one entity needs a key that may write. You can see the rules.</p>
      </Empty>
    );
  if (!hasDocuments) return <NoDocuments workspace={workspace} />;
  return (
    <>
      <Filters workspace={workspace} state={state} />
      {state.part === "rejected" ? (
        <Rejected workspace={workspace} state={state} />
      ) : (
        <Merges workspace={workspace} state={state} />
      )}
    </>
  );
}

/** How alike names must be, and of which type. */
function Filters({ workspace, state }: { workspace: string; state: ReviewState }) {
  const [, setParams] = useSearchParams();
  const { data: types } = useQuery(typesQuery(workspace));
  const { data: resolution } = useQuery(resolutionQuery(workspace));
  const least = state.least ?? resolution?.threshold;
  const go = (to: Partial<ReviewState>) => setParams(writeAddress({ ...state, ...to }), IN_PLACE);
  const command = [
    "trueweave rules suggest",
    ...(state.least === null ? [] : [`--threshold ${state.least}`]),
    ...(state.part === "rejected" ? ["--rejected"] : []),
    `--workspace ${quoted(workspace)}`,
  ].join(" ");
  const query = new URLSearchParams({
    ...(state.least === null ? {} : { threshold: String(state.least) }),
    ...(state.type ? { type: state.type } : {}),
    ...(state.part === "rejected" ? { rejected: "true" } : {}),
  });
  return (
    <div className={styles.bar}>
      <label>
        <span>At least {least ?? "…"} % alike</span>
        <input
          type="range"
          min={LEAST}
          max={MOST}
          key={least}
          defaultValue={least ?? MOST}
          disabled={least === undefined}
          aria-valuetext={`${least} per cent`}
          onPointerUp={(event) => go({ least: Number(event.currentTarget.value) })}
          onKeyUp={(event) => go({ least: Number(event.currentTarget.value) })}
        />
      </label>
      <label>
        <span>Type</span>
        <select value={state.type} onChange={(event) => go({ type: event.target.value })}>
          <option value="">any</option>
          {state.type && !types?.entities.some((one) => one.type === state.type) && (
            <option value={state.type}>{shortened(state.type, 60)}</option>
          )}
          {types?.entities
            .filter((one) => one.type)
            .map((one) => (
              <option key={one.type} value={one.type}>
                {shortened(one.type, 60)} ({number(one.count)})
              </option>
            ))}
        </select>
      </label>
      <span className={styles.actions}>
        <CopyButton label="Copy link" text={() => location.href} />
        <SameAs
          command={state.type ? { none: "The command lists suggestions of all types." } : command}
          request={`GET /v1/workspaces/${workspace}/rules/suggestions?${query}`}
        />
      </span>
    </div>
  );
}

function useSuggestions(workspace: string, state: ReviewState) {
  const found = useInfiniteQuery(suggestionsQuery(workspace, state));
  const listed = useMemo(() => found.data?.pages.flatMap((page) => page.suggestions) ?? [], [found.data]);
  return { found, listed, total: found.data?.pages[0]?.total ?? 0 };
}

function Merges({ workspace, state }: { workspace: string; state: ReviewState }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { found, listed, total } = useSuggestions(workspace, state);
  const onChange = useCallback(() => {
    for (const key of ["rule preview", "rules", "entity", "workspace"])
      queries.invalidateQueries({ queryKey: [key, workspace] });
  }, [queries, workspace]);
  const queue = useQueue(listed, {
    decide: (suggestion, same) => decide(workspace, suggestion, same),
    undo: (suggestion, decision, rule) =>
      decision === "merged" ? undoRule(workspace, rule) : suggestAgain(workspace, suggestion),
    onChange,
  });
  const current = queue.left[0];

  const ahead = queue.left.slice(1, 1 + AHEAD);
  const aheadKey = ahead.map((one) => one.id).join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the pairs
  useEffect(() => {
    for (const one of ahead) {
      queries.prefetchQuery(previewQuery(workspace, mergeOf(one)));
      for (const side of [one.one, one.other]) queries.prefetchQuery(passagesQuery(workspace, sideOf(side)));
    }
  }, [aheadKey]);
  const needsMore = queue.left.length <= AHEAD && found.hasNextPage && !found.isFetching && !found.isError;
  useEffect(() => {
    if (needsMore) found.fetchNextPage();
  }, [needsMore, found.fetchNextPage]);

  useShortcuts({
    ...(current
      ? {
          m: () => queue.put(current, "merged"),
          n: () => queue.put(current, "not the same"),
          s: () => queue.put(current, "skipped"),
          "1": () => navigate(entityPath(workspace, sideOf(current.one))),
          "2": () => navigate(entityPath(workspace, sideOf(current.other))),
        }
      : {}),
    ...(queue.history.length > 0 ? { u: () => queue.takeBack() } : {}),
  });

  const last = queue.history.at(-1);
  const undo = queue.history.length > 0 && (
    <Button onPress={() => queue.takeBack()}>
      Undo <kbd>u</kbd>
    </Button>
  );
  return (
    <>
      {queue.refused && <RefusedNote refused={queue.refused} />}
      <p className={styles.said} role="status">
        {last && `${namesOf(last.suggestion)}: ${last.decision}.`}
      </p>
      {found.isPending && <Loading what="names that are alike" lines={8} />}
      {found.isError && <Failed error={found.error} again={() => found.refetch()} />}
      {found.data && !current && !found.hasNextPage && (
        <Nothing state={state} isDone={queue.history.length > 0} workspace={workspace} />
      )}
      {!current && undo}
      {current && (
        <>
          <p className="muted">
            {counted(Math.max(total - queue.history.length, queue.left.length), "pair")} left
            {total >= 10_000 && ", or more"}
          </p>
          <PairCard workspace={workspace} suggestion={current}>
            <Button className="primary" onPress={() => queue.put(current, "merged")}>
              Merge <kbd>m</kbd>
            </Button>
            <Button onPress={() => queue.put(current, "not the same")}>
              Not the same <kbd>n</kbd>
            </Button>
            <Button onPress={() => queue.put(current, "skipped")}>
              Skip <kbd>s</kbd>
            </Button>
            {undo}
          </PairCard>
        </>
      )}
    </>
  );
}

const namesOf = ({ one, other }: Suggestion): string =>
  `${shortened(one.name.name, 60)} and ${shortened(other.name.name, 60)}`;

function RefusedNote({ refused: { suggestion, wanted, problem } }: { refused: Refused }) {
  return (
    <div role="alert" className={styles.refused}>
      <p>
        <bdi>{namesOf(suggestion)}</bdi>{" "}
        {wanted === "undo"
          ? "could not be undone"
          : `could not be ${wanted === "merged" ? "merged" : "rejected"}`}
        : {problem.message}
      </p>
      {problem.nextStep && <p className="muted">{problem.nextStep}</p>}
    </div>
  );
}

interface NothingProps {
  workspace: string;
  state: ReviewState;
  isDone: boolean;
}

function Nothing({ workspace, state, isDone }: NothingProps): ReactNode {
  const { data: resolution } = useQuery(resolutionQuery(workspace));
  const least = state.least ?? resolution?.threshold ?? MOST;
  const lower = Math.max(LEAST, least - 5);
  return (
    <Empty title={isDone ? "You have seen all pairs" : `No two names are ${least} % alike`}>
      {least > LEAST && (
        <p>
          <Link to={`?${writeAddress({ ...state, least: lower })}`}>See names that are {lower} % alike</Link>
        </p>
      )}
      <p>
        A name, type or description is corrected on the page of the entity: press <kbd>Ctrl K</kbd> and type
        its name, or find it in the <Link to={viewPath(workspace, "graph")}>graph</Link>.
      </p>
    </Empty>
  );
}

/** The pairs that were rejected, each with a button to suggest it again. */
function Rejected({ workspace, state }: { workspace: string; state: ReviewState }) {
  const queries = useQueryClient();
  const { found, listed, total } = useSuggestions(workspace, state);
  const again = async (suggestion: Suggestion) => {
    await suggestAgain(workspace, suggestion);
    await queries.invalidateQueries({ queryKey: ["suggestions to review", workspace] });
  };
  if (found.isPending) return <Loading what="the pairs" />;
  if (found.isError) return <Failed error={found.error} again={() => found.refetch()} />;
  if (listed.length === 0)
    return (
      <Empty title="No pair of names was rejected">
        <p>Pairs that somebody says are not the same are listed here. They are not suggested again.</p>
      </Empty>
    );
  return (
    <>
      <p className="muted">{counted(total, "pair")}</p>
      <ul className={styles.list}>
        {listed.map((one) => (
          <li key={one.id}>
            <span>
              <Link to={entityPath(workspace, one.one.entity)}>
                <bdi>{shortened(one.one.name.name, 120)}</bdi>
              </Link>{" "}
              and{" "}
              <Link to={entityPath(workspace, one.other.entity)}>
                <bdi>{shortened(one.other.name.name, 120)}</bdi>
              </Link>{" "}
              <span className="muted">{one.score} % alike</span>
            </span>
            <Button onPress={() => again(one)}>Suggest again</Button>
          </li>
        ))}
      </ul>
      <ShowMore of={found} />
    </>
  );
}
