// The server counts characters as Unicode code points, as Python does. JavaScript counts UTF-16 units, of which characters
// such as emoji take two. This is the only place that converts one into the other.

/** Converts positions in one text from code points to UTF-16 units, and back. */
export class Offsets {
  /** The positions, in UTF-16 units, of the second unit of each character that takes two; ascending. */
  private readonly wide: number[] = [];
  readonly units: number;
  readonly codePoints: number;

  constructor(text: string) {
    this.units = text.length;
    for (let at = 0; at < text.length; at++) {
      if ((text.codePointAt(at) ?? 0) > 0xffff) this.wide.push(++at);
    }
    this.codePoints = this.units - this.wide.length;
  }

  /** The position in UTF-16 units of a position in code points. Positions beyond the text are those of its ends. */
  toUnits(codePoint: number): number {
    if (codePoint <= 0) return 0;
    if (codePoint >= this.codePoints) return this.units;
    // The second unit of the wide character with index k is at wide[k]; k of them precede it, so that character itself
    // has the position wide[k] - 1 - k in code points.
    return codePoint + count(this.wide, (at, k) => at - 1 - k < codePoint);
  }

  /** The position in code points of a position in UTF-16 units. Between the two units of a character, it is that of
   * the character. */
  toCodePoints(unit: number): number {
    if (unit <= 0) return 0;
    if (unit >= this.units) return this.codePoints;
    return unit - count(this.wide, (at) => at <= unit);
  }
}

/** How many of the first values hold; they all come before those that do not. */
function count(values: number[], holds: (value: number, index: number) => boolean): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(values[middle] as number, middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The part of a text between two positions in code points. */
export function slice(text: string, start: number, end: number): string {
  const offsets = new Offsets(text);
  return text.slice(offsets.toUnits(start), offsets.toUnits(end));
}
