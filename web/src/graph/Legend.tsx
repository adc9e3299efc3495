import type { GraphState } from "./address";
import styles from "./GraphPage.module.css";
import { letterOf, toggled, typeName } from "./shown";

interface Props {
  types: { type: string; count: number }[];
  state: GraphState;
  colourOf: (type: string) => number;
  onChange: (types: string[]) => void;
  onEmphasise: (type: string | null) => void;
}

/** The types of the entities that were loaded, with their colours and numbers. Each can be hidden. */
export function Legend({ types, state, colourOf, onChange, onEmphasise }: Props) {
  const all = types.map((one) => one.type);
  return (
    <fieldset className={styles.legend}>
      <legend>Types</legend>
      {types.map(({ type, count }) => (
        <label
          key={type}
          onPointerEnter={() => onEmphasise(type)}
          onPointerLeave={() => onEmphasise(null)}
          onFocus={() => onEmphasise(type)}
          onBlur={() => onEmphasise(null)}
        >
          <input
            type="checkbox"
            checked={state.types.length === 0 || state.types.includes(type)}
            onChange={() => onChange(toggled(state.types, type, all))}
          />
          <span className={styles.dot} data-colour={colourOf(type)} aria-hidden="true">
            {letterOf(type)}
          </span>
          <bdi>{typeName(type)}</bdi> <span className={styles.count}>{count}</span>
        </label>
      ))}
    </fieldset>
  );
}
