import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { entityPath } from "../entity/address";
import { Quotes } from "../entity/Quotes";
import { isGone } from "../entity/queries";
import { quotesOf } from "../entity/sentences";
import { counted } from "../text/words";
import { Failed, Loading } from "../ui/States";
import { PreviewText } from "./PreviewText";
import { mergeOf, type Preview, passagesQuery, previewQuery, type Suggestion, sideOf } from "./queries";
import styles from "./ReviewPage.module.css";

interface Props {
  workspace: string;
  suggestion: Suggestion;
  /** The buttons. */
  children: ReactNode;
}

/** Two names that may be one entity: what documents say about each, and what a merge would change. */
export function PairCard({ workspace, suggestion, children }: Props) {
  const preview = useQuery(previewQuery(workspace, mergeOf(suggestion)));
  return (
    <article className={styles.pair} aria-label="Are these the same?">
      <div className={styles.buttons}>{children}</div>
      <p className={styles.alike}>Are these the same? Their names are {suggestion.score} % alike.</p>
      <div className={styles.sides}>
        <Side workspace={workspace} side={suggestion.one} digit={1} preview={preview.data} />
        <Side workspace={workspace} side={suggestion.other} digit={2} preview={preview.data} />
      </div>
      <section aria-label="What a merge would change">
        <h2>If you merge them</h2>
        {preview.isPending && <Loading what="what would change" lines={3} />}
        {preview.isError && <Failed error={preview.error} again={() => preview.refetch()} />}
        {preview.data && <PreviewText preview={preview.data} />}
      </section>
    </article>
  );
}

interface SideProps {
  workspace: string;
  side: Suggestion["one"];
  digit: number;
  preview: Preview | undefined;
}

function Side({ workspace, side, digit, preview }: SideProps) {
  const found = useQuery(passagesQuery(workspace, sideOf(side)));
  const entity = preview?.entities.find(
    ({ before }) => before && [before.name, ...before.aliases].includes(side.name.name),
  )?.before;
  return (
    <section className={styles.side}>
      <h2>
        <Link to={entityPath(workspace, sideOf(side))}>
          <bdi>{side.name.name}</bdi>
        </Link>{" "}
        <kbd>{digit}</kbd>
      </h2>
      <p className="muted">
        {side.name.type && `${side.name.type} · `}
        {counted(side.mentions, "mention")}
        {entity && ` · ${counted(entity.degree, "relation")}`}
        {entity && entity.name !== side.name.name && (
          <>
            {" "}
            · part of <bdi>{entity.name}</bdi>
          </>
        )}
      </p>
      {found.isPending && <Loading what="the passages" lines={3} />}
      {isGone(found.error) && <p>It was merged into another entity or removed in the meantime.</p>}
      {found.isError && !isGone(found.error) && <Failed error={found.error} again={() => found.refetch()} />}
      {found.data && <Quotes workspace={workspace} quotes={quotesOf(found.data)} />}
    </section>
  );
}
