// Answers for tests.
import type { Answer } from "../api/ask";
import type { Citation, Sentence } from "./sentences";

export function sentence(text: string, start: number, more: Partial<Sentence> = {}): Sentence {
  return {
    text,
    start,
    end: start + [...text].length,
    citations: [],
    status: "quoted",
    reason: "",
    basis: "",
    verifier: "rules",
    claims: true,
    confirmed: true,
    ...more,
  };
}

export function citation(number: number, quote: string, more: Partial<Citation> = {}): Citation {
  return {
    number,
    quote,
    start: 0,
    end: [...quote].length,
    passage: `passage ${number}`,
    source: `Letters, page ${number}`,
    uri: `letters/${number}.md`,
    title: "Letters",
    date: "",
    page: String(number),
    box: null,
    headings: [],
    also: [],
    verbatim: true,
    ...more,
  };
}

const USAGE = { calls: 1, kept: 0, tokens_in: 10, tokens_out: 5, price: "0.001" };

export function answer(text: string, sentences: Sentence[], citations: Citation[]): Answer {
  return {
    question: "Who built it?",
    method: "weave",
    answer: text,
    known: true,
    sentences,
    citations,
    evidence: {
      passages: [],
      entities: [],
      relations: [],
      paths: [],
      reports: [],
      connections: [],
      reason: "",
      keywords: { low: [], high: [] },
    },
    context: "",
    usage: USAGE,
    reasoning: "",
    number: null,
    finish: "stop",
    checks: [],
    repairs: [],
    disagreements: [],
    trace: { method: "weave", seconds: 0.1, statements: 1, steps: [], usage: USAGE },
  };
}
