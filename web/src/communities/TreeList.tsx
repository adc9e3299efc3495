// Communities as a tree that can be opened level by level. React Aria's tree does the same, and has ten times the size.
import { ChevronRight } from "lucide-react";
import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { counted, number } from "../text/words";
import { communityPath } from "./address";
import styles from "./Communities.module.css";
import { byParent, type Community, titleOf } from "./labels";
import { Mark } from "./Mark";

interface Props {
  workspace: string;
  communities: readonly Community[];
  /** The community that these are within; null for the outermost. */
  root: string | null;
}

interface Row {
  community: Community;
  level: number;
  /** How many of its parts are in the tree. */
  parts: number;
}

export function TreeList({ workspace, communities, root }: Props) {
  const navigate = useNavigate();
  const list = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [current, setCurrent] = useState("");
  const within = useMemo(() => byParent(communities), [communities]);
  const rows = useMemo(() => visible(within, root, open), [within, root, open]);
  const at = Math.max(
    0,
    rows.findIndex(({ community }) => community.id === current),
  );

  const toggle = (id: string, to: boolean) => {
    const next = new Set(open);
    if (to) next.add(id);
    else next.delete(id);
    setOpen(next);
  };
  const go = (to: number) => {
    const row = rows[to];
    if (!row) return;
    setCurrent(row.community.id);
    list.current?.querySelectorAll<HTMLElement>("[role=treeitem]")[to]?.focus();
  };
  const press = (event: KeyboardEvent) => {
    const row = rows[at];
    if (!row) return;
    const { id, parent } = row.community;
    const isOpen = open.has(id);
    const acts: Record<string, () => void> = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      Home: () => go(0),
      End: () => go(rows.length - 1),
      ArrowRight: () => (isOpen ? go(at + 1) : row.parts > 0 && toggle(id, true)),
      ArrowLeft: () =>
        isOpen ? toggle(id, false) : go(rows.findIndex((one) => one.community.id === parent)),
      Enter: () => navigate(communityPath(workspace, id)),
    };
    const act = acts[event.key];
    if (!act || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act();
  };
  return (
    <div ref={list} role="tree" aria-label="Communities" className={styles.tree} onKeyDown={press}>
      {rows.map(({ community, level, parts }, index) => {
        const { id } = community;
        const isOpen = open.has(id);
        const hidden = community.parts - parts;
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the keys
          <div
            key={id}
            role="treeitem"
            aria-level={level}
            aria-expanded={parts > 0 ? isOpen : undefined}
            tabIndex={index === at ? 0 : -1}
            className={styles.row}
            data-level={Math.min(level, 6)}
            onFocus={() => setCurrent(id)}
            onClick={() => navigate(communityPath(workspace, id))}
          >
            <span
              className={styles.chevron}
              data-open={isOpen || undefined}
              aria-hidden="true"
              onClick={(event) => {
                if (parts === 0) return;
                event.stopPropagation();
                toggle(id, !isOpen);
              }}
            >
              {parts > 0 && <ChevronRight size={16} />}
            </span>
            <span className={styles.rowTitle} dir="auto">
              {titleOf(community)}
            </span>
            {hidden > 0 && <span className={styles.more}>{counted(hidden, "part")} not shown</span>}
            <span className={styles.rowSize}>{counted(community.size, "member")}</span>
            <Mark state={community.written} />
          </div>
        );
      })}
    </div>
  );
}

/** The rows of a tree in which some communities are open. */
function visible(
  within: ReadonlyMap<string | null, Community[]>,
  root: string | null,
  open: ReadonlySet<string>,
): Row[] {
  const rows: Row[] = [];
  const add = (parent: string | null, level: number) => {
    for (const community of within.get(parent) ?? []) {
      rows.push({ community, level, parts: within.get(community.id)?.length ?? 0 });
      if (open.has(community.id)) add(community.id, level + 1);
    }
  };
  add(root, 1);
  return rows;
}

/** "500 of 1,204 communities: the largest"; only the number if all are shown. */
export function shownOf(shown: number, total: number): string {
  return shown < total
    ? `The ${number(shown)} largest of ${counted(total, "community", "communities")} are shown.`
    : counted(total, "community", "communities");
}
