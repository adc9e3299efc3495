import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "react-aria-components";
import { quoted } from "../ask/forms";
import { ParameterFields } from "../ask/ParameterFields";
import { SameAs } from "../ui/SameAs";
import { Failed, Loading } from "../ui/States";
import styles from "./Settings.module.css";
import {
  change,
  changes,
  type SettingsBody,
  settings as settingsQuery,
  simple,
  type Values,
} from "./settings";

/** The settings of the workspace that fit into one field each. Without a value of its own, the server's applies. */
export function WorkspacePart({ workspace }: { workspace: string }) {
  const found = useQuery(settingsQuery(workspace));
  if (found.isError) return <Failed error={found.error} again={() => found.refetch()} />;
  if (!found.data) return <Loading what="the settings" lines={10} />;
  return <Form workspace={workspace} found={found.data} />;
}

function Form({ workspace, found }: { workspace: string; found: SettingsBody }) {
  const queries = useQueryClient();
  const [before, setBefore] = useState(found.own as Values);
  const [values, setValues] = useState(before);
  const [error, setError] = useState<unknown>(null);
  const [said, setSaid] = useState("");
  const body = changes(before, values);
  const isChanged = Object.keys(body).length > 0;
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setError(null);
    setSaid("");
    try {
      const now = await change(workspace, body);
      queries.setQueryData(settingsQuery(workspace).queryKey, now);
      for (const name of ["workspace", "methods"]) queries.invalidateQueries({ queryKey: [name, workspace] });
      setBefore(now.own as Values);
      setValues(now.own as Values);
      setSaid(
        "Saved. Other servers and workers follow within a minute; existing documents stay as they are.",
      );
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <form onSubmit={save} className={styles.form}>
      <p>
        These settings hold for this workspace alone. Fields show the value in force; one that equals the
        value of the server is not stored.
      </p>
      <ParameterFields schema={simple(found)} values={values} onChange={setValues} />
      {error !== null && <Failed error={error} />}
      <p role="status" className={said ? styles.said : "visually-hidden"}>
        {said}
      </p>
      <div className={styles.buttons}>
        <Button type="submit" className={isChanged ? "primary" : ""} isDisabled={!isChanged}>
          Save
        </Button>
        <Button onPress={() => setValues(before)} isDisabled={!isChanged}>
          Discard changes
        </Button>
        <SameAs
          command={`trueweave workspace settings --workspace ${quoted(workspace)}`}
          request={`PATCH /v1/workspaces/${workspace}/settings`}
          body={body}
        />
      </div>
    </form>
  );
}
