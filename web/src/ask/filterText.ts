// A filter as text, as the command takes it: `kind=letter and not (year<1900 or uri=drafts/**)`.
import type { Filter } from "../api/ask";

type Value = Exclude<NonNullable<Filter["metadata"]>[string], unknown[]>;

/** The text of a filter; empty if all documents pass it. */
export function filterText(filter: Filter): string {
  return parts(filter).join(" and ");
}

/** The conditions on one value of metadata, all of which must hold; `quote` writes keys and texts. */
export function conditions(key: string, value: Value, quote = (text: string) => text): string[] {
  if (typeof value !== "object") return [`${quote(key)}=${quote(String(value))}`];
  const { low, high, bounds } = value;
  if (low != null && high != null && bounds === "[]") return [`${quote(key)}:${low}..${high}`];
  return [
    ...(low != null ? [`${quote(key)}>${bounds.startsWith("[") ? "=" : ""}${low}`] : []),
    ...(high != null ? [`${quote(key)}<${bounds.endsWith("]") ? "=" : ""}${high}`] : []),
  ];
}

function parts(filter: Filter): string[] {
  const uris = (filter.uris ?? []).map((uri) => `uri=${word(uri)}`);
  const keys = Object.entries(filter.metadata ?? {}).map(([key, value]) =>
    either((Array.isArray(value) ? value : [value]).map((one) => both(conditions(key, one, word)))),
  );
  return [
    ...(uris.length ? [either(uris)] : []),
    ...(filter.prefix ? [`uri=${word(`${filter.prefix}**`)}`] : []),
    ...keys,
    ...(filter.all_of ?? []).map(bracketed),
    ...(filter.any_of?.length ? [either(filter.any_of.map(bracketed))] : []),
    ...(filter.none_of ?? []).map((one) => `not ${bracketed(one)}`),
  ];
}

const bracketed = (filter: Filter): string => both(parts(filter)) || "uri=**";

const both = (each: string[]): string => (each.length > 1 ? `(${each.join(" and ")})` : (each[0] ?? ""));

const either = (each: string[]): string => (each.length > 1 ? `(${each.join(" or ")})` : (each[0] ?? ""));

const word = (text: string): string =>
  /^[^\s()=<>"!]+$/.test(text) && !/^(and|or|not)$/i.test(text)
    ? text
    : `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
