// The filter on documents: what it is limited to, each with a button that removes it, and a field that adds to it.
import { X } from "lucide-react";
import { useId, useState } from "react";
import { Button } from "react-aria-components";
import type { Filter } from "../api/ask";
import styles from "./AskForm.module.css";
import type { Json } from "./address";
import { filterText } from "./filterText";

interface FilterProps {
  filter: Filter;
  onChange: (filter: Filter) => void;
}

/** The documents and the values of metadata that a question is limited to. */
export function FilterChips({ filter, onChange }: FilterProps) {
  const metadata = Object.entries(filter.metadata ?? {});
  const { uris = [], metadata: _metadata, ...others } = filter;
  const combined = filterText(others);
  return (
    <>
      {uris.map((uri) => (
        <Chip key={uri} text={uri} onRemove={() => onChange(withoutUri(filter, uri))} />
      ))}
      {metadata.map(([key, value]) => (
        <Chip
          key={key}
          text={`${key}: ${shown(value as Json)}`}
          onRemove={() => onChange(withoutKey(filter, key))}
        />
      ))}
      {combined && (
        <Chip text={combined} onRemove={() => onChange({ uris, metadata: filter.metadata ?? {} })} />
      )}
      {!uris.length && !metadata.length && !combined && <span className={styles.plain}>all documents</span>}
    </>
  );
}

export function Chip({ text, onRemove }: { text: string; onRemove: () => void }) {
  return (
    <span className={styles.chip}>
      <span className={styles.chiptext}>{text}</span>
      <Button className={styles.remove ?? ""} aria-label={`Remove ${text}`} onPress={onRemove}>
        <X size={14} aria-hidden="true" />
      </Button>
    </span>
  );
}

/** Adds a document, or a value of its metadata, to the filter. */
export function FilterField({ filter, onChange }: FilterProps) {
  const [text, setText] = useState("");
  const id = useId();
  const add = () => {
    if (text.trim()) onChange(withEntry(filter, text.trim()));
    setText("");
  };
  return (
    <div className={styles.field}>
      <label htmlFor={id}>Only documents</label>
      <div className={styles.add}>
        <input
          id={id}
          value={text}
          placeholder="notes/engine.md or year=1843"
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            add();
          }}
        />
        <Button onPress={add}>Add</Button>
      </div>
      <p className="muted">
        A uri, or a key of the metadata with a value. A second value of a key means either.
      </p>
    </div>
  );
}

/** The filter with one more entry: `key=value`, or the uri of a document. */
export function withEntry(filter: Filter, text: string): Filter {
  const pair = /^([\w.-]+)=(.+)$/.exec(text);
  if (!pair?.[1] || !pair[2]) return { ...filter, uris: [...new Set([...(filter.uris ?? []), text])] };
  const [, key, value] = pair;
  const before = filter.metadata?.[key];
  const values = before === undefined ? [] : Array.isArray(before) ? before : [before];
  return { ...filter, metadata: { ...filter.metadata, [key]: [...values, scalar(value)] } };
}

function scalar(text: string): boolean | number | string {
  if (text === "true" || text === "false") return text === "true";
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function withoutUri(filter: Filter, uri: string): Filter {
  return { ...filter, uris: (filter.uris ?? []).filter((one) => one !== uri) };
}

function withoutKey(filter: Filter, key: string): Filter {
  const { [key]: _, ...metadata } = filter.metadata ?? {};
  return { ...filter, metadata };
}

/** A value as text. */
export function shown(value: Json): string {
  if (Array.isArray(value)) return value.map(shown).join(" or ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
