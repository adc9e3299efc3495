// A picture of the entities and relations that the search walked, and a larger one.
import { Maximize2 } from "lucide-react";
import { useMemo, useState } from "react";
import { Button } from "react-aria-components";
import type { Schemas } from "../api/client";
import { counted } from "../text/words";
import { Popup } from "../ui/Popup";
import styles from "./AskPage.module.css";
import { placeLabels, type Size } from "./labels";
import { walkedOf } from "./walked";

type Evidence = Schemas["EvidenceBody"];

const SMALL = { width: 440, height: 320, most: 24 };
const LARGE = { width: 960, height: 600, most: 100 };
const MARGIN = { x: 24, y: 24 };

export default function WalkedPicture({ evidence }: { evidence: Evidence }) {
  const [open, setOpen] = useState(false);
  return (
    <section className="card">
      <div className={styles.walkedHead}>
        <h2>What the search walked</h2>
        <Button className="quiet" aria-label="Show a larger picture" onPress={() => setOpen(true)}>
          <Maximize2 size={16} aria-hidden="true" />
        </Button>
      </div>
      <Drawing evidence={evidence} size={SMALL} />
      <Popup title="What the search walked" open={open} onClose={() => setOpen(false)} wide>
        <div className={styles.scroll}>
          <Drawing evidence={evidence} size={LARGE} />
        </div>
      </Popup>
    </section>
  );
}

function Drawing({ evidence, size }: { evidence: Evidence; size: Size & { most: number } }) {
  const { nodes, edges, total } = useMemo(() => walkedOf(evidence, size.most), [evidence, size]);
  const points = nodes.map((node) => ({
    text: node.name,
    isImportant: node.onPath,
    x: MARGIN.x + node.x * (size.width - 2 * MARGIN.x),
    y: MARGIN.y + node.y * (size.height - 2 * MARGIN.y),
  }));
  const labels = placeLabels(points, size);
  const label = `${counted(nodes.length, "entity", "entities")} and ${counted(edges.length, "connection")}; the tabs Facts and Paths have them as text`;
  return (
    <>
      <svg
        className={styles.walked}
        viewBox={`0 0 ${size.width} ${size.height}`}
        role="img"
        aria-label={label}
        data-large={size === LARGE || undefined}
      >
        {edges.map(({ from, to, onPath }) => {
          const [a, b] = [points[from], points[to]];
          if (!a || !b) return null;
          return (
            <line key={`${from} ${to}`} x1={a.x} y1={a.y} x2={b.x} y2={b.y} data-path={onPath || undefined} />
          );
        })}
        {points.map((point) => (
          <g key={point.text} data-path={point.isImportant || undefined}>
            <title>{point.text}</title>
            <circle cx={point.x} cy={point.y} r={point.isImportant ? 6 : 4} />
          </g>
        ))}
        {labels.map(
          (one, at) =>
            one && (
              <text key={points[at]?.text} x={one.x} y={one.y} textAnchor="middle">
                {one.text}
              </text>
            ),
        )}
      </svg>
      {total > nodes.length && (
        <p className="muted">
          Shown: {nodes.length} of {total} entities, the best connected.
        </p>
      )}
    </>
  );
}
