import { expect, test } from "vitest";
import { expanded, type GraphState, readAddress, writeAddress } from "./address";
import { type Drawn, entitiesCsv, graphmlOf, relationsCsv, svgOf } from "./files";
import { commandsOf, requestsOf } from "./forms";
import { graphOf, laidOut, positionsOf, towards } from "./layout";
import { type GraphMap, mapSummary, nearest, readPlace, WHOLE, windowAt, writePlace } from "./mapWindow";
import { type GraphEdge, type GraphNode, type Loaded, shownOf, summary, toggled, typesOf } from "./shown";
import { ENTITY_COLUMNS, sorted, sortedBy } from "./tables";

const node = (id: string, type = "person", more: Partial<GraphNode> = {}): GraphNode => ({
  id,
  name: `name of ${id}`,
  type,
  count: 1,
  degree: 1,
  ...more,
});
const edge = (source: string, target: string, weight = 1): GraphEdge => ({
  id: `${source}-${target}`,
  source,
  target,
  type: "knows",
  weight,
});
const loaded = (over: Partial<Loaded> = {}): Loaded => ({
  nodes: [node("a"), node("b"), node("c", "place")],
  edges: [edge("a", "b", 5), edge("a", "c", 2)],
  centres: new Set(["a"]),
  path: new Set(),
  steps: null,
  around: { loaded: 3, entities: 10 },
  relations: 2,
  ...over,
});
const state = (over: Partial<GraphState> = {}): GraphState => ({
  ...readAddress(new URLSearchParams()),
  ...over,
});

test("an address gives the view back", () => {
  const view = state({
    of: ["a", "b"],
    to: "c",
    hops: 2,
    each: 40,
    types: ["", "place, or other"],
    min: 1.5,
    document: "x y.md",
    filter: { metadata: { kind: "letter" } },
    selected: "a",
    view: "relations",
    sort: "-weight",
  });
  expect(readAddress(writeAddress(view))).toEqual(view);
  expect(writeAddress(state()).toString()).toBe("");
  expect(() => readAddress(new URLSearchParams("filter=kind"))).toThrow("not a JSON object");
  const odd = new URLSearchParams("hops=9&each=-1&min=x&view=none&of=&of=a&of=a");
  expect(readAddress(odd)).toEqual(state({ of: ["a"], hops: 3 }));
});

test("expanding an entity adds it, then more of its neighbours, up to a limit", () => {
  expect(expanded(state({ of: ["a"] }), "b")?.of).toEqual(["a", "b"]);
  expect(expanded(state({ of: ["a"] }), "a")).toMatchObject({ of: ["a"], each: 40 });
  expect(expanded(state({ of: ["a"], each: 200 }), "a")).toBeNull();
  const many = Array.from({ length: 20 }, (_, at) => `n${at}`);
  expect(expanded(state({ of: many }), "b")).toBeNull();
  const path = expanded(state({ of: ["a"], to: "z" }), "a"); // its start can be expanded as well
  expect(path && readAddress(writeAddress(path)).of).toEqual(["a", "a"]);
});

test("filters hide entities by type, and those whose relations are too light, but not what was asked for", () => {
  const all = shownOf(loaded(), [], 0);
  expect(all.nodes.map((one) => one.id)).toEqual(["a", "b", "c"]);
  expect(shownOf(loaded(), ["place"], 0).nodes.map((one) => one.id)).toEqual(["a", "c"]);
  const heavy = shownOf(loaded(), [], 3);
  expect([heavy.nodes.map((one) => one.id), heavy.edges.length]).toEqual([["a", "b"], 1]);
  const onPath = loaded({ path: new Set(["a", "c", "a-c"]) });
  expect(shownOf(onPath, ["nothing"], 99).nodes.map((one) => one.id)).toEqual(["a", "c"]);
});

test("the summary says how much is shown, of what, and what filters hide", () => {
  const text = (part: Loaded, types: string[] = [], min = 0) => summary(part, shownOf(part, types, min));
  expect(text(loaded())).toBe("Shown: 3 of 10 entities, those with the heaviest relations, and 2 relations.");
  expect(text(loaded({ around: { loaded: 3, entities: 3 } }))).toBe("Shown: 3 entities, and 2 relations.");
  expect(text(loaded({ around: { loaded: 3, entities: 3 }, relations: 9 }), ["place"])).toBe(
    "Shown: 2 of 3 entities, and 1 of 9 relations between them. Filters hide 1 entity.",
  );
  expect(text(loaded({ around: null, steps: 2 }))).toBe(
    "A shortest path has 2 relations. Shown: 3 entities, and 2 relations.",
  );
});

