// A line above every view that says which time it shows, and lets the user choose another.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "react-aria-components";
import { showPast, usePast } from "../api/past";
import { history } from "../api/queries";
import { localTime } from "../text/times";
import styles from "./Shell.module.css";

const shown = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "short" });

/** `isOpen` says that the user wants to choose a time. */
export function PastBar({
  workspace,
  isOpen,
  close,
}: {
  workspace: string;
  isOpen: boolean;
  close: () => void;
}) {
  const at = usePast(workspace);
  const queries = useQueryClient();
  const show = (time: Date | null) => {
    showPast(workspace, time);
    close();
    void queries.resetQueries();
  };
  if (!at && !isOpen) return null;
  return (
    <section className={styles.past} aria-label="Time of the index">
      {at && (
        <p role="status">
          Shows the index as it was on <strong>{shown.format(new Date(at))}</strong>. Nothing can be changed
          here.
        </p>
      )}
      {isOpen && <Choice workspace={workspace} show={show} />}
      {at && <Button onPress={() => show(null)}>Back to now</Button>}
      {isOpen && !at && (
        <Button className="quiet" onPress={close}>
          Cancel
        </Button>
      )}
    </section>
  );
}

function Choice({ workspace, show }: { workspace: string; show: (time: Date) => void }) {
  const { data } = useQuery(history(workspace));
  const [time, setTime] = useState("");
  if (!data) return null;
  if (!data.settings)
    return (
      <p>
        This workspace keeps no history. <code>trueweave history keep</code> keeps it from then on.
      </p>
    );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    show(new Date(time));
  };
  return (
    <form onSubmit={submit}>
      <label>
        Show the index as it was on{" "}
        <input
          type="datetime-local"
          required
          step={1}
          min={localTime(data.settings.oldest)}
          max={localTime(new Date().toISOString())}
          value={time}
          onChange={(event) => setTime(event.target.value)}
        />
      </label>
      <Button type="submit">Show</Button>
      <span>History is kept since {shown.format(new Date(data.settings.oldest))}.</span>
    </form>
  );
}
