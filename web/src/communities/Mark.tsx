import styles from "./Communities.module.css";
import { STATES, type State } from "./labels";

/** The state of a report as a small box, drawn as in the treemap, with its name. */
export function Mark({ state, isNamed = true }: { state: State; isNamed?: boolean }) {
  return (
    <span className={styles.mark}>
      <i data-state={state} aria-hidden="true" />
      {isNamed ? STATES[state] : <span className="visually-hidden">{STATES[state]}</span>}
    </span>
  );
}
