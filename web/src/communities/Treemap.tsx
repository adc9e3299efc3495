// Communities as nested rectangles: the area is the number of members, the filling says whether there is a report.
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { counted, shortened } from "../text/words";
import { communityPath } from "./address";
import styles from "./Communities.module.css";
import { byParent, type Community, STATES, type State, titleOf } from "./labels";
import { type Rect, squarified } from "./squarify";

const HEADER = 22; // pixels for the title of a community with parts
const GAP = 3;
const LETTER = 7.2; // pixels that a letter takes on average

export interface Cell {
  community: Community | null; // null: the members of communities that are not shown
  rect: Rect;
  hasParts: boolean;
}

/** The rectangles of communities, outer ones before those within them. `size` is the number of all members. */
export function cells(
  communities: readonly Community[],
  root: string | null,
  size: number,
  into: Rect,
): Cell[] {
  const within = byParent(communities);
  const found: Cell[] = [];
  const fill = (parent: string | null, total: number, space: Rect) => {
    const inside = within.get(parent) ?? [];
    const rest = total - inside.reduce((sum, one) => sum + one.size, 0);
    const sizes = inside.map((one) => one.size);
    if (rest > 0) sizes.push(rest);
    for (const [at, rect] of squarified(sizes, space).entries()) {
      const community = inside[at] ?? null;
      const inner = {
        x: rect.x + GAP,
        y: rect.y + HEADER,
        width: rect.width - 2 * GAP,
        height: rect.height - HEADER - GAP,
      };
      const hasParts =
        community !== null && within.has(community.id) && inner.width > 40 && inner.height > 20;
      found.push({ community, rect, hasParts });
      if (community && hasParts) fill(community.id, community.size, inner);
    }
  };
  fill(root, size, into);
  return found;
}

interface Props {
  workspace: string;
  communities: readonly Community[];
  /** The community that these are within; null for the outermost. */
  root: string | null;
  /** The number of members of all of them, shown or not. */
  size: number;
}

export function Treemap({ workspace, communities, root, size }: Props) {
  const navigate = useNavigate();
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const height = Math.round(Math.min(640, Math.max(360, width * 0.5)));
  const [at, setAt] = useState(0);
  const stripes = useId();
  const drawn = useMemo(
    () => cells(communities, root, size, { x: 0, y: 0, width, height }),
    [communities, root, size, width, height],
  );
  const linked = useMemo(() => drawn.flatMap(({ community }) => (community ? [community.id] : [])), [drawn]);
  const current = linked[Math.min(at, linked.length - 1)];

  const move = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    const step = steps[event.key];
    const next = step ? at + step : event.key === "Home" ? 0 : event.key === "End" ? linked.length - 1 : -1;
    const id = linked[next];
    if (id === undefined) return;
    event.preventDefault();
    setAt(next);
    frame.current?.querySelector<SVGElement>(`[data-community="${id}"]`)?.focus();
  };
  return (
    <div ref={frame} className={styles.treemap}>
      {/* biome-ignore lint/a11y/useSemanticElements: SVG has no element for a group of links */}
      <svg width={width} height={height} role="group" aria-label="Communities by size" onKeyDown={move}>
        <defs>
          <pattern
            id={stripes}
            width="8"
            height="8"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <line x1="0" y1="0" x2="0" y2="8" className={styles.stripe} />
          </pattern>
        </defs>
        {drawn.map(({ community, rect, hasParts }) =>
          community ? (
            <a
              key={community.id}
              href={`/ui${communityPath(workspace, community.id)}`}
              data-community={community.id}
              tabIndex={community.id === current ? 0 : -1}
              className={styles.cell}
              onFocus={() => setAt(linked.indexOf(community.id))}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab or window
                event.preventDefault();
                navigate(communityPath(workspace, community.id));
              }}
            >
              <title>{`${titleOf(community)}: ${counted(community.size, "member")}, ${STATES[community.written]}`}</title>
              <Box rect={rect} state={community.written} stripes={stripes} />
              <Label text={titleOf(community)} rect={rect} isHead={hasParts} />
            </a>
          ) : (
            <g key={`rest ${rect.x} ${rect.y}`} className={styles.rest}>
              <title>Members of communities that are not shown</title>
              <rect {...inset(rect)} rx="3" />
            </g>
          ),
        )}
      </svg>
    </div>
  );
}

function Box({ rect, state, stripes }: { rect: Rect; state: State; stripes: string }) {
  const place = inset(rect);
  return (
    <>
      <rect {...place} rx="3" data-state={state} />
      {state === "stale" && <rect {...place} rx="3" fill={`url(#${stripes})`} />}
    </>
  );
}

/** A title, as far as there is space: on several lines, or on the one line above the parts. */
function Label({ text, rect, isHead }: { text: string; rect: Rect; isHead: boolean }) {
  const letters = Math.floor((rect.width - 14) / LETTER);
  const most = isHead ? 1 : Math.min(4, Math.floor((rect.height - 8) / 17));
  if (letters < 4 || most < 1) return null;
  const lines = wrapped(text, letters, most);
  return (
    <svg
      x={rect.x + 6}
      y={rect.y}
      width={Math.max(0, rect.width - 10)}
      height={rect.height}
      aria-hidden="true"
    >
      {lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
        <text key={at} x="1" y={16 + 17 * at} data-head={isHead || undefined}>
          {line}
        </text>
      ))}
    </svg>
  );
}

/** A text in lines of so many letters, at most so many lines; the last one ends with … if there is more. */
export function wrapped(text: string, letters: number, most: number): string[] {
  const lines: string[] = [];
  let line = "";
  const words = text.split(/\s+/);
  for (const [at, word] of words.entries()) {
    const longer = line ? `${line} ${word}` : word;
    if (longer.length <= letters || !line) {
      line = longer;
      continue;
    }
    if (lines.length === most - 1)
      return [...lines, shortened([line, ...words.slice(at)].join(" "), letters - 1)];
    lines.push(line);
    line = word;
  }
  return [...lines, line].map((one) => shortened(one, letters));
}

const inset = ({ x, y, width, height }: Rect) => ({
  x: x + 1,
  y: y + 1,
  width: Math.max(0, width - 2),
  height: Math.max(0, height - 2),
});

function useWidth(of: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(800);
  useEffect(() => {
    if (!of.current) return;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(of.current);
    return () => observer.disconnect();
  }, [of]);
  return width;
}
