// The answer in each of its phases, with the status of its sentences and the reasons for doubt.
import { Link } from "react-router";
import { Failed, Loading } from "../ui/States";
import styles from "./AnswerPart.module.css";
import { CheckStatusBar } from "./CheckStatusBar";
import { Disagreements } from "./Disagreements";
import { AnswerText, PlainMarkdown } from "./LazyText";
import { isDoubtful, summaryOf, verdictOf } from "./status";
import type { Asked } from "./useAsk";

interface Props {
  /** The name of the part for screen readers. */
  label?: string;
  workspace: string;
  asked: Asked & { again: () => void };
  hasModel: boolean;
  focus: number | null;
  addressOf: (sentence: number) => string;
  onFocus: (sentence: number) => void;
}

export function AnswerPart({
  label = "Answer",
  workspace,
  asked,
  hasModel,
  focus,
  addressOf,
  onFocus,
}: Props) {
  const { phase, answer, text, problem, rewritten, found } = asked;
  const anything = Boolean(found?.evidence.passages.length);
  return (
    <section aria-label={label} aria-busy={phase === "searching" || phase === "answering"}>
      <p className="visually-hidden" role="status">
        {announcement(asked, hasModel)}
      </p>
      {rewritten && <p className={styles.rewritten}>Searched for: {rewritten}</p>}
      {answer ? (
        <Checked workspace={workspace} asked={asked} focus={focus} addressOf={addressOf} onFocus={onFocus} />
      ) : (
        text && (
          <div className={styles.answer}>
            <div className={styles.pending} aria-hidden="true" />
            <PlainMarkdown text={text} />
          </div>
        )
      )}
      {phase === "searching" && <Loading what="what the documents say" lines={3} />}
      {phase === "answering" && (
        <p className={styles.phase}>{text ? "Writing the answer…" : "Waiting for the model…"}</p>
      )}
      {phase === "stopped" && (
        <p className={styles.phase}>Stopped. The answer is not complete and was not checked.</p>
      )}
      {phase === "done" && !hasModel && (
        <p className={styles.phase}>
          {anything
            ? "Without a language model there is no written answer; the passages that were found are below."
            : "Nothing was found, and without a language model there is no written answer."}{" "}
          To get answers, set one: <code>trueweave settings model PROVIDER/MODEL</code>
        </p>
      )}
      {problem && <Failed error={problem} again={asked.again} />}
    </section>
  );
}

function announcement({ phase, answer, found }: Asked, hasModel: boolean): string {
  if (phase === "searching") return "Searching";
  if (phase === "answering") return "Answer under way";
  if (phase === "done" && found?.evidence.passages.length === 0) return "Nothing was found";
  if (phase === "done" && answer) return `Checked: ${summaryOf(answer.sentences)}`;
  if (phase === "done" && !hasModel) return "Passages found";
  return "";
}

function Checked({ workspace, asked, focus, addressOf, onFocus }: Omit<Props, "hasModel" | "label">) {
  const answer = asked.answer;
  if (!answer) return null;
  const { sentences, citations, known, finish, reasoning, checks } = answer;
  const claims = sentences.filter((one) => one.claims);
  return (
    <>
      {reasoning && (
        <details className={styles.reasoning}>
          <summary>The model's reasoning</summary>
          <PlainMarkdown text={reasoning} />
        </details>
      )}
      <div className={styles.answer}>
        {known ? <CheckStatusBar sentences={sentences} focus={focus} /> : <div />}
        <AnswerText
          text={asked.text}
          sentences={known ? sentences : []}
          citations={citations}
          focus={focus}
          addressOf={addressOf}
          onFocus={onFocus}
        />
      </div>
      {known && claims.length > 0 && (
        <p className={styles.summary}>
          {summaryOf(sentences)}
          {checks.length > 0 && ` (checked by ${checks.map((one) => one.verifier).join(", ")})`}
        </p>
      )}
      {finish === "length" && (
        <p className={styles.phase}>The answer reached its maximum length and was cut.</p>
      )}
      {checks
        .filter((one) => one.problem)
        .map((one) => (
          <p key={one.verifier} className={styles.reason}>
            The verifier {one.verifier} failed: {one.problem}
          </p>
        ))}
      {known && sentences.some(isDoubtful) && (
        <ul className={styles.reasons} aria-label="Sentences that are not confirmed">
          {sentences.map(
            (sentence, at) =>
              isDoubtful(sentence) && (
                <li key={sentence.start} className={styles.reason} data-kind={sentence.status}>
                  <Link to={addressOf(at)} replace preventScrollReset>
                    “{sentence.text}”
                  </Link>{" "}
                  <strong>{verdictOf(sentence)}</strong>
                  {sentence.reason && `: ${sentence.reason}`}
                </li>
              ),
          )}
        </ul>
      )}
      <Disagreements workspace={workspace} conflicts={answer.disagreements} />
    </>
  );
}
