// The question with its options: method, parameters that differ from their defaults, filter on documents.
import { useQuery } from "@tanstack/react-query";
import { SlidersHorizontal, X } from "lucide-react";
import { type FormEvent, useEffect, useId, useState } from "react";
import { Button } from "react-aria-components";
import type { Filter } from "../api/ask";
import { methods as methodsQuery } from "../api/queries";
import styles from "./AskForm.module.css";
import type { AskState, Json } from "./address";
import { filterText } from "./filterText";
import { ParameterFields, type ParameterSchema } from "./ParameterFields";
import { QuestionLine } from "./QuestionLine";

export type Asking = Pick<AskState, "question" | "method" | "parameters" | "filter">;

interface Props {
  workspace: string;
  asked: Asking;
  /** The method of the workspace. */
  usual: string;
  busy: boolean;
  onAsk: (asking: Asking) => void;
  onStop: () => void;
}

export function AskForm({ workspace, asked, usual, busy, onAsk, onStop }: Props) {
  const [now, setNow] = useState(asked);
  const [open, setOpen] = useState(false);
  const panel = useId();
  const key = JSON.stringify(asked);
  useEffect(() => setNow(JSON.parse(key) as Asking), [key]);

  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (now.question.trim()) onAsk({ ...now, question: now.question.trim() });
  };
  return (
    <form className={styles.form} onSubmit={send}>
      <QuestionLine
        question={now.question}
        placeholder="Ask your documents"
        action="Ask"
        busy={busy}
        onChange={(question) => setNow({ ...now, question })}
        onSend={send}
        onStop={onStop}
      />
      <Chips
        now={now}
        usual={usual}
        open={open}
        panel={panel}
        onOpen={() => setOpen(!open)}
        onChange={setNow}
      />
      {open && <Options workspace={workspace} id={panel} now={now} usual={usual} onChange={setNow} />}
    </form>
  );
}

interface ChipsProps {
  now: Asking;
  usual: string;
  open: boolean;
  panel: string;
  onOpen: () => void;
  onChange: (now: Asking) => void;
}

function Chips({ now, usual, open, panel, onOpen, onChange }: ChipsProps) {
  const without = (name: string) => {
    const { [name]: _, ...parameters } = now.parameters;
    onChange({ ...now, parameters });
  };
  return (
    <div className={styles.chips}>
      <Button className={styles.options ?? ""} aria-expanded={open} aria-controls={panel} onPress={onOpen}>
        <SlidersHorizontal size={14} aria-hidden="true" /> {now.method || usual}
      </Button>
      {Object.entries(now.parameters).map(([name, value]) => (
        <Chip key={name} text={`${name} ${shown(value)}`} onRemove={() => without(name)} />
      ))}
      <FilterChips filter={now.filter} onChange={(filter) => onChange({ ...now, filter })} />
    </div>
  );
}

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

function Chip({ text, onRemove }: { text: string; onRemove: () => void }) {
  return (
    <span className={styles.chip}>
      <span className={styles.chiptext}>{text}</span>
      <Button className={styles.remove ?? ""} aria-label={`Remove ${text}`} onPress={onRemove}>
        <X size={14} aria-hidden="true" />
      </Button>
    </span>
  );
}

interface OptionsProps {
  workspace: string;
  id: string;
  now: Asking;
  usual: string;
  onChange: (now: Asking) => void;
}

function Options({ workspace, id, now, usual, onChange }: OptionsProps) {
  const { data: methods = [] } = useQuery(methodsQuery(workspace));
  const name = useId();
  const method = methods.find((one) => one.name === (now.method || usual));
  return (
    <div id={id} className={`card ${styles.panel}`}>
      <div className={styles.field}>
        <label htmlFor={name}>Method</label>
        <select
          id={name}
          value={now.method}
          onChange={(event) => onChange({ ...now, method: event.target.value, parameters: {} })}
        >
          <option value="">{`${usual} (default)`}</option>
          {methods
            .filter((one) => one.name !== usual)
            .map((one) => (
              <option key={one.name} value={one.name}>
                {one.usable ? one.name : `${one.name} (not usable here)`}
              </option>
            ))}
        </select>
        {method && <p className="muted">{method.usable ? method.summary : method.problem}</p>}
      </div>
      {method && (
        <ParameterFields
          schema={method.parameters as unknown as ParameterSchema}
          values={now.parameters}
          onChange={(parameters) => onChange({ ...now, parameters })}
        />
      )}
      <FilterField filter={now.filter} onChange={(filter) => onChange({ ...now, filter })} />
    </div>
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

function shown(value: Json): string {
  if (Array.isArray(value)) return value.map(shown).join(" or ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
