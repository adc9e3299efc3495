// What the Review view reads and writes.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, dataOf, type Schemas } from "../api/client";
import type { ReviewState } from "./address";

export type Suggestion = Schemas["Suggestion"];
export type Preview = Schemas["RulePreview"];
export type Rule = Schemas["RuleBody"];
export type NameKey = Schemas["NameKey"];
export type RuleDraft = Pick<Schemas["RuleRequest"], "kind" | "names" | "label" | "target">;

const PAGE = 25;
const PASSAGES = 3;
const RULES_AT_ONCE = 200;
const MOST_RULES = 1000;

export const suggestionsQuery = (workspace: string, { part, least, type }: ReviewState) =>
  infiniteQueryOptions({
    queryKey: ["suggestions to review", workspace, part, least, type],
    initialPageParam: "",
    getNextPageParam: (last: { next?: string | null }) => last.next ?? null,
    queryFn: ({ pageParam, signal }) => {
      const query = {
        limit: PAGE,
        cursor: pageParam,
        rejected: part === "rejected",
        type,
        ...(least === null ? {} : { threshold: least }),
      };
      const params = { path: { workspace }, query };
      return dataOf(api.GET("/v1/workspaces/{workspace}/rules/suggestions", { params, signal }));
    },
    staleTime: Number.POSITIVE_INFINITY, // a list that changes while somebody decides would lose its place
  });

/** What a rule would change. */
export const previewQuery = (workspace: string, draft: RuleDraft) =>
  queryOptions({
    queryKey: ["rule preview", workspace, draft],
    queryFn: ({ signal }) => {
      const body = { ...draft, limit: 20 } as Schemas["PreviewRequest"];
      const params = { path: { workspace } };
      return dataOf(api.POST("/v1/workspaces/{workspace}/rules/preview", { params, body, signal }));
    },
  });

export const mergeOf = ({ one, other }: Suggestion): RuleDraft => ({
  kind: "merge",
  names: [one.name, other.name].map(nameBody),
  label: "",
});

/** What a side of a pair is found by: its name and type, as undoing a merge gives an entity another id. */
export const sideOf = ({ name: { name, type }, entity }: Suggestion["one"]): string =>
  type ? `${name}::${type}` : entity;

/** Some passages that mention an entity, which is given by id or name. */
export const passagesQuery = (workspace: string, entity: string) =>
  queryOptions({
    queryKey: ["entity", workspace, entity, "some mentions"],
    queryFn: async ({ signal }) => {
      const params = { path: { workspace }, query: { name: entity, limit: PASSAGES } };
      return (await dataOf(api.GET("/v1/workspaces/{workspace}/entity/mentions", { params, signal }))).items;
    },
  });

export const typesQuery = (workspace: string) =>
  queryOptions({
    queryKey: ["types", workspace],
    queryFn: ({ signal }) => {
      const params = { path: { workspace } };
      return dataOf(api.GET("/v1/workspaces/{workspace}/types", { params, signal }));
    },
  });

export const resolutionQuery = (workspace: string) =>
  queryOptions({
    queryKey: ["resolution", workspace],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/v1/workspaces/{workspace}/rules/resolution", { params: { path: { workspace } }, signal }),
      ),
  });

/** The rules, the latest first. */
export const rulesQuery = (workspace: string) =>
  queryOptions({
    queryKey: ["rules", workspace],
    queryFn: async ({ signal }) => {
      const found: Rule[] = [];
      let cursor: string | null = "";
      while (cursor !== null && found.length < MOST_RULES) {
        const query: { limit: number; cursor: string } = { limit: RULES_AT_ONCE, cursor };
        const params = { path: { workspace }, query };
        const page = await dataOf(api.GET("/v1/workspaces/{workspace}/rules", { params, signal }));
        found.push(...page.items);
        cursor = page.next ?? null;
      }
      const rules = found.sort((a, b) => (b.made ?? "").localeCompare(a.made ?? ""));
      return { rules, isAll: cursor === null };
    },
  });

export const nameBody = ({ name, type }: NameKey): Schemas["NameBody"] => ({ name, type: type ?? "" });

/** Merges two names, or says that they are different; returns the id of the rule that merges them. */
export async function decide(workspace: string, { one, other }: Suggestion, same: boolean): Promise<string> {
  const body = { one: nameBody(one.name), other: nameBody(other.name), same, by: "" };
  const path = "/v1/workspaces/{workspace}/rules/suggestions/decide";
  const { rule } = await dataOf(api.POST(path, { params: { path: { workspace } }, body }));
  return rule?.id ?? "";
}

/** Suggests two names again that were rejected. */
export async function suggestAgain(workspace: string, { one, other }: Suggestion): Promise<void> {
  const body = { one: nameBody(one.name), other: nameBody(other.name) };
  const path = "/v1/workspaces/{workspace}/rules/suggestions/again";
  await dataOf(api.POST(path, { params: { path: { workspace } }, body }));
}

export async function undoRule(workspace: string, rule: string): Promise<void> {
  const params = { path: { workspace, rule } };
  await dataOf(api.DELETE("/v1/workspaces/{workspace}/rules/{rule}", { params }));
}

export async function makeRule(workspace: string, draft: RuleDraft): Promise<Rule> {
  const body = draft as Schemas["RuleRequest"];
  return dataOf(api.POST("/v1/workspaces/{workspace}/rules", { params: { path: { workspace } }, body }));
}

/** A name of an entity as documents write it, by which a rule can be made: of names that several entities have, the one
 * that leads to this entity. */
export async function nameOf(workspace: string, id: string, written: string[]): Promise<NameKey> {
  const params = { path: { workspace } };
  const body = { names: written.slice(0, 50).map((name) => ({ name, type: "" })) };
  const path = "/v1/workspaces/{workspace}/rules/mentioned";
  const { mentioned } = await dataOf(api.POST(path, { params, body }));
  for (const key of mentioned.flat()) {
    const query = { name: key.type ? `${key.name}::${key.type}` : key.name, relations: 0, passages: 0 };
    const { data } = await api.GET("/v1/workspaces/{workspace}/entity", { params: { ...params, query } });
    if (data?.entity.id === id) return key;
  }
  throw new Error("no document writes a name of this entity");
}
