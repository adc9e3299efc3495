// The setting `functional_relations`: relations of which an entity has only one.
import { Button } from "react-aria-components";
import styles from "./Settings.module.css";
import { type FunctionalRow, UNIQUENESS, type Uniqueness } from "./settings";

interface Props {
  rows: FunctionalRow[];
  onChange: (to: FunctionalRow[]) => void;
}

/** A list of relations, to which others can be added. */
export function FunctionalRelations({ rows, onChange }: Props) {
  const set = (id: number, changed: Partial<FunctionalRow>) =>
    onChange(rows.map((row) => (row.id === id ? { ...row, ...changed } : row)));
  const add = () => {
    const id = Math.max(0, ...rows.map((row) => row.id)) + 1;
    onChange([...rows, { id, relation: "", uniqueness: "one target" }]);
  };
  return (
    <fieldset className={styles.functional}>
      <legend>Relations of which an entity has only one</legend>
      <p className="muted">
        Documents that state several values of them are shown as conflicts. Nothing is extracted again after a
        change.
      </p>
      <ul>
        {rows.map((row, at) => (
          <li key={row.id}>
            <input
              aria-label={`Relation ${at + 1}`}
              placeholder="born in"
              required
              maxLength={2000}
              value={row.relation}
              dir="auto"
              onChange={(event) => set(row.id, { relation: event.target.value })}
            />
            <select
              aria-label={`Relation ${at + 1} has only`}
              value={row.uniqueness}
              onChange={(event) => set(row.id, { uniqueness: event.target.value as Uniqueness })}
            >
              {Object.entries(UNIQUENESS).map(([value, about]) => (
                <option key={value} value={value}>
                  {value} ({about})
                </option>
              ))}
            </select>
            <Button
              className="quiet"
              aria-label={`Remove relation ${at + 1}`}
              onPress={() => onChange(rows.filter((one) => one.id !== row.id))}
            >
              Remove
            </Button>
          </li>
        ))}
      </ul>
      <Button onPress={add}>Add a relation</Button>
    </fieldset>
  );
}
