import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useRef, useState } from "react";
import { Button } from "react-aria-components";
import { methods as methodsQuery } from "../api/queries";
import { Failed } from "../ui/States";
import { addWatch, type NewWatch, type Watch } from "./queries";
import styles from "./Watches.module.css";

const LONGEST = 2000; // characters of a question
const PASSAGES = 5;

interface Props {
  workspace: string;
  onAdded: (watch: Watch) => void;
}

/** Adds a watch. The server checks the fields, as those under "More" may be hidden. */
export function NewWatchForm({ workspace, onAdded }: Props) {
  const { data: methods = [] } = useQuery(methodsQuery(workspace));
  const question = useRef<HTMLInputElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const add = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const watch = readWatch(new FormData(form));
    if (!watch.question) question.current?.focus();
    if (isBusy || !watch.question) return;
    setBusy(true);
    setError(null);
    try {
      const added = await addWatch(workspace, watch);
      form.reset();
      onAdded(added);
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  return (
    <form className={`${styles.card} ${styles.form}`} aria-label="Add a watch" noValidate onSubmit={add}>
      <label>
        <span>Question</span>
        <input ref={question} name="question" maxLength={LONGEST} />
      </label>
      <details>
        <summary>More</summary>
        <div className={styles.fields}>
          <label>
            <span>Name (made from the question, if empty)</span>
            <input name="name" maxLength={100} />
          </label>
          <label>
            <span>Method</span>
            <select name="method">
              <option value="">default</option>
              {methods
                .filter((one) => one.usable)
                .map((one) => (
                  <option key={one.name} value={one.name}>
                    {one.name}
                  </option>
                ))}
            </select>
          </label>
          <label>
            <span>Passages to compare (1 to 50)</span>
            <input name="passages" type="number" min={1} max={50} defaultValue={PASSAGES} />
          </label>
          <label>
            <span>Webhook (an address that alerts are sent to)</span>
            <input name="webhook" type="url" maxLength={2000} placeholder="https://" />
          </label>
          <label className={styles.check}>
            <input name="answers" type="checkbox" />
            <span>Write an answer for each alert, with the language model</span>
          </label>
        </div>
      </details>
      {error !== null && <Failed error={error} />}
      <div className={styles.buttons}>
        <Button type="submit" className="primary" isDisabled={isBusy}>
          {isBusy ? "Asking…" : "Add the watch"}
        </Button>
      </div>
    </form>
  );
}

/** What the fields of the form say. */
export function readWatch(fields: FormData): NewWatch {
  const text = (name: string) => String(fields.get(name) ?? "").trim();
  return {
    question: text("question"),
    name: text("name"),
    method: text("method"),
    passages: Number(text("passages")),
    answers: fields.has("answers"),
    webhook: text("webhook"),
  };
}
