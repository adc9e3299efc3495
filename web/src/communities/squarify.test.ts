import { expect, test } from "vitest";
import { type Rect, squarified } from "./squarify";

const INTO: Rect = { x: 10, y: 20, width: 600, height: 400 };
const area = ({ width, height }: Rect) => width * height;
const ratio = ({ width, height }: Rect) => Math.max(width / height, height / width);

test("the example of the paper has its rectangles", () => {
  const found = squarified([6, 6, 4, 3, 2, 2, 1], { x: 0, y: 0, width: 6, height: 4 });
  expect(found[0]).toEqual({ x: 0, y: 0, width: 3, height: 2 });
  expect(found[1]).toEqual({ x: 0, y: 2, width: 3, height: 2 });
  expect(Math.max(...found.map(ratio))).toBeLessThan(3);
});

test.each([1, 2, 7, 100, 500])(
  "%i rectangles have the right areas, fill the space and do not overlap",
  (count) => {
    const sizes = Array.from({ length: count }, (_, at) => 1 + ((at * 7919) % 97)).sort((a, b) => b - a);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const found = squarified(sizes, INTO);
    for (const [at, one] of found.entries()) {
      expect(area(one)).toBeCloseTo((area(INTO) * (sizes[at] ?? 0)) / total, 4);
      expect(one.x).toBeGreaterThanOrEqual(INTO.x - 1e-6);
      expect(one.y).toBeGreaterThanOrEqual(INTO.y - 1e-6);
      expect(one.x + one.width).toBeLessThanOrEqual(INTO.x + INTO.width + 1e-6);
      expect(one.y + one.height).toBeLessThanOrEqual(INTO.y + INTO.height + 1e-6);
      for (const other of found.slice(at + 1)) {
        const across = Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x);
        const down = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y);
        expect(Math.min(across, down)).toBeLessThan(1e-6);
      }
    }
  },
);

test("nothing gives nothing, and no space gives rectangles without area", () => {
  expect(squarified([], INTO)).toEqual([]);
  expect(squarified([3, 1], { ...INTO, width: 0 }).map(area)).toEqual([0, 0]);
});
