// A document: its text, with the cited words and the mentions of entities marked, and its outline.
import { ArrowUpRight } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "react-aria-components";
import { Link, useParams, useSearchParams } from "react-router";
import { entityPath } from "../entity/address";
import { useShortcuts } from "../shell/shortcuts";
import { useTitle } from "../shell/useTitle";
import { IN_PLACE, viewPath } from "../shell/views";
import { counted } from "../text/words";
import { CopyButton } from "../ui/CopyButton";
import { Popup } from "../ui/Popup";
import { ReadBy } from "../ui/ReadBy";
import { Failed, Loading } from "../ui/States";
import { Toggle } from "../ui/Toggle";
import { entriesOf, Outline, useOutline } from "./Outline";
import { PartText } from "./PartText";
import styles from "./ReaderPage.module.css";
import { scrollTo } from "./scroll";
import { byPart, type Mention, type Stop, separate, stopsOf, typeColours } from "./segments";
import { partsOf } from "./spans";
import { useDocument, type Windows } from "./useDocument";

const DATE = new Intl.DateTimeFormat("en", { dateStyle: "long" });
const WIDE = "(min-width: 901px)"; // as in the style sheet

export function ReaderPage() {
  const { ws = "" } = useParams();
  const [params] = useSearchParams();
  const uri = params.get("uri") ?? "";
  return <Reader key={`${ws} ${uri}`} workspace={ws} uri={uri} />;
}

const mentionsOf = (data: Windows | undefined): Mention[] =>
  separate(data?.pages.flatMap((page) => page.mentions) ?? []);

