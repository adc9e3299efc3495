import type { ReactNode } from "react";
import { Link } from "react-router";
import { documentPath } from "../reader/address";
import { shortened } from "../text/words";
import styles from "./Bench.module.css";
import type { BenchPassage } from "./queries";
import { stateText } from "./words";

interface Props {
  workspace: string;
  passage: BenchPassage;
  /** How many characters of its text at most. */
  most?: number;
  /** What stands before the source, such as the rank. */
  children?: ReactNode;
}

/** The source of a passage, which leads to the reader, and the beginning of its text as it is now. */
export function PassageText({ workspace, passage, most = 300, children }: Props) {
  const { uri, title, text, start, end } = passage;
  const wrong = stateText(passage);
  return (
    <>
      <p className={styles.source}>
        {children}
        {uri && (
          <Link to={documentPath(workspace, uri, start ?? undefined, end ?? undefined)}>
            <bdi>{shortened(title || uri, 120)}</bdi>
          </Link>
        )}
      </p>
      {wrong && <p className={styles.gone}>{wrong}</p>}
      {text && (
        <p className={styles.passage} dir="auto">
          {shortened(text, most)}
        </p>
      )}
    </>
  );
}
