import type { ReactNode } from "react";
import { Link } from "react-router";
import { documentPath } from "../reader/address";
import styles from "./EntityPage.module.css";
import { byDocument, pieces, type Quote } from "./sentences";

interface Props<T extends Quote> {
  workspace: string;
  quotes: T[];
  /** What is shown below a sentence. */
  below?: (quote: T) => ReactNode;
}

/** Sentences by document. Each name in them leads to its place in the document. */
export function Quotes<T extends Quote>({ workspace, quotes, below }: Props<T>) {
  return byDocument(quotes).map((group) => {
    const first = group[0] as T;
    return (
      <section key={first.uri} className={styles.document}>
        <h3>
          <Link to={documentPath(workspace, first.uri)}>
            <bdi>{first.title || first.uri}</bdi>
          </Link>
        </h3>
        <ol className={styles.quotes}>
          {group.map((quote, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a passage can have the same sentence twice, and the order stays
            <li key={`${quote.chunk} ${quote.textStart} ${at}`}>
              <Sentence workspace={workspace} quote={quote} />
              {below?.(quote)}
            </li>
          ))}
        </ol>
      </section>
    );
  });
}

function Sentence({ workspace, quote }: { workspace: string; quote: Quote }) {
  const { uri, textStart } = quote;
  const isNamed = quote.spans.length > 0;
  return (
    <p className={styles.sentence} dir="auto">
      {pieces(quote).map(({ text, span }) =>
        span ? (
          <Link key={span[0]} to={documentPath(workspace, uri, ...span)} data-mention>
            <mark>{text}</mark>
          </Link>
        ) : (
          text
        ),
      )}
      {!isNamed && (
        <>
          {" "}
          <Link className={styles.open} to={documentPath(workspace, uri, textStart)} data-mention>
            open the passage
          </Link>
        </>
      )}
    </p>
  );
}
