// A document: its text, with the cited words marked.
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Button } from "react-aria-components";
import { useParams, useSearchParams } from "react-router";
import { api, dataOf } from "../api/client";
import { useTitle } from "../shell/useTitle";
import { Highlighted } from "../text/Highlighted";
import { counted } from "../text/words";
import { CopyButton } from "../ui/CopyButton";
import { Failed, Loading } from "../ui/States";
import styles from "./ReaderPage.module.css";
import { type Part, partsOf } from "./spans";

const DATE = new Intl.DateTimeFormat("en", { dateStyle: "long" });
const CHUNKS = 60; // chunks loaded at once
const BEFORE = 6000; // characters shown before the cited words, as far as there are any

/** Where to load from: the chunk that contains a character, or the one after it; or all chunks before a character. */
type From = { start: number; after?: true } | { before: number };

function useDocument(workspace: string, uri: string, at: number) {
  return useInfiniteQuery({
    queryKey: ["document", workspace, uri, at],
    initialPageParam: { start: Math.max(0, at - BEFORE) } as From,
    queryFn: async ({ pageParam, signal }) => {
      const start = "before" in pageParam ? Math.max(0, pageParam.before - BEFORE) : pageParam.start;
      const first = "after" in pageParam ? 1 : 0;
      const query = { uri, start, first, chunks: CHUNKS };
      const params = { path: { workspace }, query };
      const found = await dataOf(api.GET("/v1/workspaces/{workspace}/document", { params, signal }));
      const spans =
        "before" in pageParam ? found.spans.filter((one) => one.start < pageParam.before) : found.spans;
      return { ...found, spans, isLast: !("before" in pageParam) && found.spans.length < CHUNKS };
    },
    getNextPageParam: (last): From | null => {
      const end = last.spans.at(-1);
      return end && !last.isLast ? { start: end.start, after: true } : null;
    },
    getPreviousPageParam: (first): From | null => {
      const begin = first.spans[0];
      return begin && begin.start > 0 ? { before: begin.start } : null;
    },
  });
}

export function ReaderPage() {
  const { ws = "" } = useParams();
  const [params] = useSearchParams();
  const uri = params.get("uri") ?? "";
  const start = count(params.get("start"));
  const end = count(params.get("end"));
  const found = useDocument(ws, uri, start);
  const first = found.data?.pages[0];
  useTitle(first?.title || uri, ws);
  const parts = partsOf(found.data?.pages.flatMap((page) => page.spans) ?? []);
  const marked = useScrollToMark(`${uri} ${start} ${end}`, parts.length > 0);

  if (!first) {
    if (found.isError) return <Failed error={found.error} again={() => found.refetch()} />;
    return <Loading what="the document" lines={12} />;
  }
  return (
    <div className={styles.page}>
      <article className={styles.article}>
        <h1 tabIndex={-1} dir="auto">
          {first.title || uri}
        </h1>
        <p className={styles.about}>
          <code>{uri}</code> · {counted(first.chunks, "chunk")} · added {DATE.format(new Date(first.added))}
        </p>
        {first.notes.map((note) => (
          <p key={note} className={styles.note}>
            {note}
          </p>
        ))}
        {found.hasPreviousPage && (
          <Button onPress={() => found.fetchPreviousPage()} isDisabled={found.isFetchingPreviousPage}>
            Show the text before
          </Button>
        )}
        <div ref={marked} className={styles.text}>
          {parts.map((part, at) => (
            <PartText
              key={`${part.id} ${part.start}`}
              part={part}
              before={parts[at - 1]}
              start={start}
              end={end}
            />
          ))}
        </div>
        {found.hasNextPage && (
          <Button onPress={() => found.fetchNextPage()} isDisabled={found.isFetchingNextPage}>
            Show more
          </Button>
        )}
        {found.isError && <Failed error={found.error} again={() => found.refetch()} />}
      </article>
      <aside className={styles.aside}>
        <CopyButton label="Copy link" text={() => location.href} />
        {first.entities.length > 0 && (
          <section className="card" aria-label="Entities">
            <h2>Mentioned most</h2>
            <ul className={styles.entities}>
              {first.entities.map(({ entity, mentions }) => (
                <li key={entity.id}>
                  <span>{entity.name}</span> <span className="muted">{entity.type}</span>
                  <span className={styles.mentions}>{mentions}</span>
                </li>
              ))}
            </ul>
          </section>
        )}
        {Object.keys(first.metadata).length > 0 && (
          <section className="card" aria-label="Metadata">
            <h2>Metadata</h2>
            <dl className={styles.metadata}>
              {Object.entries(first.metadata).map(([key, value]) => (
                <div key={key}>
                  <dt>{key}</dt>
                  <dd>{typeof value === "string" ? value : JSON.stringify(value)}</dd>
                </div>
              ))}
            </dl>
          </section>
        )}
      </aside>
    </div>
  );
}

function count(text: string | null): number {
  const found = Number.parseInt(text ?? "", 10);
  return Number.isFinite(found) && found > 0 ? found : 0;
}

interface PartProps {
  part: Part;
  before: Part | undefined;
  start: number;
  end: number;
}

function PartText({ part, before, start, end }: PartProps) {
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
      <p className={styles.words} dir="auto">
        <Highlighted
          text={part.text}
          start={Math.max(start - part.start, 0)}
          end={Math.min(end, part.end) - part.start}
        />
      </p>
    </section>
  );
}

/** Scrolls the marked words to the middle, once for each span. */
function useScrollToMark(span: string, isLoaded: boolean) {
  const ref = useRef<HTMLDivElement>(null);
  const done = useRef("");
  useEffect(() => {
    if (!isLoaded || done.current === span) return;
    done.current = span;
    ref.current?.querySelector("mark")?.scrollIntoView({ block: "center" });
  }, [span, isLoaded]);
  return ref;
}
