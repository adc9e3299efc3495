// Scores of methods as bars with their intervals. The labels and figures are text beside the drawing, so that they have
// the same size on every screen.
import styles from "./Bench.module.css";
import type { Run } from "./queries";
import { between, percent } from "./words";

interface Props {
  run: Run;
  measure: string;
  /** How many methods at most, the best first. */
  most?: number;
}

export function IntervalPlot({ run, measure, most = run.methods.length }: Props) {
  const shown = run.methods.slice(0, most);
  return (
    <ul className={styles.plot} aria-label={`${measure} of each method, in per cent, with 95 % intervals`}>
      {shown.map(({ name, scores }) => {
        const score = scores[measure];
        if (!score) return null;
        return (
          <li key={name}>
            <span className={styles.method}>{name}</span>
            <Bar {...score} />
            <span className={styles.figure}>
              {percent(score.mean)}
              <small>{between(score)}</small>
            </span>
          </li>
        );
      })}
    </ul>
  );
}

/** A bar from 0 to 1 with its interval across the end. */
function Bar({ mean, low, high }: { mean: number; low: number; high: number }) {
  return (
    <svg viewBox="0 0 100 20" preserveAspectRatio="none" aria-hidden="true" className={styles.bar}>
      {[25, 50, 75, 100].map((x) => (
        <path key={x} className={styles.grid} d={`M${x} 0V20`} />
      ))}
      <rect x="0" y="4" width={Math.max(100 * mean, 0.4)} height="12" />
      <path
        className={styles.span}
        d={`M${100 * low} 5V15M${100 * low} 10H${100 * high}M${100 * high} 5V15`}
      />
    </svg>
  );
}

/** The difference of two sides with its interval, from B on the left to A on the right. */
export function DifferencePlot({ mean, low, high }: { mean: number; low: number; high: number }) {
  const most = Math.max(Math.abs(low), Math.abs(high), 0.05);
  const x = (value: number) => 50 + (45 * value) / most;
  return (
    <div className={styles.difference} aria-hidden="true">
      <span>B better</span>
      <svg viewBox="0 0 100 20" preserveAspectRatio="none" aria-hidden="true" className={styles.bar}>
        <path className={styles.zero} d="M50 0V20" />
        <path className={styles.span} d={`M${x(low)} 5V15M${x(low)} 10H${x(high)}M${x(high)} 5V15`} />
        <rect x={x(mean) - 0.5} y="3" width="1" height="14" />
      </svg>
      <span>A better</span>
    </div>
  );
}
