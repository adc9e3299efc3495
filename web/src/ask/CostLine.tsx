import type { Answer, Found } from "../api/ask";
import { counted, duration, money } from "../text/words";
import styles from "./AskPage.module.css";

/** What the calls of models took; empty if there were none. */
export function costsOf(usage: Found["usage"]): string[] {
  const parts: string[] = [];
  if (usage.calls > 0) {
    parts.push(
      counted(usage.calls, "model call"),
      counted(usage.tokens_in + usage.tokens_out, "token"),
      money(usage.price),
    );
  }
  if (usage.kept > 0) parts.push(`${counted(usage.kept, "reply", "replies")} from the cache, at no cost`);
  return parts;
}

/** One line: method, what was found, time, and what the models cost. */
export function CostLine({ found, answer }: { found: Found; answer: Answer | null }) {
  const { evidence, trace } = found;
  const usage = answer?.usage ?? found.usage;
  const counts = [
    [evidence.passages.length, "passage", "passages"],
    [evidence.entities.length, "entity", "entities"],
    [evidence.relations.length, "relation", "relations"],
    [evidence.paths.length, "path", "paths"],
    [evidence.reports.length, "report", "reports"],
  ] as const;
  const shown = counts
    .filter(([count], at) => count > 0 || at === 0)
    .map(([count, one, many]) => counted(count, one, many));
  const chosen = trace.steps.filter((step) => step.what === "chose").map((step) => step.best[0]?.item);
  const method = [trace.method, ...chosen].filter(Boolean).join(" → ");
  const parts = [method, shown.join(", "), `search ${duration(trace.seconds)}`, ...costsOf(usage)];
  return <p className={styles.cost}>{parts.join(" · ")}</p>;
}
