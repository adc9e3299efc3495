import { useMemo } from "react";
import type { Schemas } from "../api/client";
import { counted } from "../text/words";
import styles from "./AskPage.module.css";
import { walkedOf } from "./walked";

const WIDTH = 440;
const HEIGHT = 300;
const LONGEST = 24; // characters of a label

export default function WalkedPicture({ evidence }: { evidence: Schemas["EvidenceBody"] }) {
  const { nodes, edges, total } = useMemo(() => walkedOf(evidence), [evidence]);
  const places = nodes.map((node) => ({
    ...node,
    px: 70 + node.x * (WIDTH - 140),
    py: 28 + node.y * (HEIGHT - 56),
  }));
  const label = `${counted(nodes.length, "entity", "entities")} and ${counted(edges.length, "connection")}; the tabs Facts and Paths have them as text`;
  return (
    <section className="card">
      <h2>What the search walked</h2>
      <svg className={styles.walked} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
        {edges.map(({ from, to, onPath }) => {
          const [a, b] = [places[from], places[to]];
          if (!a || !b) return null;
          return (
            <line
              key={`${from} ${to}`}
              x1={a.px}
              y1={a.py}
              x2={b.px}
              y2={b.py}
              data-path={onPath || undefined}
            />
          );
        })}
        {places.map((node) => (
          <g key={node.name} data-path={node.onPath || undefined}>
            <title>{node.name}</title>
            <circle cx={node.px} cy={node.py} r={node.onPath ? 6 : 4} />
            <text x={node.px} y={node.py - 9} textAnchor="middle">
              {[...node.name].length > LONGEST ? `${[...node.name].slice(0, LONGEST).join("")}…` : node.name}
            </text>
          </g>
        ))}
      </svg>
      {total > nodes.length && (
        <p className="muted">
          Shown: {nodes.length} of {total} entities, the best connected.
        </p>
      )}
    </section>
  );
}
