// The shown graph as files: SVG, PNG, GraphML, CSV. Names come from documents, so everything is escaped.
import { shortened } from "../text/words";
import type { Point } from "./layout";
import type { GraphEdge, GraphNode, Shown } from "./shown";
import { typeName } from "./shown";

export interface Drawn extends Shown {
  places: ReadonlyMap<string, Point>;
  /** Radius of an entity. */
  sizes: ReadonlyMap<string, number>;
  colourOf: (type: string) => string;
  ink: string;
  paper: string;
  relation: string;
  pathColour: string;
  path: ReadonlySet<string>;
  /** What the picture shows, in words. */
  caption: string;
}

const WIDTH = 1200;
const HEIGHT = 900;
const MARGIN = 80;

// Characters that XML cannot contain: control characters, and unpaired surrogates.
const FORBIDDEN = /[^\P{Cc}\t\n\r]|[\ufffe\uffff]|\p{Cs}/gu;
const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

export function xml(text: string): string {
  return text.replace(FORBIDDEN, "\ufffd").replace(/[&<>"']/g, (one) => ENTITIES[one] ?? one);
}

/** A drawing of the shown graph. */
export function svgOf(drawn: Drawn): string {
  const place = scaled(drawn.nodes, drawn.places);
  const heaviest = Math.max(1, ...drawn.edges.map((one) => one.weight));
  const lines = drawn.edges.flatMap((edge) => {
    const [a, b] = [place(edge.source), place(edge.target)];
    if (!a || !b) return [];
    const colour = drawn.path.has(edge.id) ? drawn.pathColour : drawn.relation;
    const width = drawn.path.has(edge.id) ? 3 : 1 + (2 * edge.weight) / heaviest;
    return `<line x1="${fixed(a.x)}" y1="${fixed(a.y)}" x2="${fixed(b.x)}" y2="${fixed(b.y)}" stroke="${xml(colour)}" stroke-width="${fixed(width)}"/>`;
  });
  const circles = drawn.nodes.flatMap((node) => {
    const at = place(node.id);
    if (!at) return [];
    const radius = drawn.sizes.get(node.id) ?? 5;
    return [
      `<circle cx="${fixed(at.x)}" cy="${fixed(at.y)}" r="${fixed(radius)}" fill="${xml(drawn.colourOf(node.type))}"><title>${xml(`${node.name} (${typeName(node.type)})`)}</title></circle>`,
      `<text x="${fixed(at.x + radius + 4)}" y="${fixed(at.y + 4)}" fill="${xml(drawn.ink)}">${xml(shortened(node.name, 32))}</text>`,
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13">`,
    `<title>${xml(drawn.caption)}</title>`,
    `<rect width="100%" height="100%" fill="${xml(drawn.paper)}"/>`,
    ...lines,
    ...circles,
    `<text x="16" y="${HEIGHT - 16}" fill="${xml(drawn.ink)}">${xml(drawn.caption)}</text>`,
    "</svg>",
    "",
  ].join("\n");
}

const fixed = (value: number): string => String(Math.round(value * 10) / 10);

/** Where each entity is in the drawing. The graph's y axis points up, as it does on the screen. */
function scaled(nodes: GraphNode[], places: ReadonlyMap<string, Point>): (id: string) => Point | null {
  const points = nodes.flatMap((one) => places.get(one.id) ?? []);
  const [xs, ys] = [points.map((one) => one.x), points.map((one) => one.y)];
  const [left, bottom] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(...xs) - left || 1, Math.max(...ys) - bottom || 1];
  const scale = Math.min((WIDTH - 2 * MARGIN) / width, (HEIGHT - 2 * MARGIN) / height);
  return (id) => {
    const at = places.get(id);
    if (!at) return null;
    return {
      x: WIDTH / 2 + (at.x - left - width / 2) * scale,
      y: HEIGHT / 2 - (at.y - bottom - height / 2) * scale,
    };
  };
}

/** A drawing as a picture, twice as fine as the screen. */
export async function pngOf(svg: string): Promise<Blob> {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image(WIDTH, HEIGHT);
    image.src = address;
    await image.decode();
    const canvas = globalThis.document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * WIDTH, 2 * HEIGHT];
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const found = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
    if (!found) throw new Error("The browser could not write the picture. Export it as SVG.");
    return found;
  } finally {
    URL.revokeObjectURL(address);
  }
}

const NODE_KEYS = [
  ["name", "string"],
  ["type", "string"],
  ["count", "int"],
  ["degree", "int"],
] as const;
const EDGE_KEYS = [
  ["type", "string"],
  ["weight", "double"],
] as const;

/** The shown graph for Gephi, yEd, NetworkX and others. */
export function graphmlOf({ nodes, edges }: Shown): string {
  const keys = [
    ...NODE_KEYS.map(([name, kind]) => key("node", name, kind)),
    ...EDGE_KEYS.map(([name, kind]) => key("edge", name, kind)),
  ];
  const node = (one: GraphNode) =>
    `<node id="${xml(one.id)}">${NODE_KEYS.map(([name]) => data("node", name, one[name])).join("")}</node>`;
  const edge = (one: GraphEdge) =>
    `<edge id="${xml(one.id)}" source="${xml(one.source)}" target="${xml(one.target)}">${EDGE_KEYS.map(([name]) => data("edge", name, one[name])).join("")}</edge>`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    ...keys,
    '<graph edgedefault="directed">',
    ...nodes.map(node),
    ...edges.map(edge),
    "</graph>",
    "</graphml>",
    "",
  ].join("\n");
}

const key = (of: string, name: string, kind: string): string =>
  `<key id="${of}-${name}" for="${of}" attr.name="${name}" attr.type="${kind}"/>`;
const data = (of: string, name: string, value: string | number): string =>
  `<data key="${of}-${name}">${xml(String(value))}</data>`;

export function entitiesCsv({ nodes }: Shown): string {
  const rows = nodes.map((one) => [one.id, one.name, one.type, one.count, one.degree]);
  return csv([["id", "name", "type", "mentions", "relations"], ...rows]);
}

export function relationsCsv({ nodes, edges }: Shown): string {
  const names = new Map(nodes.map((one) => [one.id, one.name]));
  const rows = edges.map((one) => [
    one.id,
    one.source,
    names.get(one.source) ?? "",
    one.type,
    one.target,
    names.get(one.target) ?? "",
    one.weight,
  ]);
  return csv([["id", "source", "source name", "type", "target", "target name", "weight"], ...rows]);
}

function csv(rows: (string | number)[][]): string {
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** A spreadsheet would run a text that begins like a formula, so an apostrophe goes before it. */
function cell(value: string | number): string {
  const text = String(value);
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Saves a file in the browser. */
export function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = globalThis.document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000); // the browser may still be reading it
}
