import styles from "./AskPage.module.css";

export interface Turn {
  question: string;
  answer: string;
}

/** The turns before this question. */
export function Conversation({ turns }: { turns: Turn[] }) {
  if (turns.length === 0) return null;
  return (
    <section aria-label="Conversation so far" className={styles.turns}>
      {turns.map((turn, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: turns are only appended, and the same question may come twice
        <details key={at}>
          <summary>{turn.question}</summary>
          <p>{turn.answer}</p>
        </details>
      ))}
    </section>
  );
}
