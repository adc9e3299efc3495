import { expect, test } from "vitest";
import { placeLabels } from "./labels";

const SIZE = { width: 400, height: 300 };
const point = (text: string, x: number, y: number, isImportant = false) => ({ text, x, y, isImportant });

test("a label is above its point, and elsewhere if another is there", () => {
  const [first, second] = placeLabels([point("Scrooge", 200, 150), point("Marley", 202, 128)], SIZE);
  expect(first?.y).toBeGreaterThan(150);
  expect(second?.y).toBeLessThan(128);
});

test("labels do not cover each other; important ones are always there", () => {
  const crowd = Array.from({ length: 40 }, (_, at) =>
    point(`Entity ${at}`, 180 + (at % 8) * 6, 130 + Math.floor(at / 8) * 6, at === 39),
  );
  const labels = placeLabels(crowd, SIZE);
  expect(labels[39]).not.toBeNull();
  const shown = labels.filter((one) => one !== null);
  expect(shown.length).toBeLessThan(20);
  for (const one of shown)
    for (const other of shown)
      if (one !== other) expect(Math.abs(one.x - other.x) > 40 || Math.abs(one.y - other.y) > 11).toBe(true);
});

test("labels stay in the drawing, however long they are", () => {
  const [left, right, top] = placeLabels(
    [point("Ebenezer Scrooge", 2, 100), point("x".repeat(10_000), 399, 200), point("Fred", 200, 1)],
    SIZE,
  );
  expect(left?.x).toBeGreaterThan(50);
  expect(right?.text.length).toBe(25);
  expect(right?.x).toBeLessThan(320);
  expect(top?.y).toBeGreaterThan(10);
});
