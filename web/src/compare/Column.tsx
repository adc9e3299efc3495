// One method of a comparison: its answer, its passages, and which of them the other methods found as well.
import { useEffect, useId, useMemo, useState } from "react";
import { Link } from "react-router";
import type { Question } from "../api/ask";
import type { Schemas } from "../api/client";
import { AnswerPart } from "../ask/AnswerPart";
import { type AskState, writeAddress } from "../ask/address";
import { costsOf } from "../ask/CostLine";
import { nothingFound, placeOf } from "../ask/Evidence";
import { useAsk } from "../ask/useAsk";
import { documentPath } from "../reader/address";
import { viewPath } from "../shell/views";
import { counted, duration } from "../text/words";
import { Folded } from "../ui/Folded";
import { Failed, Loading } from "../ui/States";
import { type Choice, choiceName } from "./address";
import styles from "./ComparePage.module.css";
import { isCommon, ordinal, otherRanks, type Ranked, SHOWN, type Shared } from "./overlap";

const EXCERPT = 220; // characters of a passage shown at first

/** What the view needs to know about a column. */
export interface Progress {
  /** What this is the progress of; empty while the method waits for its turn. */
  asked: string;
  isBusy: boolean;
  /** Whether the search has ended: the next method may begin. */
  isSearched: boolean;
  ranked: Ranked;
  stop: () => void;
}

interface Props {
  workspace: string;
  at: number;
  choice: Choice;
  question: Question | null;
  /** Changes with the question, and with whether it is answered. */
  asked: string;
  /** Whether the model writes an answer. */
  answers: boolean;
  /** Whether the methods before it have finished their search. */
  isItsTurn: boolean;
  /** What all columns found, this one included. */
  columns: readonly Ranked[];
  names: readonly string[];
  shared: ReadonlyMap<string, Shared>;
  /** Whether passages that every method found are left out. */
  differences: boolean;
  /** Whether a narrow window shows it. */
  isShown: boolean;
  onProgress: (at: number, progress: Progress) => void;
}

export function Column(props: Props) {
  const { workspace, at, choice, question, asked, answers, isItsTurn, columns, shared, onProgress } = props;
  const [begun, setBegun] = useState("");
  useEffect(() => {
    if (isItsTurn) setBegun(asked);
  }, [isItsTurn, asked]);
  const asks = useAsk({ workspace, question: begun === asked ? question : null, hasModel: answers });
  const { phase, found, stop } = asks;
  const passages = useMemo(() => found?.evidence.passages.slice(0, SHOWN) ?? null, [found]);

  useEffect(() => {
    onProgress(at, {
      asked: begun === asked ? asked : "",
      isBusy: phase === "searching" || phase === "answering",
      isSearched: phase !== "idle" && phase !== "searching",
      ranked: passages?.map((one) => one.id) ?? null,
      stop,
    });
  }, [at, begun, asked, phase, passages, stop, onProgress]);

  const heading = useId();
  const toAsk = (sentence: number | null) => askPath(workspace, choice, question, sentence);
  return (
    <section className={styles.column} aria-labelledby={heading} data-shown={props.isShown || undefined}>
      <header className={styles.head}>
        <h2 id={heading} className={styles.method} tabIndex={-1} data-column={at}>
          <span className={styles.key} aria-hidden="true">
            {at + 1}
          </span>{" "}
          {choiceName(choice)}
        </h2>
        {question && <Link to={toAsk(null)}>open in Ask</Link>}
      </header>
      {found && (
        <p className={styles.figures}>
          {[
            duration(found.trace.seconds),
            counted(found.evidence.passages.length, "passage"),
            onlyHere(passages ?? [], at, columns),
            ...costsOf((asks.answer ?? found).usage),
          ]
            .filter(Boolean)
            .join(" · ")}
        </p>
      )}
      {passages && passages.length > 0 && (
        <Ticks passages={passages} at={at} columns={columns} shared={shared} />
      )}
      {question && phase === "idle" && (
        <p className="muted">Waiting until the searches before it have ended.</p>
      )}
      {phase === "searching" && <Loading what={`what ${choice.method} finds`} lines={4} />}
      {answers && phase !== "idle" && phase !== "searching" && (
        <div className={styles.answer}>
          <AnswerPart
            workspace={workspace}
            label={`Answer by ${choiceName(choice)}`}
            asked={asks}
            hasModel
            focus={null}
            addressOf={(one) => toAsk(one)}
            onFocus={() => {}}
          />
        </div>
      )}
      {!answers && asks.problem && <Failed error={asks.problem} again={asks.again} />}
      {!answers && phase === "stopped" && <p className="muted">Stopped.</p>}
      {passages && <Passages {...props} passages={passages} reason={found?.evidence.reason ?? ""} />}
    </section>
  );
}

