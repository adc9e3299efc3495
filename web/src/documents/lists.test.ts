import { expect, test } from "vitest";
import { atLeast } from "../ui/SpendingLimit";
import { commandOf, readAddress, requestOf, writeAddress } from "./address";
import { removedText } from "./DeleteDialog";
import { batchesOf, type NamedFile } from "./files";
import { sentence } from "./UploadPanel";

const file = (uri: string, size = 1): NamedFile => ({ uri, file: { size, name: uri } as File });

test("the address has what differs from the defaults, and reads back", () => {
  const list = { prefix: "a b/", state: "failed", order: "uri", since: "2026-05-01" } as const;
  expect(readAddress(writeAddress(list))).toEqual(list);
  const plain = readAddress(new URLSearchParams("state=<script>&order=x&since=2026-99-99"));
  expect(plain).toEqual({ prefix: "", state: "", order: "added", since: "" });
  expect(writeAddress(plain).toString()).toBe("");
  expect(readAddress(new URLSearchParams("state=toString")).state).toBe("");
});

test("files are sent in groups that the server takes; those that take long to read, alone", () => {
  const many = Array.from({ length: 120 }, (_, at) => file(`${at}.txt`));
  expect(batchesOf(many, 1e8).map((one) => one.length)).toEqual([50, 50, 20]);
  const mixed = [file("a.txt"), file("b.PDF"), file("c.md")];
  expect(batchesOf(mixed, 1e8).map((one) => one.map((each) => each.uri))).toEqual([
    ["b.PDF"],
    ["a.txt", "c.md"],
  ]);
  expect(batchesOf([file("a", 6e6), file("b", 6e6)], 1e8)).toHaveLength(2);
  expect(batchesOf([], 1e8)).toEqual([]);
});

test.each([
  ["0.8031", "0.81"],
  ["0.8", "0.80"],
  ["12.34", "13"],
  ["0.00021", "0.00021"],
  ["150", "150"],
  ["0", "0.01"],
])("a cap for at most %s is %s", (price, cap) => expect(atLeast(price)).toBe(cap));

test("what became of files and documents is told in a sentence", () => {
  const none = { new: 0, unchanged: 0, unreadable: 0, refused: 0, skipped: 0 };
  expect(sentence({ ...none, new: 1, unchanged: 2 })).toBe("1 document added, 2 unchanged");
  expect(sentence({ ...none, unchanged: 1 })).toBe("1 document unchanged");
  expect(sentence({ ...none, unreadable: 1 })).toBe("0 documents added, 1 file could not be read");
  expect(removedText(2, 2)).toBe("2 documents deleted.");
  expect(removedText(1, 2)).toBe("1 document deleted; 1 document was already removed.");
});

test("the list as a request and as a command", () => {
  const list = { prefix: "a b/", state: "", order: "uri", since: "" } as const;
  expect(requestOf("w", list)).toBe("GET /v1/workspaces/w/documents?prefix=a+b%2F&state=any&order=uri");
  expect(commandOf("w", list)).toEqual({ none: expect.stringContaining("has the filters") });
  expect(commandOf("w", { ...list, prefix: "" })).toBe("trueweave documents --workspace w");
});
