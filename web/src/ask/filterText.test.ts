import { expect, test } from "vitest";
import type { Filter } from "../api/ask";
import { filterText } from "./filterText";

const mail: Filter = { metadata: { kind: ["mail", "a note"] } };

test.each<[Filter, string]>([
  [{}, ""],
  [mail, '(kind=mail or kind="a note")'],
  [{ uris: ["a.md"], prefix: "letters/" }, "uri=a.md and uri=letters/**"],
  [{ none_of: [mail] }, 'not (kind=mail or kind="a note")'],
  [
    { any_of: [{ metadata: { year: { low: 1900, bounds: "(]" }, draft: true } }, { prefix: "b" }] },
    "((year>1900 and draft=true) or uri=b**)",
  ],
  [{ metadata: { year: { low: 1, high: 2, bounds: "[)" } } }, "(year>=1 and year<2)"],
])("%j is %s", (filter, text) => {
  expect(filterText(filter)).toBe(text);
});
