// The answer as Markdown, with its sentences and citations.
import { useMemo } from "react";
import Markdown, { type Components } from "react-markdown";
import { Link } from "react-router";
import remarkGfm from "remark-gfm";
import styles from "./AnswerText.module.css";
import { type Citation, markSentences, rangesOf, type Sentence } from "./sentences";
import { kindOf, verdictOf } from "./status";

interface Props {
  text: string;
  sentences: Sentence[];
  citations: Citation[];
  focus: number | null;
  /** The address of the view with this sentence in focus. */
  addressOf: (sentence: number) => string;
  onFocus: (sentence: number) => void;
}

/** Neither images nor links: a document can make a model write an address that sends what it read elsewhere. */
const SAFE: Components = {
  img: ({ alt }) => <>{alt}</>,
  a: ({ href, children }) => (
    <>
      {children}
      {href ? ` (${href})` : ""}
    </>
  ),
};

export function AnswerText({ text, sentences, citations, focus, addressOf, onFocus }: Props) {
  const rehypePlugins = useMemo(() => {
    const known = new Set(citations.map((one) => one.number));
    return [markSentences(text, rangesOf(text, sentences), known)];
  }, [text, sentences, citations]);
  const components: Components = {
    ...SAFE,
    span: ({ children, ...rest }) => {
      const index = Number((rest as Record<string, unknown>)["data-sentence"]);
      const sentence = sentences[index];
      if (!sentence) return <span>{children}</span>;
      return (
        // The keys j and k, and the citation links, do the same without a pointer.
        // biome-ignore lint/a11y/noStaticElementInteractions: see above
        // biome-ignore lint/a11y/useKeyWithClickEvents: see above
        <span
          className={styles.sentence}
          data-sentence={index}
          data-kind={kindOf(sentence)}
          data-focus={index === focus || undefined}
          title={sentence.reason ? `${verdictOf(sentence)}: ${sentence.reason}` : verdictOf(sentence)}
          onClick={() => onFocus(index)}
        >
          {children}
        </span>
      );
    },
    sup: ({ children, ...rest }) => {
      const found = rest as Record<string, unknown>;
      const mark = Number(found["data-citation"]);
      const of = found["data-of"];
      const citation = citations.find((one) => one.number === mark);
      if (!citation) return <sup>{children}</sup>;
      return (
        <Link
          className={styles.citation}
          to={addressOf(Number(of ?? 0))}
          replace
          preventScrollReset
          aria-label={`Source ${mark}: ${citation.source}`}
          onClick={(event) => event.stopPropagation()}
        >
          {children}
        </Link>
      );
    },
  };
  return (
    <div className={styles.text}>
      <Markdown remarkPlugins={[remarkGfm]} rehypePlugins={rehypePlugins} components={components}>
        {text}
      </Markdown>
    </div>
  );
}

/** Text that a model wrote, without sentences: an answer under way, or a report. */
export function PlainMarkdown({ text }: { text: string }) {
  return (
    <div className={styles.text}>
      <Markdown remarkPlugins={[remarkGfm]} components={SAFE}>
        {text}
      </Markdown>
    </div>
  );
}
