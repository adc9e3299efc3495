// Rectangles whose areas are in proportion to numbers, as close to squares as possible (Bruls, Huizing, van Wijk, 2000).

export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** One rectangle for each size, in order, which fill the given one. The sizes are positive, largest first. */
export function squarified(sizes: readonly number[], into: Rect): Rect[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const scale = total > 0 ? (into.width * into.height) / total : 0;
  const found: Rect[] = [];
  let left = into;
  for (let at = 0; at < sizes.length; ) {
    const side = Math.min(left.width, left.height);
    let end = at + 1;
    let area = (sizes[at] ?? 0) * scale;
    // A row grows while its worst rectangle becomes more like a square.
    while (end < sizes.length) {
      const more = area + (sizes[end] ?? 0) * scale;
      if (
        worst(sizes[at] ?? 0, sizes[end] ?? 0, scale, more, side) >
        worst(sizes[at] ?? 0, sizes[end - 1] ?? 0, scale, area, side)
      )
        break;
      area = more;
      end++;
    }
    const row = sizes.slice(at, end).map((size) => size * scale);
    left = placed(row, area, left, found);
    at = end;
  }
  return found;
}

/** The ratio of the sides of the least square rectangle of a row, whose first is the largest and last the smallest. */
function worst(largest: number, smallest: number, scale: number, area: number, side: number): number {
  const square = side * side;
  return Math.max(
    (square * largest * scale) / (area * area),
    (area * area) / (square * smallest * scale || Number.MIN_VALUE),
  );
}

/** Puts a row along the shorter side, and returns what is left of the rectangle. */
function placed(row: number[], area: number, left: Rect, into: Rect[]): Rect {
  const isTall = left.width >= left.height;
  const side = isTall ? left.height : left.width;
  const depth = side > 0 ? area / side : 0;
  let along = 0;
  for (const one of row) {
    const length = depth > 0 ? one / depth : 0;
    into.push(
      isTall
        ? { x: left.x, y: left.y + along, width: depth, height: length }
        : { x: left.x + along, y: left.y, width: length, height: depth },
    );
    along += length;
  }
  return isTall
    ? { ...left, x: left.x + depth, width: Math.max(0, left.width - depth) }
    : { ...left, y: left.y + depth, height: Math.max(0, left.height - depth) };
}
