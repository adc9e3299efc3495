import { useEffect, useRef, useState } from "react";
import { useShortcuts } from "../shell/shortcuts";
import { type ListState, type Order, STATES, type WorkState } from "./address";
import styles from "./DocumentsPage.module.css";

const PAUSE = 250; // milliseconds after the last key until the list is read

interface Props {
  list: ListState;
  onChange: (to: Partial<ListState>) => void;
}

/** Which documents are listed, and in which order. */
export function Filters({ list, onChange }: Props) {
  return (
    <search className={styles.filters}>
      <PrefixField value={list.prefix} onChange={(prefix) => onChange({ prefix })} />
      <label>
        <span>State</span>
        <select
          value={list.state}
          onChange={(event) => onChange({ state: event.target.value as WorkState | "" })}
        >
          <option value="">any</option>
          {Object.entries(STATES).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Added since</span>
        <input type="date" value={list.since} onChange={(event) => onChange({ since: event.target.value })} />
      </label>
      <label>
        <span>Order</span>
        <select value={list.order} onChange={(event) => onChange({ order: event.target.value as Order })}>
          <option value="added">latest first</option>
          <option value="uri">by URI</option>
        </select>
      </label>
    </search>
  );
}

/** A field whose value is used when typing pauses. */
function PrefixField({ value, onChange }: { value: string; onChange: (to: string) => void }) {
  const [text, setText] = useState(value);
  const field = useRef<HTMLInputElement>(null);
  const used = useRef(value);
  const change = useRef(onChange);
  useEffect(() => {
    change.current = onChange;
  });
  useEffect(() => {
    if (value === used.current) return;
    used.current = value; // it was changed elsewhere: another address, or "show all"
    setText(value);
  }, [value]);
  useEffect(() => {
    if (text === used.current) return;
    const timer = setTimeout(() => {
      used.current = text;
      change.current(text);
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  useShortcuts({ "/": () => field.current?.focus() });
  return (
    <label className={styles.prefix}>
      <span>URI begins with</span>
      <input
        ref={field}
        type="search"
        value={text}
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
      />
    </label>
  );
}
