// The part of the graph that a search walked, from its evidence.
import Graph from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";
import type { Schemas } from "../api/client";

export interface WalkedNode {
  name: string;
  x: number;
  y: number;
  /** Whether it lies on a path to a passage or of relations. */
  onPath: boolean;
}

export interface Walked {
  nodes: WalkedNode[];
  edges: { from: number; to: number; onPath: boolean }[];
  /** How many entities there are in all; only the best connected are drawn. */
  total: number;
}

type Pair = { a: string; b: string; onPath: boolean };

/** Who is connected to whom: by a path, by an entity that led to a passage, or by a relation that was found. */
function pairsOf(evidence: Schemas["EvidenceBody"]): Pair[] {
  const ofPaths = evidence.paths.flatMap((path) =>
    path.relations.map((one) => ({ a: one.source_name, b: one.target_name, onPath: true })),
  );
  const ofConnections = evidence.connections.flatMap((one) =>
    one.neighbours.map((name) => ({ a: one.entity, b: name, onPath: true })),
  );
  const ofRelations = evidence.relations.map((one) => ({
    a: one.source_name,
    b: one.target_name,
    onPath: false,
  }));
  return [...ofPaths, ...ofConnections, ...ofRelations];
}

/** The graph with up to `most` entities, and positions between 0 and 1. The same evidence always gets the same picture. */
export function walkedOf(evidence: Schemas["EvidenceBody"], most: number): Walked {
  const graph = new Graph({ type: "undirected" });
  for (const { a, b, onPath } of pairsOf(evidence)) {
    for (const name of [a, b]) {
      if (!graph.hasNode(name)) graph.addNode(name, { ...spiral(graph.order), onPath: false });
      if (onPath) graph.setNodeAttribute(name, "onPath", true);
    }
    if (a !== b) graph.mergeEdge(a, b, onPath ? { onPath } : {});
  }
  const total = graph.order;
  const rank = (name: string) => graph.degree(name) + (graph.getNodeAttribute(name, "onPath") ? 1000 : 0);
  const ranked = graph.nodes().sort((a, b) => rank(b) - rank(a));
  for (const name of ranked.slice(most)) graph.dropNode(name);
  if (graph.order > 1) {
    forceAtlas2.assign(graph, {
      iterations: 200,
      settings: { ...forceAtlas2.inferSettings(graph), gravity: 2 },
    });
  }
  return { ...scaled(graph), total };
}

function spiral(at: number): { x: number; y: number } {
  return { x: Math.cos(at * 2.4) * Math.sqrt(at + 1), y: Math.sin(at * 2.4) * Math.sqrt(at + 1) };
}

function scaled(graph: Graph): Omit<Walked, "total"> {
  const names = graph.nodes();
  const place = (name: string, axis: "x" | "y"): number => graph.getNodeAttribute(name, axis);
  const between = (axis: "x" | "y") => {
    const all = names.map((name) => place(name, axis));
    const low = Math.min(...all);
    const size = Math.max(...all) - low;
    return (name: string) => (size > 0 ? (place(name, axis) - low) / size : 0.5);
  };
  const [x, y] = [between("x"), between("y")];
  const nodes = names.map((name) => ({
    name,
    x: x(name),
    y: y(name),
    onPath: Boolean(graph.getNodeAttribute(name, "onPath")),
  }));
  const edges = graph.mapEdges((_, attributes, from, to) => ({
    from: names.indexOf(from),
    to: names.indexOf(to),
    onPath: Boolean(attributes.onPath),
  }));
  return { nodes, edges };
}
