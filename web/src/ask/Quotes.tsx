// The words that a sentence rests on, each in the context of its passage.
import { Link } from "react-router";
import type { Schemas } from "../api/client";
import { documentPath } from "../reader/address";
import { Highlighted } from "../text/Highlighted";
import { unwrapped } from "../text/unwrap";
import styles from "./Quotes.module.css";
import type { Citation, Sentence } from "./sentences";
import { isDoubtful, verdictOf } from "./status";

type Passage = Schemas["Passage"];

const AROUND = 280; // characters of the passage shown before and after the words

interface Props {
  workspace: string;
  sentence: Sentence | null;
  citations: Citation[];
  passages: Passage[];
}

export function Quotes({ workspace, sentence, citations, passages }: Props) {
  return (
    <>
      {sentence && isDoubtful(sentence) && (
        <p
          className={styles.reason}
          data-kind={sentence.status === "contradicted" ? "contradicted" : undefined}
        >
          <strong>{verdictOf(sentence)}</strong>
          {sentence.reason && `: ${sentence.reason}`}
        </p>
      )}
      {citations.map((citation) => (
        <Quote
          key={`${citation.number} ${citation.start}`}
          workspace={workspace}
          citation={citation}
          passage={passages.find((one) => one.id === citation.passage)}
        />
      ))}
      {sentence && citations.length === 0 && (
        <p className={styles.none}>
          {sentence.citations.length
            ? "The cited passage has no words that support this sentence."
            : "This sentence cites no passage."}
        </p>
      )}
    </>
  );
}

function Quote({
  workspace,
  citation,
  passage,
}: {
  workspace: string;
  citation: Citation;
  passage: Passage | undefined;
}) {
  const title = citation.verbatim ? "Quoted words" : "Most similar words";
  return (
    <section className={`card ${styles.quote}`} aria-label={`Source ${citation.number}`}>
      <h2>
        <span className={styles.number}>{citation.number}</span> {title}
      </h2>
      <blockquote className={styles.words} dir="auto">
        {passage ? <InContext passage={passage} citation={citation} /> : <mark>{citation.quote}</mark>}
      </blockquote>
      <p className={styles.source}>
        {citation.source}
        {citation.date && (
          <>
            {", "}
            <time dateTime={citation.date}>{citation.date.slice(0, 10)}</time>
          </>
        )}{" "}
        ·{" "}
        <Link to={documentPath(workspace, citation.uri, citation.start, citation.end)}>open in document</Link>
      </p>
      {citation.also.length > 0 && <p className={styles.source}>Also in {citation.also.join(", ")}</p>}
    </section>
  );
}

/** The cited words with some of the passage around them, which begins and ends between words where there are any. */
function InContext({ passage, citation }: { passage: Passage; citation: Citation }) {
  const points = [...unwrapped(passage.text)];
  const start = citation.start - passage.start;
  const end = citation.end - passage.start;
  const isSpace = (point: string | undefined) => point !== undefined && /\s/.test(point);
  let from = Math.max(0, start - AROUND);
  while (from > 0 && from < start && !isSpace(points[from - 1])) from++;
  let to = Math.min(points.length, end + AROUND);
  while (to < points.length && to > end && !isSpace(points[to])) to--;
  return (
    <>
      {from > 0 && "… "}
      <Highlighted text={points.slice(from, to).join("")} start={start - from} end={end - from} />
      {to < points.length && " …"}
    </>
  );
}
