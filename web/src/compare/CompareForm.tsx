// The question of a comparison, with the methods, their parameters, and the filter on documents.
import { useQuery } from "@tanstack/react-query";
import { SlidersHorizontal, X } from "lucide-react";
import { type FormEvent, useEffect, useId, useState } from "react";
import { Button } from "react-aria-components";
import { methods as methodsQuery } from "../api/queries";
import form from "../ask/AskForm.module.css";
import { FilterChips, FilterField } from "../ask/DocumentFilter";
import { ParameterFields, type ParameterSchema } from "../ask/ParameterFields";
import { QuestionLine } from "../ask/QuestionLine";
import { type Choice, type CompareState, choiceName, choiceText, MOST_METHODS } from "./address";
import styles from "./ComparePage.module.css";

const SAME = "Two methods are the same: change a parameter of one.";

interface Props {
  workspace: string;
  compared: CompareState;
  hasModel: boolean;
  busy: boolean;
  onCompare: (state: CompareState) => void;
  onStop: () => void;
}

export function CompareForm({ workspace, compared, hasModel, busy, onCompare, onStop }: Props) {
  const [now, setNow] = useState(compared);
  const [open, setOpen] = useState<number | "filter" | null>(null);
  const panel = useId();
  const answers = useId();
  const key = JSON.stringify(compared);
  useEffect(() => setNow(JSON.parse(key) as CompareState), [key]);

  const texts = new Set(now.choices.map(choiceText));
  const wrong =
    now.choices.length < 2 ? "Choose at least two methods." : texts.size < now.choices.length ? SAME : "";
  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (now.question.trim() && !wrong) onCompare({ ...now, question: now.question.trim() });
  };
  const opened = typeof open === "number" ? now.choices[open] : undefined;
  return (
    <form className={form.form} onSubmit={send}>
      <QuestionLine
        question={now.question}
        placeholder="Ask several methods the same"
        action="Compare"
        busy={busy}
        isDisabled={wrong !== ""}
        onChange={(question) => setNow({ ...now, question })}
        onSend={send}
        onStop={onStop}
      />
      <div className={form.chips}>
        {now.choices.map((choice, at) => (
          <ChoiceChip
            // biome-ignore lint/suspicious/noArrayIndexKey: a method may be chosen twice, and its parameters change
            key={at}
            choice={choice}
            open={open === at}
            panel={panel}
            onOpen={() => setOpen(open === at ? null : at)}
            onRemove={() => {
              setOpen(null);
              setNow({ ...now, choices: now.choices.filter((_, other) => other !== at) });
            }}
          />
        ))}
        <AddMethod
          workspace={workspace}
          isFull={now.choices.length >= MOST_METHODS}
          onAdd={(method) => setNow({ ...now, choices: [...now.choices, { method, parameters: {} }] })}
        />
        <FilterChips filter={now.filter} onChange={(filter) => setNow({ ...now, filter })} />
        <Button
          className={form.options ?? ""}
          aria-expanded={open === "filter"}
          aria-controls={panel}
          onPress={() => setOpen(open === "filter" ? null : "filter")}
        >
          Filter
        </Button>
        {hasModel && (
          <label className={styles.answers} htmlFor={answers}>
            <input
              id={answers}
              type="checkbox"
              checked={now.answers}
              onChange={(event) => setNow({ ...now, answers: event.target.checked })}
            />
            Write answers
          </label>
        )}
      </div>
      {wrong && <p className={styles.wrong}>{wrong}</p>}
      {open === "filter" && (
        <div id={panel} className={`card ${form.panel}`}>
          <FilterField filter={now.filter} onChange={(filter) => setNow({ ...now, filter })} />
        </div>
      )}
      {opened && (
        <Parameters
          workspace={workspace}
          id={panel}
          choice={opened}
          onChange={(changed) =>
            setNow({ ...now, choices: now.choices.map((one, at) => (at === open ? changed : one)) })
          }
        />
      )}
    </form>
  );
}

interface ChipProps {
  choice: Choice;
  open: boolean;
  panel: string;
  onOpen: () => void;
  onRemove: () => void;
}

function ChoiceChip({ choice, open, panel, onOpen, onRemove }: ChipProps) {
  return (
    <span className={`${form.chip} ${styles.choice}`}>
      <Button
        className={styles.name ?? ""}
        aria-expanded={open}
        aria-controls={panel}
        aria-label={`Parameters of ${choiceName(choice)}`}
        onPress={onOpen}
      >
        <SlidersHorizontal size={14} aria-hidden="true" />
        <span className={form.chiptext}>{choiceName(choice)}</span>
      </Button>
      <Button className={form.remove ?? ""} aria-label={`Remove ${choiceName(choice)}`} onPress={onRemove}>
        <X size={14} aria-hidden="true" />
      </Button>
    </span>
  );
}

interface AddProps {
  workspace: string;
  isFull: boolean;
  onAdd: (method: string) => void;
}

/** A list of all methods. Those that cannot be used here say why. */
function AddMethod({ workspace, isFull, onAdd }: AddProps) {
  const { data: methods = [] } = useQuery(methodsQuery(workspace));
  if (isFull) return null;
  return (
    <select
      className={styles.add}
      aria-label="Add a method"
      value=""
      onChange={(event) => onAdd(event.target.value)}
    >
      <option value="" disabled>
        Add a method
      </option>
      {methods.map((one) => (
        <option key={one.name} value={one.name} disabled={!one.usable}>
          {one.usable ? one.name : `${one.name}: ${one.problem}`}
        </option>
      ))}
    </select>
  );
}

interface ParametersProps {
  workspace: string;
  id: string;
  choice: Choice;
  onChange: (choice: Choice) => void;
}

function Parameters({ workspace, id, choice, onChange }: ParametersProps) {
  const { data: methods = [] } = useQuery(methodsQuery(workspace));
  const method = methods.find((one) => one.name === choice.method);
  if (!method) return null;
  return (
    <div id={id} className={`card ${form.panel}`}>
      <p className="muted">{method.usable ? method.summary : method.problem}</p>
      <ParameterFields
        schema={method.parameters as unknown as ParameterSchema}
        values={choice.parameters}
        onChange={(parameters) => onChange({ ...choice, parameters })}
      />
    </div>
  );
}
