// The Compare view: one question by several methods, side by side.
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "react-aria-components";
import { flushSync } from "react-dom";
import { useNavigate, useParams, useSearchParams } from "react-router";
import type { Question } from "../api/ask";
import { methods as methodsQuery, workspace as workspaceQuery } from "../api/queries";
import ask from "../ask/AskPage.module.css";
import { questionOf } from "../ask/forms";
import { rememberQuestion } from "../ask/recent";
import { useShortcuts } from "../shell/shortcuts";
import { useTitle } from "../shell/useTitle";
import { viewPath } from "../shell/views";
import { CopyButton } from "../ui/CopyButton";
import { NoDocuments } from "../ui/NoDocuments";
import { SameAs } from "../ui/SameAs";
import { Empty, Failed, Loading } from "../ui/States";
import {
  type Choice,
  type CompareState,
  choiceName,
  choiceText,
  commandOf,
  readAddress,
  requestOf,
  writeAddress,
} from "./address";
import { Column, type Progress } from "./Column";
import { CompareForm } from "./CompareForm";
import styles from "./ComparePage.module.css";
import { OverlapTable } from "./OverlapTable";
import { sharedPassages } from "./overlap";

export function ComparePage() {
  const { ws = "" } = useParams();
  const [params] = useSearchParams();
  const about = useQuery(workspaceQuery(ws));
  const methods = useQuery(methodsQuery(ws));
  useTitle(params.get("q") || "Compare", ws);
  const usual = useMemo(() => usualChoices(methods.data ?? []), [methods.data]);
  let state: CompareState;
  try {
    state = readAddress(params);
  } catch (error) {
    return <Failed error={error} />;
  }
  for (const one of [about, methods])
    if (one.isError) return <Failed error={one.error} again={() => one.refetch()} />;
  if (!about.data || !methods.data) return <Loading what="the workspace" />;
  const { has_model: hasModel, status } = about.data;
  return (
    <CompareView
      key={ws}
      workspace={ws}
      state={state.choices.length ? state : { ...state, choices: usual }}
      hasModel={hasModel}
      isEmpty={status.documents === 0}
    />
  );
}

const USUAL = ["naive", "fuse", "weave"];
const FEWEST = 2;

/** The methods that are compared if none are named: the usual ones that can be used here, or else any. */
export function usualChoices(methods: { name: string; usable: boolean }[]): Choice[] {
  const usable = methods.filter((one) => one.usable).map((one) => one.name);
  const usual = USUAL.filter((one) => usable.includes(one));
  const others = usable.filter((one) => !usual.includes(one) && one !== "auto");
  return [...usual, ...others.slice(0, Math.max(0, FEWEST - usual.length))].map((method) => ({
    method,
    parameters: {},
  }));
}

interface Props {
  workspace: string;
  state: CompareState;
  hasModel: boolean;
  isEmpty: boolean;
}

function CompareView({ workspace, state, hasModel, isEmpty }: Props) {
  const navigate = useNavigate();
  const [progress, setProgress] = useState<readonly Progress[]>([]);
  const [shown, setShown] = useState(0);
  const { choices } = state;
  const answers = state.answers && hasModel;
  const names = choices.map(choiceName);

  const questions = choices.map((choice) => questionBy(state, choice));
  const asked = questions.map((question) => JSON.stringify({ question, answers }));
  const of = asked.map((one, at) => (progress[at]?.asked === one ? progress[at] : undefined));
  const columns = of.map((one) => one?.ranked ?? null);
  const key = JSON.stringify(columns);
  const shared = useMemo(() => sharedPassages(JSON.parse(key)), [key]);
  const busy = of.some((one) => one?.isBusy);
  const report = useCallback((at: number, one: Progress) => {
    setProgress((before) => {
      const after = [...before];
      after[at] = one;
      return after;
    });
  }, []);

  const go = (to: CompareState, replace = false) =>
    navigate(`${viewPath(workspace, "compare")}?${writeAddress(to)}`, { replace, preventScrollReset: true });
  const stop = () => {
    for (const one of of) if (one?.isBusy) one.stop();
  };
  useColumnKeys({
    order: choices.map(choiceText),
    onShow: setShown,
    onSwap: (at) => go(swapped(state, at), true),
  });

  return (
    <div className={styles.page}>
      <h1 className="visually-hidden" tabIndex={-1}>
        Compare methods in {workspace}
      </h1>
      <CompareForm
        workspace={workspace}
        compared={state}
        hasModel={hasModel}
        busy={busy}
        onStop={stop}
        onCompare={(to) => {
          rememberQuestion(workspace, to.question);
          go(to);
        }}
      />
      <p className="visually-hidden" role="status">
        {announcement(of, names)}
      </p>
      {isEmpty && <NoDocuments workspace={workspace} />}
      {!isEmpty && !state.question && (
        <Empty title="Ask one question by several methods">
          <p>
            Each column shows what one method finds: its passages, those that other methods found as well, its
            time and its cost. The searches run one after the other, so that none slows another down.
          </p>
        </Empty>
      )}
      {!isEmpty && state.question && (
        <>
          {state.answers && !hasModel && (
            <p className="muted">There is no language model: passages are shown without answers.</p>
          )}
          <Toolbar
            workspace={workspace}
            state={state}
            onDifferences={(to) => go({ ...state, differences: to }, true)}
          />
          <fieldset className={styles.switch} aria-label="Method shown">
            {names.map((name, at) => (
              <Button key={name} aria-pressed={at === shown} onPress={() => setShown(at)}>
                {name}
              </Button>
            ))}
          </fieldset>
          <div className={styles.columns}>
            {choices.map((choice, at) => (
              <Column
                key={choiceText(choice)}
                workspace={workspace}
                at={at}
                choice={choice}
                question={questions[at] ?? null}
                asked={asked[at] ?? ""}
                answers={answers}
                isItsTurn={of.slice(0, at).every((one) => one?.isSearched)}
                columns={columns}
                names={names}
                shared={shared}
                differences={state.differences}
                isShown={at === Math.min(shown, choices.length - 1)}
                onProgress={report}
              />
            ))}
          </div>
          <OverlapTable names={names} columns={columns} />
        </>
      )}
    </div>
  );
}