/** The Ask view with the same question, by this method alone. */
function askPath(
  workspace: string,
  choice: Choice,
  question: Question | null,
  sentence: number | null,
): string {
  const filter = (question?.filter ?? {}) as AskState["filter"];
  const state = { question: question?.question ?? "", ...choice, filter, sentence };
  return `${viewPath(workspace, "ask")}?${writeAddress(state)}`;
}

type Passage = Schemas["Passage"];

function onlyHere(passages: Passage[], at: number, columns: readonly Ranked[]): string {
  const finished = columns.filter((ids) => ids !== null).length;
  if (finished < 2) return "";
  const only = passages.filter((one) => otherRanks(one.id, at, columns).length === 0).length;
  return `${only} only here`;
}

interface TicksProps {
  passages: Passage[];
  at: number;
  columns: readonly Ranked[];
  shared: ReadonlyMap<string, Shared>;
}

/** One tick for each passage, best first. A passage that several methods found has the same letter and colour in each. */
function Ticks({ passages, at, columns, shared }: TicksProps) {
  const common = passages.filter((one) => shared.has(one.id)).length;
  const label = `${counted(passages.length, "passage")}: ${common} also found by another method, ${onlyHere(passages, at, columns) || "others not known yet"}`;
  return (
    <div className={styles.ticks} role="img" aria-label={label}>
      {passages.map((one) => (
        <Tick key={one.id} shared={shared.get(one.id)} />
      ))}
    </div>
  );
}

function Tick({ shared }: { shared: Shared | undefined }) {
  return (
    <i className={styles.tick} data-colour={shared?.colour}>
      {shared?.letter ?? ""}
    </i>
  );
}

function Passages({
  workspace,
  at,
  columns,
  names,
  shared,
  differences,
  passages,
  reason,
}: Props & { passages: Passage[]; reason: string }) {
  if (passages.length === 0) return <p className="muted">{nothingFound(reason)}</p>;
  const left = passages.filter((one) => !differences || !isCommon(one.id, columns));
  const hidden = passages.length - left.length;
  return (
    <>
      <ol className={styles.passages}>
        {left.map((one) => {
          const others = otherRanks(one.id, at, columns);
          return (
            <li key={one.id}>
              <p className={styles.source}>
                <Tick shared={shared.get(one.id)} />
                <span className={styles.rank}>{passages.indexOf(one) + 1}</span>
                <Link
                  to={documentPath(workspace, one.uri, one.start, one.start + [...one.text].length)}
                  className={styles.place}
                >
                  {placeOf(one)}
                </Link>
              </p>
              <Folded text={one.text} most={EXCERPT} className={styles.excerpt} />
              <p className={styles.others}>
                {others.length > 0
                  ? others.map((other) => `${ordinal(other.rank)} in ${names[other.column]}`).join(", ")
                  : columns.filter((ids) => ids !== null).length > 1 && "only here"}
              </p>
            </li>
          );
        })}
      </ol>
      {hidden > 0 && <p className="muted">{counted(hidden, "passage")} that every method found left out.</p>}
    </>
  );
}
