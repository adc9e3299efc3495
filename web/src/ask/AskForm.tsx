// The question with its options: method, parameters that differ from their defaults, filter on documents.
import { useQuery } from "@tanstack/react-query";
import { SlidersHorizontal } from "lucide-react";
import { type FormEvent, useEffect, useId, useState } from "react";
import { Button } from "react-aria-components";
import { methods as methodsQuery } from "../api/queries";
import styles from "./AskForm.module.css";
import type { AskState } from "./address";
import { Chip, FilterChips, FilterField, shown } from "./DocumentFilter";
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
