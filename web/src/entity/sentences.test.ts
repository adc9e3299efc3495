import { expect, test } from "vitest";
import { byDocument, pieces, quotesOf } from "./sentences";

const TEXT = "😀 Ada 👩‍👩‍👧 met שלום Ada Lovelace.";
const POINTS = [...TEXT];
const at = (words: string, from = 0): [number, number] => {
  const start = [...TEXT.slice(0, TEXT.indexOf(words, from))].length;
  return [start, start + [...words].length];
};

test("a sentence is cut at its names wherever it begins in the document", () => {
  for (const textStart of [0, 7, 1000]) {
    const spans = [at("Ada Lovelace"), at("Ada"), at("Lovelace")].map(([start, end]): [number, number] => [
      start + textStart,
      end + textStart,
    ]);
    const cut = pieces({ text: TEXT, textStart, spans });
    expect(cut.map((one) => one.text).join("")).toBe(TEXT);
    expect(cut.filter((one) => one.span).map((one) => one.text)).toEqual(["Ada", "Ada Lovelace"]);
  }
});

test("spans outside of a sentence that was cut mark nothing", () => {
  const spans: [number, number][] = [[POINTS.length + 5, POINTS.length + 9]];
  expect(pieces({ text: TEXT, textStart: 0, spans })).toEqual([{ text: TEXT, span: null }]);
});

test("mentions of one sentence are shown once, and a passage without the name has no span", () => {
  const mention = (uri: string, text_start: number, start: number, end: number) => ({
    uri,
    title: "",
    chunk: "c",
    text: "x",
    text_start,
    start,
    end,
  });
  const quotes = quotesOf([
    mention("a", 0, 0, 1),
    mention("a", 0, 3, 4),
    mention("a", 9, 9, 9),
    mention("b", 9, 9, 9),
  ]);
  expect(quotes.map((one) => one.spans)).toEqual([
    [
      [0, 1],
      [3, 4],
    ],
    [],
    [],
  ]);
  expect(byDocument(quotes).map((group) => group.length)).toEqual([2, 1]);
});
