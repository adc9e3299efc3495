// Places the labels of a drawing so that they do not cover each other.
import { shortened } from "../text/words";

export interface Size {
  width: number;
  height: number;
}

export interface Labelled {
  text: string;
  /** The position of its point. */
  x: number;
  y: number;
  /** Whether its label is drawn even if there is no free place for it. */
  isImportant: boolean;
}

export interface Label {
  /** The middle of its baseline. */
  x: number;
  y: number;
  text: string;
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const LONGEST = 24; // characters
const CHARACTER = 7.2; // the width of most characters at 12 pixels
const LINE = 13;
const RADIUS = 7;
const GAP = 10; // between the middle of a point and its label

/** The label of each point: above it, below it, or beside it, wherever it covers nothing. Those without room are null, unless
 * they are important: these go where they cover least. */
export function placeLabels(points: readonly Labelled[], size: Size): (Label | null)[] {
  const taken: Box[] = points.map(({ x, y }) => around(x, y, RADIUS, RADIUS));
  const labels: (Label | null)[] = points.map(() => null);
  const order = points.map((_, at) => at).sort((a, b) => rank(points[a]) - rank(points[b]));
  for (const at of order) {
    const point = points[at];
    if (!point) continue;
    const text = shortened(point.text, LONGEST);
    const half = ([...text].length * CHARACTER) / 2;
    const own = taken[at];
    const others = taken.filter((one) => one !== own);
    const places = [
      { x: point.x, y: point.y - GAP },
      { x: point.x, y: point.y + GAP + 9 },
      { x: point.x + GAP + half, y: point.y + 4 },
      { x: point.x - GAP - half, y: point.y + 4 },
    ]
      .map((place) => ({ place: { ...place, x: within(place.x, half, size.width) }, covered: 0 }))
      .filter(({ place }) => place.y - LINE >= 0 && place.y <= size.height);
    for (const one of places) one.covered = covered(boxOf(one.place, half), others);
    const best = places.reduce<(typeof places)[number] | null>(
      (least, one) => (least === null || one.covered < least.covered ? one : least),
      null,
    );
    if (!best || (best.covered > 0 && !point.isImportant)) continue;
    labels[at] = { ...best.place, text };
    taken.push(boxOf(best.place, half));
  }
  return labels;
}

const rank = (point: Labelled | undefined): number => (point?.isImportant ? 0 : 1);

/** The position nearest to `x` at which a label stays within the drawing. */
const within = (x: number, half: number, width: number): number =>
  Math.min(Math.max(x, Math.min(half, width / 2)), Math.max(width - half, width / 2));

function around(x: number, y: number, dx: number, dy: number): Box {
  return { left: x - dx, right: x + dx, top: y - dy, bottom: y + dy };
}

const boxOf = ({ x, y }: { x: number; y: number }, half: number): Box =>
  around(x, y - LINE / 2 + 2, half, LINE / 2);

/** The area of a box that others cover. */
function covered(box: Box, others: readonly Box[]): number {
  let sum = 0;
  for (const one of others) {
    const width = Math.min(box.right, one.right) - Math.max(box.left, one.left);
    const height = Math.min(box.bottom, one.bottom) - Math.max(box.top, one.top);
    if (width > 0 && height > 0) sum += width * height;
  }
  return sum;
}
