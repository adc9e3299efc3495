// The settings of a workspace as the server describes them.
import { queryOptions } from "@tanstack/react-query";
import { api, dataOf, type Schemas } from "../api/client";
import type { Json } from "../ask/address";
import type { ParameterSchema } from "../ask/ParameterFields";

export type SettingsBody = Schemas["SettingsBody"];
export type Values = Record<string, Json>;
export type Types = Record<string, string>;

export const settings = (workspace: string) =>
  queryOptions({
    queryKey: ["settings", workspace],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/v1/workspaces/{workspace}/settings", { params: { path: { workspace } }, signal })),
    refetchOnWindowFocus: false, // what is being edited stays
  });

/** Changes settings of the workspace; null removes one. */
export const change = (workspace: string, body: Record<string, Json | null>): Promise<SettingsBody> =>
  dataOf(
    api.PATCH("/v1/workspaces/{workspace}/settings", {
      params: { path: { workspace } },
      body: body as Schemas["TenantSettings"],
    }),
  );

/** Those that are edited as lists of types, on a page of their own. */
const OF_TYPES = [
  "entity_types",
  "relation_types",
  "relation_patterns",
  "functional_relations",
  "strict_schema",
];

/** The schema of the settings that fit into one field each. */
export function simple(found: SettingsBody): ParameterSchema {
  const properties = Object.entries(found.described).filter(([name]) => !OF_TYPES.includes(name));
  return { properties: Object.fromEntries(properties) as NonNullable<ParameterSchema["properties"]> };
}

/** What to send so that own settings become these: changed ones with their values, removed ones as null. */
export function changes(before: Values, now: Values): Record<string, Json | null> {
  const found: Record<string, Json | null> = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(now)])) {
    if (!isSame(before[name], now[name])) found[name] = now[name] ?? null;
  }
  return found;
}

/** Whether two values are the same. The server does not keep the order of names. */
function isSame(one: Json | undefined, other: Json | undefined): boolean {
  const sorted = (_: string, value: unknown) =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return JSON.stringify(one, sorted) === JSON.stringify(other, sorted);
}

/** Types as lines, "name: description". */
export const asLines = (types: Types): string =>
  Object.entries(types)
    .map(([name, about]) => (about ? `${name}: ${about}` : name))
    .join("\n");

/** Lines as types; lines without a name are left out. */
export function asTypes(lines: string): Types {
  const found: [string, string][] = lines.split("\n").map((line) => {
    const at = line.indexOf(":");
    return at < 0 ? [line.trim(), ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
  return Object.fromEntries(found.filter(([name]) => name));
}

/** How many an entity has of a relation, and what that means. */
export const UNIQUENESS = {
  "one target": "each source has one",
  "one source": "each target has one",
  "one target at a time": "each source has one, which may change",
  "one source at a time": "each target has one, which may change",
} as const;
export type Uniqueness = keyof typeof UNIQUENESS;

/** A relation of which an entity has only one, as it is edited. */
export interface FunctionalRow {
  id: number;
  relation: string;
  uniqueness: Uniqueness;
}

export const asRows = (setting: Record<string, Uniqueness>): FunctionalRow[] =>
  Object.entries(setting).map(([relation, uniqueness], id) => ({ id, relation, uniqueness }));

/** The setting that rows mean; rows without a relation are left out. */
export const asFunctional = (rows: FunctionalRow[]): Record<string, Uniqueness> =>
  Object.fromEntries(
    rows.map((row) => [row.relation.trim(), row.uniqueness] as const).filter(([relation]) => relation),
  );