function Reader({ workspace, uri }: { workspace: string; uri: string }) {
  const [params, setParams] = useSearchParams();
  const start = count(params.get("start"));
  const end = count(params.get("end"));
  const showsMentions = params.get("mentions") !== "off";
  const found = useDocument(workspace, uri, start);
  const outline = useOutline(workspace, uri).data;
  const [entity, setEntity] = useState("");
  const [isOutlineOpen, setOutlineOpen] = useState(false);
  const text = useRef<HTMLDivElement>(null);
  const contents = useRef<HTMLElement>(null);
  const first = found.data?.pages[0];
  useTitle(first?.title || uri, workspace);

  const parts = useMemo(() => partsOf(found.data?.pages.flatMap((page) => page.spans) ?? []), [found.data]);
  const mentions = useMemo(() => mentionsOf(found.data), [found.data]);
  const shown = useMemo(
    () => (showsMentions ? mentions.filter((one) => !entity || one.entity === entity) : []),
    [mentions, showsMentions, entity],
  );
  const inParts = useMemo(() => byPart(parts, shown), [parts, shown]);
  const colourOf = useMemo(() => typeColours(first?.entities.map((one) => one.entity.type) ?? []), [first]);
  const entries = outline ? entriesOf(outline) : [];

  useScrollToTarget(text, `${start} ${end}`, parts.length > 0);
  const bottom = useLoadMore(found.hasNextPage && !found.isError, found.fetchNextPage);
  const cited = useMemo(() => ({ start, end }), [start, end]);
  const { current, move, isSearching } = useStops({ found, cited, entity, isOn: showsMentions, text });
  useShortcuts({
    n: () => move(1),
    p: () => move(-1),
    ...(entries.length > 0
      ? {
          o: () => {
            if (matchMedia(WIDE).matches) contents.current?.querySelector("a")?.focus();
            else setOutlineOpen(true);
          },
        }
      : {}),
    ...(entity ? { Escape: () => setEntity("") } : {}),
  });
  const toggleMentions = (on: boolean) => {
    const to = new URLSearchParams(params);
    if (on) to.delete("mentions");
    else to.set("mentions", "off");
    setParams(to, IN_PLACE);
  };

  if (!first) {
    if (!found.isError) return <Loading what="the document" lines={12} />;
    return (
      <>
        <Failed error={found.error} again={() => found.refetch()} />
        <p className={styles.back}>
          <Link to={viewPath(workspace, "documents")}>All documents</Link>
        </p>
      </>
    );
  }
  return (
    <div className={styles.page}>
      <article className={styles.article}>
        <p className={styles.back}>
          <Link to={viewPath(workspace, "documents")}>All documents</Link>
        </p>
        <h1 tabIndex={-1} dir="auto">
          {first.title || uri}
        </h1>
        <p className={styles.about}>
          <code>
            <bdi>{uri}</bdi>
          </code>{" "}
          · {counted(first.chunks, "chunk")} · added {DATE.format(new Date(first.added))}{" "}
          <ReadBy groups={first.readers} />
        </p>
        {first.notes.map((note) => (
          <p key={note} className={styles.note}>
            {note}
          </p>
        ))}
        {entries.length > 0 && (
          <div className={styles.narrowOnly}>
            <Button onPress={() => setOutlineOpen(true)}>Outline</Button>
          </div>
        )}
        {found.hasPreviousPage && (
          <Button onPress={() => found.fetchPreviousPage()} isDisabled={found.isFetchingPreviousPage}>
            Show the text before
          </Button>
        )}
        <div ref={text} className={styles.text}>
          {parts.map((part, at) => (
            <PartText
              key={`${part.id} ${part.start}`}
              workspace={workspace}
              part={part}
              before={parts[at - 1]}
              mentions={inParts[at] ?? NO_MENTIONS}
              start={start}
              end={end}
              colourOf={colourOf}
            />
          ))}
        </div>
        {found.isError && <Failed error={found.error} again={() => found.fetchNextPage()} />}
        {found.hasNextPage && (
          <div ref={bottom}>
            <Button onPress={() => found.fetchNextPage()} isDisabled={found.isFetchingNextPage}>
              {found.isFetchingNextPage ? "Loading more…" : "Show more"}
            </Button>
          </div>
        )}
      </article>
      <aside className={styles.aside}>
        <CopyButton label="Copy link" text={() => location.href} />
        {outline && entries.length > 0 && (
          <nav ref={contents} className={`card ${styles.wideOnly}`} aria-label="Outline">
            <h2>Outline</h2>
            <Outline workspace={workspace} outline={outline} at={start} />
          </nav>
        )}
        {first.entities.length > 0 && (
          <section className="card" aria-label="Entities">
            <h2>Mentioned most</h2>
            <Toggle on={showsMentions} onChange={toggleMentions}>
              Underline mentions
            </Toggle>
            <ul className={styles.entities}>
              {first.entities.map(({ entity: one, mentions: often }) => (
                <li key={one.id}>
                  <Link
                    className={styles.entityPage}
                    to={entityPath(workspace, one.id, uri)}
                    aria-label={`Open the page of ${one.name}`}
                  >
                    <ArrowUpRight size={16} aria-hidden="true" />
                  </Link>
                  <button
                    type="button"
                    aria-pressed={entity === one.id}
                    onClick={() => setEntity(entity === one.id ? "" : one.id)}
                  >
                    <span className={styles.entity}>
                      <span className={styles.entityName} data-colour={colourOf(one.type)}>
                        <bdi>{one.name}</bdi>
                      </span>{" "}
                      <span className="muted">{one.type}</span>
                    </span>
                    <span className={styles.mentions}>{often}</span>
                  </button>
                </li>
              ))}
            </ul>
            <p className="muted">
              Choose one to see its mentions alone. <kbd>n</kbd> and <kbd>p</kbd> go through them;{" "}
              <kbd>Enter</kbd> opens the page of the entity.
            </p>
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
      <p className={styles.current} role="status">
        {isSearching && "Searching the rest of the document…"}
        {!isSearching && current && !current.mention && "The cited words"}
        {!isSearching && current?.mention && (
          <>
            <Link to={entityPath(workspace, current.mention.entity)}>
              <bdi>{current.mention.name}</bdi>
            </Link>{" "}
            <span className="muted">{current.mention.type}</span>
          </>
        )}
      </p>
      {outline && (
        <Popup title="Outline" open={isOutlineOpen} onClose={() => setOutlineOpen(false)}>
          <Outline workspace={workspace} outline={outline} at={start} onGo={() => setOutlineOpen(false)} />
        </Popup>
      )}
    </div>
  );
}

const NO_MENTIONS: Mention[] = [];

function count(text: string | null): number {
  const found = Number.parseInt(text ?? "", 10);
  return Number.isFinite(found) && found > 0 ? found : 0;
}

/** Scrolls the cited words to the middle, or the beginning of a section to the top; once for each address. */
function useScrollToTarget(text: React.RefObject<HTMLElement | null>, span: string, isLoaded: boolean): void {
  const done = useRef("0 0");
  useEffect(() => {
    if (!isLoaded || done.current === span) return;
    const mark = text.current?.querySelector("mark");
    const target = mark ?? text.current?.querySelector("[data-target]");
    if (!target) return; // it is still being loaded
    done.current = span;
    scrollTo(target, mark ? "center" : "start");
  });
}

/** Loads more when the end of the text comes near. Returns the ref of the element after the text. */
function useLoadMore(hasMore: boolean, load: () => void): (element: HTMLElement | null) => void {
  const latest = useRef({ hasMore, load });
  useEffect(() => {
    latest.current = { hasMore, load };
  });
  const observer = useRef<IntersectionObserver | null>(null);
  return useCallback((element) => {
    observer.current?.disconnect();
    observer.current = null;
    if (!element) return;
    observer.current = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting && latest.current.hasMore) latest.current.load();
      },
      { rootMargin: "0px 0px 2000px 0px" },
    );
    observer.current.observe(element);
  }, []);
}

