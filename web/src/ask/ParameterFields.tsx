// Fields for the parameters of a method, from their JSON schema.
import { useId } from "react";
import styles from "./AskForm.module.css";
import type { Json } from "./address";

interface Field {
  type?: string;
  description?: string;
  default?: Json;
  minimum?: number;
  maximum?: number;
  enum?: string[];
  anyOf?: Field[];
}

export interface ParameterSchema {
  properties?: Record<string, Field>;
}

interface Props {
  schema: ParameterSchema;
  /** Only those that differ from their defaults. */
  values: Record<string, Json>;
  onChange: (values: Record<string, Json>) => void;
}

export function ParameterFields({ schema, values, onChange }: Props) {
  const set = (name: string, field: Field, value: Json | undefined) => {
    const { [name]: _, ...others } = values;
    const same = value === undefined || JSON.stringify(value) === JSON.stringify(field.default);
    onChange(same ? others : { ...others, [name]: value });
  };
  return Object.entries(schema.properties ?? {})
    .filter(([, field]) => kindOf(field) !== null)
    .map(([name, field]) => (
      <ParameterField
        key={name}
        name={name}
        field={field}
        value={values[name] ?? field.default ?? null}
        onChange={(value) => set(name, field, value)}
      />
    ));
}

type Kind = "number" | "boolean" | "choice" | "text";

/** The kind of field for a schema; null if its values cannot be typed into one field. */
function kindOf(field: Field): Kind | null {
  if (field.enum) return "choice";
  if (field.anyOf) return field.anyOf.map(kindOf).find((one) => one !== null) ?? null;
  if (field.type === "integer" || field.type === "number") return "number";
  if (field.type === "boolean") return "boolean";
  return field.type === "string" ? "text" : null;
}

interface FieldProps {
  name: string;
  field: Field;
  value: Json;
  onChange: (value: Json | undefined) => void;
}

function ParameterField({ name, field, value, onChange }: FieldProps) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{name}</label>
      <Control id={id} field={field} value={value} onChange={onChange} />
      {field.description && (
        <p id={`${id}-about`} className="muted">
          {field.description}
        </p>
      )}
    </div>
  );
}

function Control({ id, field, value, onChange }: Omit<FieldProps, "name"> & { id: string }) {
  const about = `${id}-about`;
  const choices = field.enum ?? field.anyOf?.find((one) => one.enum)?.enum ?? [];
  switch (kindOf(field)) {
    case "choice":
      return (
        <select
          id={id}
          aria-describedby={about}
          value={String(value)}
          onChange={(event) => onChange(event.target.value)}
        >
          {choices.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      );
    case "boolean":
      return (
        <input
          id={id}
          type="checkbox"
          aria-describedby={about}
          checked={value === true}
          onChange={(event) => onChange(event.target.checked)}
        />
      );
    case "number":
      return (
        <input
          id={id}
          type="number"
          aria-describedby={about}
          step={field.type === "integer" ? 1 : "any"}
          min={field.minimum}
          max={field.maximum}
          value={value === null ? "" : String(value)}
          onChange={(event) => onChange(event.target.value === "" ? undefined : Number(event.target.value))}
        />
      );
    default:
      return (
        <input
          id={id}
          aria-describedby={about}
          value={value === null ? "" : String(value)}
          onChange={(event) => onChange(event.target.value)}
        />
      );
  }
}
