import { memo } from "react";
import { Link } from "react-router";
import { entityPath } from "../entity/address";
import { Blocks } from "../text/Blocks";
import { slice } from "../text/offsets";
import styles from "./ReaderPage.module.css";
import { cut, type Mention, type Segment } from "./segments";
import type { Part } from "./spans";

interface Props {
  workspace: string;
  part: Part;
  before: Part | undefined;
  mentions: Mention[];
  /** The cited span, in code points of the document. If it is empty, its start is where the address leads. */
  start: number;
  end: number;
  colourOf: (type: string) => number;
}

/** A chunk's own text, with the cited words marked and mentions underlined. */
export const PartText = memo(
  ({ workspace, part, before, mentions, start, end, colourOf }: Props) => {
    const heading = part.headings.at(-1);
    const isNew = heading !== undefined && heading !== before?.headings.at(-1);
    const isNewPage = part.page !== "" && part.page !== before?.page;
    return (
      <section className={styles.part}>
        {(isNew || isNewPage) && (
          <p className={styles.place}>
            {[isNewPage && `page ${part.page}`, isNew && heading].filter(Boolean).join(" · ")}
          </p>
        )}
        <div className={styles.words} dir="auto">
          <Blocks text={part.text}>
            {(from, to) => (
              <Words {...{ workspace, mentions, start, end, colourOf }} part={within(part, from, to)} />
            )}
          </Blocks>
        </div>
      </section>
    );
  },
  // A change of the cited span matters only to the parts that have it.
  (old, now) =>
    old.part.id === now.part.id &&
    old.part.text === now.part.text &&
    old.before?.id === now.before?.id &&
    old.colourOf === now.colourOf &&
    isSame(old.mentions, now.mentions) &&
    spanIn(old) === spanIn(now),
);

const isSame = (a: Mention[], b: Mention[]): boolean =>
  a.length === b.length && a.every((one, at) => one === b[at]);

function spanIn({ part, start, end }: Props): string {
  const touches = start < part.end && Math.max(start, end) >= part.start;
  return touches ? `${start} ${end}` : "";
}

/** A span of a part, in code points of its text, as a part. */
const within = (part: Part, from: number, to: number): Part => ({
  ...part,
  start: part.start + from,
  end: part.start + to,
  text: slice(part.text, from, to),
});

/** The words of a part, or of a cell of a table in it. */
function Words({ workspace, part, mentions, start, end, colourOf }: Omit<Props, "before">) {
  const isHere = start >= part.start && start < part.end;
  const pieces = cut(part, mentions, start, end);
  return (
    <>
      <Segments workspace={workspace} segments={pieces.before} colourOf={colourOf} />
      {isHere && end <= start && <span data-target className={styles.target} />}
      {pieces.cited.length > 0 && (
        <mark tabIndex={-1} {...(isHere && !startsWithMention(pieces.cited) ? { "data-at": start } : {})}>
          <Segments workspace={workspace} segments={pieces.cited} colourOf={colourOf} />
        </mark>
      )}
      <Segments workspace={workspace} segments={pieces.after} colourOf={colourOf} />
    </>
  );
}

const startsWithMention = ([first]: Segment[]): boolean =>
  first !== undefined && first.mention !== null && first.mention.start === first.start;

interface SegmentsProps {
  workspace: string;
  segments: Segment[];
  colourOf: (type: string) => number;
}

function Segments({ workspace, segments, colourOf }: SegmentsProps) {
  return segments.map(({ text, start, mention }) =>
    mention ? (
      <Link
        key={start}
        to={entityPath(workspace, mention.entity)}
        className={styles.mention}
        tabIndex={-1}
        title={`${mention.name} · ${mention.type}`}
        data-colour={colourOf(mention.type)}
        {...(mention.start === start ? { "data-at": start } : {})}
      >
        {text}
      </Link>
    ) : (
      text
    ),
  );
}
