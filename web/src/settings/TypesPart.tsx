import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "react-aria-components";
import { api, dataOf, type Schemas } from "../api/client";
import { counted, money, number } from "../text/words";
import { SameAs } from "../ui/SameAs";
import { Failed, Loading } from "../ui/States";
import { Toggle } from "../ui/Toggle";
import { FunctionalRelations } from "./FunctionalRelations";
import styles from "./Settings.module.css";
import {
  asFunctional,
  asLines,
  asRows,
  asTypes,
  change,
  changes,
  type SettingsBody,
  settings as settingsQuery,
  type Types,
  type Uniqueness,
} from "./settings";

type Trial = Schemas["TrialBody"];

/** The types of entities and relations that a model looks for, and a trial of them on a text. */
export function TypesPart({ workspace }: { workspace: string }) {
  const found = useQuery(settingsQuery(workspace));
  if (found.isError) return <Failed error={found.error} again={() => found.refetch()} />;
  if (!found.data) return <Loading what="the types" lines={8} />;
  return <Form workspace={workspace} found={found.data} />;
}

function Form({ workspace, found }: { workspace: string; found: SettingsBody }) {
  const queries = useQueryClient();
  const { in_force } = found;
  const [entities, setEntities] = useState(asLines((in_force.entity_types ?? {}) as Types));
  const [relations, setRelations] = useState(asLines((in_force.relation_types ?? {}) as Types));
  const [isStrict, setStrict] = useState(in_force.strict_schema === true);
  const functional = (in_force.functional_relations ?? {}) as Record<string, Uniqueness>;
  const [rows, setRows] = useState(asRows(functional));
  const [error, setError] = useState<unknown>(null);
  const [said, setSaid] = useState("");
  const types = {
    entity_types: asTypes(entities),
    relation_types: asTypes(relations),
    strict_schema: isStrict,
  };
  const body = { ...types, functional_relations: asFunctional(rows) };
  const before = {
    entity_types: (in_force.entity_types ?? {}) as Types,
    relation_types: (in_force.relation_types ?? {}) as Types,
    strict_schema: in_force.strict_schema === true,
    functional_relations: functional,
  };
  const changed = changes(before, body); // what somebody else changes meanwhile stays
  const isSame = Object.keys(changed).length === 0;
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setError(null);
    setSaid("");
    try {
      queries.setQueryData(settingsQuery(workspace).queryKey, await change(workspace, changed));
      setSaid(
        Object.keys(changed).every((name) => name === "functional_relations")
          ? "Saved. Conflicts are found with these relations."
          : "Saved. Documents that are added from now on are read with these types; existing ones stay as they are.",
      );
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <>
      <form onSubmit={save} className={styles.form}>
        <p>
          A language model is told these types when it reads documents. One type a line, with a description if
          you like: <code>ship: a vessel with a name</code>. Without any, the model chooses.
        </p>
        <div className={styles.pair}>
          <TypesField label="Entity types" value={entities} onChange={setEntities} />
          <TypesField label="Relation types" value={relations} onChange={setRelations} />
        </div>
        <Toggle on={isStrict} onChange={setStrict}>
          Leave out what fits none of these types
        </Toggle>
        <FunctionalRelations rows={rows} onChange={setRows} />
        {error !== null && <Failed error={error} />}
        <p role="status" className={said ? styles.said : "visually-hidden"}>
          {said}
        </p>
        <div className={styles.buttons}>
          <Button type="submit" className={isSame ? "" : "primary"} isDisabled={isSame}>
            Save
          </Button>
          <SameAs
            command={{
              none: "The command line reads them from trueweave.toml: entity_types, relation_types and functional_relations.",
            }}
            request={`PATCH /v1/workspaces/${workspace}/settings`}
            body={changed}
          />
        </div>
      </form>
      <Try workspace={workspace} settings={types} />
    </>
  );
}