interface Stops {
  found: ReturnType<typeof useDocument>;
  cited: { start: number; end: number };
  entity: string;
  isOn: boolean;
  text: React.RefObject<HTMLElement | null>;
}

/** Goes to the next and the previous stop, and loads more of the document if the next is not loaded yet. */
function useStops({ found, cited, entity, isOn, text }: Stops) {
  const [current, setCurrent] = useState<Stop | null>(null);
  const [isSearching, setSearching] = useState(false);
  const busy = useRef(false);
  useEffect(() => {
    if (!current) return;
    const element = text.current?.querySelector<HTMLElement>(`[data-at="${current.start}"]`);
    if (!element) return;
    scrollTo(element, "center");
    element.focus({ preventScroll: true });
  }, [current, text]);
  // The address or the chosen entity changed: go on from what is on the screen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: these start anew
  useEffect(() => setCurrent(null), [cited, entity, isOn]);

  const move = async (by: 1 | -1) => {
    if (busy.current) return;
    busy.current = true;
    const from = current?.start ?? startOf(text.current, cited, by);
    try {
      let data = found.data;
      for (;;) {
        const stops = stopsOf(isOn ? mentionsOf(data) : [], cited, entity);
        const next =
          by > 0 ? stops.find((one) => one.start > from) : stops.findLast((one) => one.start < from);
        if (next) return setCurrent({ ...next });
        const before = data?.pages.length;
        setSearching(true);
        data = (await (by > 0 ? found.fetchNextPage() : found.fetchPreviousPage())).data;
        if (data?.pages.length === before) return; // there is no more, or it could not be loaded, which is shown
      }
    } finally {
      busy.current = false;
      setSearching(false);
    }
  };
  return { current, move, isSearching };
}

/** Where the first key starts from: the cited words if they are on the screen, or else what is on the screen. */
function startOf(text: HTMLElement | null, cited: { start: number; end: number }, by: 1 | -1): number {
  const isShown = (one: Element) => {
    const { top } = one.getBoundingClientRect();
    return top > 60 && top < innerHeight;
  };
  const mark = text?.querySelector("mark");
  if (mark && isShown(mark)) return cited.start;
  const all = [...(text?.querySelectorAll<HTMLElement>("[data-at]") ?? [])];
  const found = by > 0 ? all.find(isShown) : all.findLast(isShown);
  if (found) return Number(found.dataset.at) - by;
  return by > 0 ? -1 : Number.POSITIVE_INFINITY;
}
