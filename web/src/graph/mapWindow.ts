// Windows of the map of the graph, and what is said about them.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, dataOf, type Schemas } from "../api/client";
import { counted, number } from "../text/words";

export type GraphMap = Schemas["GraphMap"];

/** A part of the map, which lies between -1 and 1, and the pixels for each unit of length. */
export interface MapWindow {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
  zoom: number;
}

/** Which part of the map is seen: its centre, and how many times it is enlarged. */
export interface MapPlace {
  x: number;
  y: number;
  z: number;
}

export const WHOLE: MapPlace = { x: 0, y: 0, z: 1 };
export const PADDING = 16; // pixels around the whole map
/** The largest map that can be drawn without circles. */
export const MOST_ENTITIES = 50_000;
const MOST_RELATIONS = 200_000;
const EVERYTHING: MapWindow = { x0: -1.1, y0: -1.1, x1: 1.1, y1: 1.1, zoom: 1e9 };
const LIMIT = 2000;
const USUAL = { width: 1200, height: 800 }; // pixels of a picture
const FARTHEST = 10; // what the server takes as a side

/** The place that an address names; values that no map has are left out. */
export function readPlace(params: URLSearchParams): MapPlace {
  const value = (name: string, usual: number, least: number, most: number) => {
    const given = Number(params.get(name) ?? "");
    return params.get(name) && Number.isFinite(given) ? Math.min(most, Math.max(least, given)) : usual;
  };
  return { x: value("x", 0, -1, 1), y: value("y", 0, -1, 1), z: value("z", 1, 0.5, 10_000) };
}

export function writePlace({ x, y, z }: MapPlace): URLSearchParams {
  const params = new URLSearchParams();
  const short = (value: number) => String(Number(value.toPrecision(5)));
  if (Math.abs(x) > 1e-4) params.set("x", short(x));
  if (Math.abs(y) > 1e-4) params.set("y", short(y));
  if (Math.abs(z - 1) > 1e-3) params.set("z", short(z));
  return params;
}

/** What is in view around a place, in a picture of the usual size. */
export function windowAt({ x, y, z }: MapPlace): MapWindow {
  const zoom = (Math.min(USUAL.width, USUAL.height) / 2 - PADDING) * z;
  const [wide, high] = [USUAL.width / 2 / zoom, USUAL.height / 2 / zoom];
  return rounded({ x0: x - wide, y0: y - high, x1: x + wide, y1: y + high, zoom });
}

export function rounded({ x0, y0, x1, y1, zoom }: MapWindow): MapWindow {
  const short = (value: number) => Number(value.toPrecision(6));
  const side = (value: number) => short(Math.min(FARTHEST, Math.max(-FARTHEST, value)));
  return { x0: side(x0), y0: side(y0), x1: side(x1), y1: side(y1), zoom: short(zoom) };
}

/** Where a circle fills the picture. */
export const placeOfCircle = (map: GraphMap, at: number): MapPlace => ({
  x: map.circles.x[at] ?? 0,
  y: map.circles.y[at] ?? 0,
  z: 0.8 / (map.circles.radius[at] ?? 1),
});

/** The parameters of the request for a window; for everything without circles if it is null. */
export const queryOf = (window: MapWindow | null) =>
  window
    ? { ...window, limit: LIMIT, relations: 2 * LIMIT }
    : { ...EVERYTHING, limit: MOST_ENTITIES, relations: MOST_RELATIONS };

export const mapWindow = (workspace: string, window: MapWindow | null) =>
  queryOptions({
    queryKey: ["map", workspace, window],
    queryFn: async ({ signal }) => {
      const params = { path: { workspace }, query: queryOf(window) };
      return (await dataOf(api.GET("/v1/workspaces/{workspace}/map", { params, signal }))).map;
    },
    placeholderData: keepPreviousData, // the picture stays while it is moved
    staleTime: 60_000,
  });

/** The circle or entity at a point, or else the nearest one; null if nothing is shown. */
export function nearest(
  map: GraphMap,
  x: number,
  y: number,
): { kind: "circle" | "entity"; at: number } | null {
  const { circles, nodes } = map;
  const away = (of: { x: number[]; y: number[] }, at: number) =>
    Math.hypot((of.x[at] ?? 0) - x, (of.y[at] ?? 0) - y);
  let found: ReturnType<typeof nearest> = null;
  let least = Number.POSITIVE_INFINITY;
  const consider = (kind: "circle" | "entity", at: number, distance: number) => {
    if (distance < least) [found, least] = [{ kind, at }, distance];
  };
  for (const at of circles.ids.keys()) consider("circle", at, away(circles, at) - (circles.radius[at] ?? 0));
  for (const at of nodes.ids.keys()) consider("entity", at, away(nodes, at));
  return found;
}

/** "Shown: 214 of 1,203 entities, those with the most relations, with 400 of 900 relations between them, the heaviest, and 45
 * communities of 9,000 entities. The map has 51,302 entities." */
export function mapSummary(map: GraphMap): string {
  const inCircles = map.circles.sizes.reduce((sum, size) => sum + size, 0);
  const parts = [];
  const drawn = map.nodes.ids.length;
  const areAll = map.circles.ids.length === map.circles_total;
  // Circles are left out only if there are more than fit, and then no entity is drawn beside them.
  if (drawn > 0) parts.push(`${entitiesShown(drawn, map.entities - inCircles)} with ${relationsShown(map)}`);
  if (map.circles.ids.length > 0)
    parts.push(
      areAll
        ? `${counted(map.circles_total, "community", "communities")} of ${entities(inCircles)}`
        : `${number(map.circles.ids.length)} of ${counted(map.circles_total, "community", "communities")}, the largest`,
    );
  const shown = parts.length > 0 ? `Shown: ${parts.join(", and ")}.` : "Nothing is in view.";
  return `${shown} The map has ${entities(map.total)}.`;
}

const entities = (count: number): string => counted(count, "entity", "entities");

const entitiesShown = (drawn: number, all: number): string =>
  drawn < all ? `${number(drawn)} of ${entities(all)}, those with the most relations,` : entities(drawn);

function relationsShown(map: GraphMap): string {
  const drawn = map.edges.source.length;
  const all = map.relations_total;
  return drawn < all
    ? `the ${number(drawn)} heaviest of ${counted(all, "relation")} between them`
    : `${counted(drawn, "relation")} between them`;
}