interface FieldProps {
  label: string;
  value: string;
  onChange: (to: string) => void;
}

function TypesField({ label, value, onChange }: FieldProps) {
  return (
    <label className={styles.lines}>
      <span>{label}</span>
      <textarea
        rows={8}
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}

/** Extracts from a text with the types as they are in the fields, saved or not. */
function Try({ workspace, settings }: { workspace: string; settings: Schemas["TenantSettings"] }) {
  const params = { path: { workspace } };
  const [text, setText] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [trial, setTrial] = useState<Trial | null>(null);
  const example = async () => {
    setError(null);
    try {
      const listed = await dataOf(
        api.GET("/v1/workspaces/{workspace}/documents", { params: { ...params, query: { limit: 1 } } }),
      );
      const first = listed.items[0];
      if (!first) return setError(new Error("there are no documents here yet; paste a text instead"));
      const query = { uri: first.uri, limit: 1 };
      const { spans } = await dataOf(
        api.GET("/v1/workspaces/{workspace}/document", { params: { ...params, query } }),
      );
      setText(spans[0]?.text ?? "");
    } catch (problem) {
      setError(problem);
    }
  };
  const run = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      setTrial(
        await dataOf(
          api.POST("/v1/workspaces/{workspace}/try-extract", { params, body: { text, settings } }),
        ),
      );
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  return (
    <form onSubmit={run} className={styles.form} aria-label="Try the types">
      <h3>Try them on a text</h3>
      <p className="muted">
        The first chunk of the text is read with the types above. Nothing is stored but the model's reply,
        which is paid for once.
      </p>
      <label className={styles.lines}>
        <span>Text</span>
        <textarea
          rows={6}
          required
          maxLength={20_000}
          value={text}
          dir="auto"
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <div className={styles.buttons}>
        <Button type="submit" isDisabled={isBusy || !text.trim()}>
          {isBusy ? "Reading…" : "Try"}
        </Button>
        <Button className="quiet" onPress={example}>
          Use the beginning of a document
        </Button>
      </div>
      {error !== null && <Failed error={error} />}
      {trial && <Result trial={trial} />}
    </form>
  );
}

function Result({ trial }: { trial: Trial }) {
  const {
    entities,
    relations,
    left_out,
    notes,
    problem,
    extractor,
    calls,
    tokens_in,
    tokens_out,
    price,
    currency,
  } = trial;
  return (
    <div className={styles.trial} role="status">
      <p>
        {counted(entities.length, "entity", "entities")} and {counted(relations.length, "relation")} found by{" "}
        <code>{extractor}</code>
        {calls > 0
          ? `: ${counted(calls, "call")}, ${number(tokens_in)} tokens in, ${number(tokens_out)} out, ${money(price, currency)}.`
          : ", without a call to a model."}
      </p>
      {problem && <p className={styles.note}>{problem}</p>}
      {notes.map((note) => (
        <p key={note} className={styles.note}>
          {note}
        </p>
      ))}
      {entities.length > 0 && (
        <Table
          title="Entities"
          heads={["Name", "Type", "Description"]}
          rows={entities.map((one) => [one.name, one.type, one.description])}
        />
      )}
      {relations.length > 0 && (
        <Table
          title="Relations"
          heads={["From", "To", "Keywords", "Description"]}
          rows={relations.map((one) => [one.source, one.target, one.keywords.join(", "), one.description])}
        />
      )}
      {left_out.length > 0 && (
        <Table
          title="Left out"
          heads={["", "What", "Why"]}
          rows={left_out.map((one) => [one.kind, one.what, one.why])}
        />
      )}
    </div>
  );
}

export function Table({ title, heads, rows }: { title: string; heads: string[]; rows: React.ReactNode[][] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={styles.scroll} tabIndex={0} aria-label={title}>
      <table className={styles.table}>
        <caption>{title}</caption>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head || <span className="visually-hidden">Kind</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={heads[column]} dir="auto">
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