test("the legend counts types, and switches them, but never the last one off", () => {
  expect(typesOf(loaded().nodes)).toEqual([
    { type: "person", count: 2 },
    { type: "place", count: 1 },
  ]);
  expect(toggled([], "person", ["person", "place"])).toEqual(["place"]);
  expect(toggled(["place"], "person", ["person", "place"])).toEqual([]);
  expect(toggled(["place"], "place", ["person", "place"])).toEqual(["place"]);
});

test("the same graph gets the same picture, and what was drawn stays near its place when more comes", () => {
  const { nodes, edges } = loaded();
  const first = positionsOf(laidOut(graphOf(nodes, edges, new Map())));
  expect(positionsOf(laidOut(graphOf(nodes, edges, new Map())))).toEqual(first);
  expect([...first.values()].every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))).toBe(true);
  const more = graphOf([...nodes, node("d")], [...edges, edge("b", "d")], first);
  expect(positionsOf(more).get("a")).toEqual(first.get("a"));
});

test("an arrow key leads to the neighbour nearest to its direction", () => {
  const from = { x: 0, y: 0 };
  const others = [
    { id: "right", x: 10, y: 1 },
    { id: "below", x: 1, y: 10 },
    { id: "above", x: -2, y: -10 },
  ];
  expect(towards(from, others, "ArrowRight")?.id).toBe("right");
  expect(towards(from, others, "ArrowDown")?.id).toBe("below");
  expect(towards(from, others, "ArrowUp")?.id).toBe("above");
  expect(towards(from, others.slice(0, 1), "ArrowLeft")).toBeNull();
});

test("tables are sorted by a column, and a second click turns the order round", () => {
  const rows = [node("a", "x", { name: "Ä10" }), node("b", "x", { name: "a2", degree: 7 })];
  const ids = (sort: string) => sorted(rows, ENTITY_COLUMNS, sort).rows.map((one) => one.id);
  expect([ids(""), ids("name"), ids("-name"), ids("nonsense")]).toEqual([
    ["b", "a"],
    ["b", "a"],
    ["a", "b"],
    ["b", "a"],
  ]);
  const [name, , mentions] = ENTITY_COLUMNS;
  if (!name || !mentions) throw new Error("no columns");
  expect(sortedBy(name, rows[0], "relations", true)).toBe("name");
  expect(sortedBy(mentions, rows[0], "relations", true)).toBe("-mentions");
  expect(sortedBy(mentions, rows[0], "mentions", true)).toBe("mentions");
});

test("a place on the map is in the address, and names what is in view", () => {
  const place = { x: -0.25, y: 0.125, z: 4 };
  expect(readPlace(writePlace(place))).toEqual(place);
  expect(writePlace(WHOLE).toString()).toBe("");
  expect(readPlace(new URLSearchParams("x=7&y=z&z=0"))).toEqual({ x: 1, y: 0, z: 0.5 });
  const { x0, x1, y0, y1, zoom } = windowAt(place);
  expect([(x0 + x1) / 2, (y0 + y1) / 2].map((one) => one.toFixed(4))).toEqual(["-0.2500", "0.1250"]);
  expect(((x1 - x0) * zoom) / ((y1 - y0) * zoom)).toBeCloseTo(1.5);
  expect(windowAt({ ...WHOLE, z: 0.01 }).x0).toBe(-10); // as far as the server goes
});

const NO_LINKS = { a: [], b: [], relations: [], weight: [] };
const NO_EDGES = { source: [], target: [], weight: [] };
const MAP: GraphMap = {
  found: "",
  behind: false,
  total: 900,
  entities: 20,
  circles_total: 1,
  relations_total: 0,
  circles: { ids: ["c"], titles: ["C"], sizes: [7], x: [0.5], y: [0], radius: [0.1] },
  nodes: { ids: ["a"], names: ["A"], types: [""], degrees: [1], x: [0], y: [0] },
  edges: NO_EDGES,
  links: NO_LINKS,
};

