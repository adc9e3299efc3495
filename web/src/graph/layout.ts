// Where the entities of the loaded graph are drawn.
import Graph from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";
import type { GraphEdge, GraphNode } from "./shown";

export interface Point {
  x: number;
  y: number;
}

const SLICE = 8; // milliseconds of layout in one frame
const SMALLEST = 4;
const LARGEST = 13;

/** The graph to lay out. Entities that were drawn before begin where they were, others beside a neighbour; if none was drawn
 * before, they begin in a spiral, the first in the middle. So the same graph always gets the same picture. */
export function graphOf(nodes: GraphNode[], edges: GraphEdge[], before: ReadonlyMap<string, Point>): Graph {
  const graph = new Graph({ type: "directed", multi: true });
  const most = Math.max(1, ...nodes.map((one) => one.degree));
  const beside = new Map<string, Point>();
  for (const { source, target } of edges) {
    for (const [one, other] of [
      [source, target],
      [target, source],
    ] as const) {
      const point = before.get(other);
      if (point && !beside.has(one)) beside.set(one, point);
    }
  }
  for (const [at, { id, name, type, degree }] of nodes.entries()) {
    const start = before.get(id) ?? spiral(beside.get(id) ?? { x: 0, y: 0 }, at);
    const size = SMALLEST + (LARGEST - SMALLEST) * Math.sqrt(degree / most);
    graph.addNode(id, { ...start, size, name, entityType: type });
  }
  const heaviest = Math.max(1, ...edges.map((one) => one.weight));
  for (const { id, source, target, weight } of edges) {
    if (!graph.hasNode(source) || !graph.hasNode(target)) continue;
    const width = 1 + 2 * Math.sqrt(weight / heaviest);
    graph.addDirectedEdgeWithKey(id, source, target, {
      source,
      target,
      width,
      pull: 1 + Math.log2(1 + weight) / 4,
    });
  }
  return graph;
}

function spiral({ x, y }: Point, at: number): Point {
  const [angle, distance] = [at * 2.4, 10 * Math.sqrt(at)];
  return { x: x + Math.cos(angle) * distance, y: y + Math.sin(angle) * distance };
}

export const positionsOf = (graph: Graph): Map<string, Point> =>
  new Map(graph.mapNodes((id, { x, y }) => [id, { x, y }]));

function steps(graph: Graph): (count: number) => void {
  const settings = forceAtlas2.inferSettings(graph);
  return (iterations) => forceAtlas2.assign(graph, { iterations, settings, getEdgeWeight: "pull" });
}

const roundsFor = (graph: Graph): number => (graph.order < 2 ? 0 : graph.order <= 150 ? 300 : 150);

/** Lays the graph out in short slices, one in each frame, so that the page stays responsive. Returns how to stop. */
export function layOut(graph: Graph, onDone: () => void): () => void {
  const step = steps(graph);
  let left = roundsFor(graph);
  let frame = 0;
  const run = () => {
    const end = performance.now() + SLICE;
    for (; left > 0 && performance.now() < end; left--) step(1);
    if (left > 0) frame = requestAnimationFrame(run);
    else onDone();
  };
  frame = requestAnimationFrame(run);
  return () => cancelAnimationFrame(frame);
}

/** Lays the graph out at once, for a file of a graph that is not drawn. */
export function laidOut(graph: Graph): Graph {
  if (roundsFor(graph) > 0) steps(graph)(roundsFor(graph));
  return graph;
}

export type Direction = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

const ANGLES: Record<Direction, number> = {
  ArrowRight: 0,
  ArrowDown: Math.PI / 2,
  ArrowLeft: Math.PI,
  ArrowUp: -Math.PI / 2,
};

/** Of some points on the screen, the one whose direction from another is nearest to an arrow key; null if all are behind. */
export function towards<T extends Point>(from: Point, others: T[], direction: Direction): T | null {
  let best: T | null = null;
  let least = Math.PI / 2;
  for (const one of others) {
    const angle = Math.atan2(one.y - from.y, one.x - from.x) - ANGLES[direction];
    const away = Math.abs(Math.atan2(Math.sin(angle), Math.cos(angle)));
    if (away < least) [best, least] = [one, away];
  }
  return best;
}
