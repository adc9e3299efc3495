import styles from "./CheckStatusBar.module.css";
import type { Sentence } from "./sentences";
import { kindOf, summaryOf } from "./status";

/** One woven tick for each sentence of an answer, readable without colours: what its check found. */
export function CheckStatusBar({ sentences, focus }: { sentences: Sentence[]; focus: number | null }) {
  return (
    <div className={styles.bar} role="img" aria-label={summaryOf(sentences)}>
      {sentences.map((sentence, at) => (
        <i key={sentence.start} data-kind={kindOf(sentence)} data-focus={at === focus || undefined} />
      ))}
    </div>
  );
}