test("the summary of a map says what is not shown", () => {
  expect(mapSummary(MAP)).toBe(
    "Shown: 1 of 13 entities, those with the most relations, with 0 relations between them, and 1 community of 7 entities. The map has 900 entities.",
  );
  const none = { ids: [], names: [], types: [], degrees: [], x: [], y: [] };
  const far = { ...MAP, circles_total: 3, nodes: none };
  expect(mapSummary(far)).toBe("Shown: 1 of 3 communities, the largest. The map has 900 entities.");
  const some = { ...MAP, entities: 8, relations_total: 9, edges: { source: [0], target: [0], weight: [1] } };
  expect(mapSummary(some)).toBe(
    "Shown: 1 entity with the 1 heaviest of 9 relations between them, and 1 community of 7 entities. The map has 900 entities.",
  );
  const empty = { ...far, circles_total: 0, circles: { ...MAP.circles, ids: [], sizes: [] } };
  expect(mapSummary(empty)).toBe("Nothing is in view. The map has 900 entities.");
});

test("what is in the middle of the map is the circle around it, or what is nearest", () => {
  expect(nearest(MAP, 0.45, 0.05)).toEqual({ kind: "circle", at: 0 });
  expect(nearest(MAP, 0.1, 0)).toEqual({ kind: "entity", at: 0 });
  expect(nearest(MAP, 0.3, 0)).toEqual({ kind: "circle", at: 0 });
});

const HOSTILE = `<script>alert(1)</script>"'&\u0000\ud800]]>`;

test("files escape what documents contain", () => {
  const part = loaded({ nodes: [node("a", HOSTILE, { name: HOSTILE }), node("b", "", { name: "=1+1" })] });
  const shown = shownOf({ ...part, edges: [edge("a", "b")] }, [], 0);
  const drawn: Drawn = {
    ...shown,
    places: new Map([
      ["a", { x: 0, y: 0 }],
      ["b", { x: 1, y: 1 }],
    ]),
    sizes: new Map(),
    colourOf: () => "#123456",
    ink: "#000000",
    paper: "#ffffff",
    relation: "#cccccc",
    pathColour: "#ff0000",
    path: new Set(),
    caption: HOSTILE,
  };
  for (const text of [svgOf(drawn), graphmlOf(shown)]) {
    const parsed = new DOMParser().parseFromString(text, "text/xml");
    expect(parsed.querySelector("script")).toBeNull();
    expect(text).not.toContain("<script");
    expect(text).not.toContain("\u0000");
    expect(text).toContain("&lt;script&gt;");
  }
  const csv = entitiesCsv(shown);
  expect(csv).toContain("'=1+1");
  expect(csv).toContain('"<script>alert(1)</script>""');
  expect(relationsCsv(shown).split("\r\n")[0]).toBe("id,source,source name,type,target,target name,weight");
});

test("commands and requests ask for the same", () => {
  const view = state({ of: ["Bob's", "c"], to: "d", hops: 2 });
  expect(commandsOf("w", view)).toBe(
    "trueweave graph show --path 'Bob'\\''s' d --workspace w\ntrueweave graph show c --hops 2 --workspace w",
  );
  expect(requestsOf("w", view)).toBe(
    "GET /v1/workspaces/w/path?start=Bob%27s&end=d\nGET /v1/workspaces/w/around?entity=c&hops=2&limit=20",
  );
});

test("commands and requests have the filter", () => {
  const view = state({ of: ["a", "c"], to: "d", filter: { metadata: { kind: "letter" }, prefix: "notes/" } });
  const filter =
    "filter=%7B%22metadata%22%3A%7B%22kind%22%3A%22letter%22%7D%2C%22prefix%22%3A%22notes%2F%22%7D";
  expect(commandsOf("w", view)).toBe(
    "trueweave graph show --path a d --workspace w --where kind=letter --filter 'uri=notes/**'\n" +
      "trueweave graph show c --workspace w --where kind=letter --filter 'uri=notes/**'",
  );
  expect(requestsOf("w", view)).toBe(
    `GET /v1/workspaces/w/path?start=a&end=d&${filter}\n` +
      `GET /v1/workspaces/w/around?entity=c&limit=20&${filter}`,
  );
});
