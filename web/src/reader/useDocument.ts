// A document, loaded in windows of chunks with the mentions in them.
import { type InfiniteData, useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, dataOf, type Schemas } from "../api/client";
import type { Mention } from "./segments";
import type { Span } from "./spans";

const CHUNKS = 60; // chunks loaded at once
const BEFORE = 6000; // characters shown before the cited words, as far as there are any
const MENTIONS = 1000; // mentions in one response

/** Where to load from: the chunk that contains a character, or the one after it; or all chunks before a character. */
type From = { start: number; after?: true } | { before: number };

export type Window = Schemas["DocumentBody"] & { isFirst: boolean; isLast: boolean; mentions: Mention[] };
export type Windows = InfiniteData<Window, unknown>;

async function loaded(workspace: string, uri: string, from: From, signal: AbortSignal): Promise<Window> {
  const isBefore = "before" in from;
  const start = isBefore ? Math.max(0, from.before - BEFORE) : from.start;
  const first = "after" in from ? 1 : 0;
  const params = { path: { workspace }, query: { uri, start, first, chunks: CHUNKS } };
  const found = await dataOf(api.GET("/v1/workspaces/{workspace}/document", { params, signal }));
  const spans = isBefore ? found.spans.filter((one) => one.start < from.before) : found.spans;
  const mentions = await mentionsIn(workspace, uri, spans, signal);
  const isLast = !isBefore && found.spans.length < CHUNKS;
  return { ...found, spans, mentions, isFirst: start === 0, isLast };
}

async function mentionsIn(
  workspace: string,
  uri: string,
  spans: Span[],
  signal: AbortSignal,
): Promise<Mention[]> {
  const [first, last] = [spans[0], spans.at(-1)];
  if (!first || !last || last.end <= first.start) return [];
  const found: Mention[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query: { uri: string; start: number; end: number; limit: number; cursor: string } = {
      uri,
      start: first.start,
      end: last.end,
      limit: MENTIONS,
      cursor,
    };
    const params = { path: { workspace }, query };
    const page = await dataOf(api.GET("/v1/workspaces/{workspace}/document/mentions", { params, signal }));
    found.push(...page.items);
    cursor = page.next ?? null;
  }
  return found;
}

/** The document around a character. The windows that are loaded are kept if they contain it. */
export function useDocument(workspace: string, uri: string, at: number) {
  const [anchor, setAnchor] = useState({ uri, at });
  const found = useInfiniteQuery({
    queryKey: ["document", workspace, anchor.uri, anchor.at],
    initialPageParam: { start: Math.max(0, anchor.at - BEFORE) } as From,
    queryFn: ({ pageParam, signal }) => loaded(workspace, anchor.uri, pageParam, signal),
    getNextPageParam: (last): From | null => {
      const end = last.spans.at(-1);
      return end && !last.isLast ? { start: end.start, after: true } : null;
    },
    getPreviousPageParam: (first): From | null => {
      const begin = first.spans[0];
      return begin && !first.isFirst ? { before: begin.start } : null;
    },
    staleTime: Number.POSITIVE_INFINITY, // loading many windows again would move the text under the reader
  });
  if (anchor.uri !== uri || (anchor.at !== at && found.data && !contains(found.data, at)))
    setAnchor({ uri, at });
  return found;
}

function contains(data: Windows, at: number): boolean {
  const first = data.pages[0]?.spans[0];
  const last = data.pages.at(-1)?.spans.at(-1);
  return first !== undefined && last !== undefined && first.start <= at && at < last.end;
}
