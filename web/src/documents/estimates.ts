// Estimates of several requests, added up.
import type { Schemas } from "../api/client";

export type Estimate = Schemas["Estimate"];

/** One estimate for all. A price is not known if one of its parts is not. */
export function added(estimates: Estimate[]): Estimate | null {
  let total = estimates[0] ?? null;
  for (const one of estimates.slice(1)) total = total && plus(total, one);
  return total;
}

function plus(a: Estimate, b: Estimate): Estimate {
  return {
    ...a,
    documents: a.documents + b.documents,
    unchanged: a.unchanged + b.unchanged,
    unreadable: a.unreadable + b.unreadable,
    chunks: a.chunks + b.chunks,
    tokens: a.tokens + b.tokens,
    answered: a.answered + b.answered,
    calls: a.calls + b.calls,
    tokens_in: a.tokens_in + b.tokens_in,
    tokens_out: a.tokens_out + b.tokens_out,
    most_tokens_out: a.most_tokens_out + b.most_tokens_out,
    price: sum(a.price, b.price),
    most_price: sum(a.most_price, b.most_price),
    embedding_price: sum(a.embedding_price, b.embedding_price),
    pictures: a.pictures + b.pictures,
    vision_price: sum(a.vision_price, b.vision_price),
    notes: [...new Set([...a.notes, ...b.notes])],
  };
}

function sum(a: string | null, b: string | null): string | null {
  return a === null || b === null ? null : String(Number(a) + Number(b));
}