function questionBy(state: CompareState, choice: Choice): Question | null {
  if (!state.question.trim()) return null;
  const { question, filter } = state;
  return questionOf({ question, filter, ...choice, sentence: null, tab: "passages" });
}

function announcement(of: (Progress | undefined)[], names: string[]): string {
  const waiting = names.filter((_, at) => of[at] !== undefined && !of[at]?.isSearched);
  if (waiting.length) return `Searching by ${waiting.join(", ")}`;
  if (of.some((one) => one?.isBusy)) return "Answers under way";
  return of.length > 0 && of.every((one) => one?.isSearched) ? "All methods have finished" : "";
}

/** The state with a column and the one to its right exchanged. */
export function swapped(state: CompareState, at: number): CompareState {
  const choices = [...state.choices];
  const [one, next] = [choices[at], choices[at + 1]];
  if (!one || !next) return state;
  choices[at] = next;
  choices[at + 1] = one;
  return { ...state, choices };
}

interface Keys {
  /** The methods from left to right. */
  order: string[];
  onShow: (at: number) => void;
  onSwap: (at: number) => void;
}

const heading = (at: number) => globalThis.document.querySelector<HTMLElement>(`[data-column="${at}"]`);

/** The keys 1 to 4 go to a column, and x exchanges the column that has the focus with the next. */
function useColumnKeys({ order, onShow, onSwap }: Keys): void {
  // The column that was moved. It loses the focus while it moves, and gets it back when it has its new place.
  const moved = useRef<string | null>(null);
  const key = JSON.stringify(order);
  useEffect(() => {
    if (moved.current === null) return;
    heading((JSON.parse(key) as string[]).indexOf(moved.current))?.focus();
    moved.current = null;
  }, [key]);
  const focused = () => {
    const column = globalThis.document.activeElement
      ?.closest("section")
      ?.querySelector<HTMLElement>("[data-column]");
    return column ? Number(column.dataset.column) : null;
  };
  useShortcuts({
    ...Object.fromEntries(
      order.map((_, at) => [
        String(at + 1),
        () => {
          flushSync(() => onShow(at)); // a narrow window hides the others, which cannot have the focus
          heading(at)?.focus();
        },
      ]),
    ),
    x: () => {
      const at = focused();
      if (at === null || at + 1 >= order.length) return;
      moved.current = order[at] ?? null;
      onShow(at + 1);
      onSwap(at);
    },
  });
}

interface ToolbarProps {
  workspace: string;
  state: CompareState;
  onDifferences: (on: boolean) => void;
}

function Toolbar({ workspace, state, onDifferences }: ToolbarProps) {
  const link = () => `${location.origin}/ui${viewPath(workspace, "compare")}?${writeAddress(state)}`;
  const none =
    "The command compares methods with their default parameters only. The request has all of them.";
  return (
    <div className={`${ask.actions} ${styles.toolbar}`}>
      <label className={styles.answers}>
        <input
          type="checkbox"
          checked={state.differences}
          onChange={(event) => onDifferences(event.target.checked)}
        />
        Only differences
      </label>
      <CopyButton label="Copy link" text={link} />
      <SameAs
        command={commandOf(workspace, state) || { none }}
        request={`POST /v1/workspaces/${workspace}/compare`}
        body={requestOf(state)}
      />
    </div>
  );
}
