// The columns of the tables of the graph, and how they are sorted.
import type { GraphEdge, GraphNode } from "./shown";
import { typeName } from "./shown";

export interface Column<T> {
  id: string;
  title: string;
  valueOf: (row: T) => string | number;
}

export interface RelationRow extends GraphEdge {
  sourceName: string;
  targetName: string;
}

export const ENTITY_COLUMNS: Column<GraphNode>[] = [
  { id: "name", title: "Entity", valueOf: (one) => one.name },
  { id: "type", title: "Type", valueOf: (one) => typeName(one.type) },
  { id: "mentions", title: "Mentions", valueOf: (one) => one.count },
  { id: "relations", title: "Relations", valueOf: (one) => one.degree },
];

export const RELATION_COLUMNS: Column<RelationRow>[] = [
  { id: "source", title: "From", valueOf: (one) => one.sourceName },
  { id: "type", title: "Relation", valueOf: (one) => one.type || "related" },
  { id: "target", title: "To", valueOf: (one) => one.targetName },
  { id: "weight", title: "Weight", valueOf: (one) => one.weight },
];

export function relationRows(nodes: GraphNode[], edges: GraphEdge[]): RelationRow[] {
  const names = new Map(nodes.map((one) => [one.id, one.name]));
  return edges.map((one) => ({
    ...one,
    sourceName: names.get(one.source) ?? "",
    targetName: names.get(one.target) ?? "",
  }));
}

/** The rows by the column that `sort` names; by the last column, the highest first, if it names none. */
export function sorted<T>(
  rows: T[],
  columns: Column<T>[],
  sort: string,
): { rows: T[]; by: string; isDown: boolean } {
  const named = columns.find((one) => one.id === sort.replace(/^-/, ""));
  const column = named ?? columns.at(-1);
  const isDown = named ? sort.startsWith("-") : true;
  if (!column) return { rows, by: "", isDown };
  const { compare } = new Intl.Collator("en", { numeric: true });
  const order = (a: T, b: T) => {
    const [x, y] = [column.valueOf(a), column.valueOf(b)];
    return typeof x === "number" && typeof y === "number" ? x - y : compare(String(x), String(y));
  };
  return { rows: [...rows].sort((a, b) => (isDown ? order(b, a) : order(a, b))), by: column.id, isDown };
}

/** The value of `sort` after a click on a column: the other way round, or at first the highest number or the first name. */
export function sortedBy<T>(column: Column<T>, example: T | undefined, by: string, isDown: boolean): string {
  const isNumber = example !== undefined && typeof column.valueOf(example) === "number";
  const down = column.id === by ? !isDown : isNumber;
  return `${down ? "-" : ""}${column.id}`;
}
