// Corrects an entity or a relation. Each correction becomes a rule, which also applies to documents added later.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "react-aria-components";
import { Link } from "react-router";
import { me as meQuery } from "../api/queries";
import { viewPath } from "../shell/views";
import { Popup } from "../ui/Popup";
import { Failed, Loading } from "../ui/States";
import { useAfterPause } from "../ui/useAfterPause";
import { writeAddress } from "./address";
import { PreviewText } from "./PreviewText";
import { makeRule, type NameKey, nameBody, previewQuery, type RuleDraft } from "./queries";
import styles from "./ReviewPage.module.css";

type Kind = "rename" | "retype" | "describe" | "suppress";

interface Corrected {
  name: string;
  type: string;
  description: string;
}

interface Props {
  workspace: string;
  what: "entity" | "relation";
  now: Corrected;
  /** The name that the rule is about and, for a relation, that of its target. */
  findNames: () => Promise<[NameKey, NameKey?]>;
}

/** A button that opens the dialog; not shown to those who may only read. */
export function Correct(props: Props) {
  const [open, setOpen] = useState(false);
  const { data: caller } = useQuery(meQuery);
  if (!caller || caller.scope === "read") return null;
  return (
    <>
      <Button className="quiet" onPress={() => setOpen(true)}>
        Correct
      </Button>
      <Popup title={`Correct this ${props.what}`} open={open} onClose={() => setOpen(false)}>
        <Form {...props} onDone={() => setOpen(false)} />
      </Popup>
    </>
  );
}

const LABELS: Record<Kind, string> = {
  rename: "Name",
  retype: "Type",
  describe: "Description",
  suppress: "Remove it",
};

function Form({ workspace, what, now, findNames, onDone }: Props & { onDone: () => void }) {
  const queries = useQueryClient();
  const kinds: Kind[] =
    what === "entity" ? ["rename", "retype", "describe", "suppress"] : ["retype", "describe", "suppress"];
  const [kind, setKind] = useState<Kind>(kinds[0] as Kind);
  const [labels, setLabels] = useState<Record<Kind, string>>({
    rename: now.name,
    retype: now.type,
    describe: now.description,
    suppress: "",
  });
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const names = useQuery({
    queryKey: ["names of rule", workspace, what, now.name, now.type],
    queryFn: findNames,
    retry: false,
    staleTime: 0,
  });
  const label = labels[kind].trim();
  const isChanged = kind === "suppress" || (label !== "" && label !== before(kind, now));
  const sought = useAfterPause(label);
  const draftOf = (text: string): RuleDraft | null =>
    names.data
      ? {
          kind,
          names: [nameBody(names.data[0])],
          label: text,
          ...(names.data[1] ? { target: nameBody(names.data[1]) } : {}),
        }
      : null;
  const previewed = draftOf(sought);
  const preview = useQuery({
    ...previewQuery(workspace, previewed ?? { kind, names: [], label: "" }),
    enabled: previewed !== null && isChanged && (sought !== "" || kind === "suppress"),
  });
  const make = async (event: FormEvent) => {
    event.preventDefault();
    const draft = draftOf(label);
    if (!draft || !isChanged) return;
    setBusy(true);
    setFailure(null);
    try {
      await makeRule(workspace, draft);
      for (const key of ["entity", "relation", "rules", "workspace"])
        queries.invalidateQueries({ queryKey: [key, workspace] });
      onDone();
    } catch (error) {
      setFailure(error);
      setBusy(false);
    }
  };
  const change = (text: string) => setLabels({ ...labels, [kind]: text });
  return (
    <form className={styles.correct} onSubmit={make}>
      <fieldset>
        <legend>What is wrong?</legend>
        {kinds.map((one) => (
          <label key={one}>
            <input type="radio" name="kind" checked={kind === one} onChange={() => setKind(one)} />{" "}
            {LABELS[one]}
          </label>
        ))}
      </fieldset>
      {kind === "describe" && (
        <textarea
          rows={4}
          aria-label="Right description"
          value={labels.describe}
          onChange={(event) => change(event.target.value)}
        />
      )}
      {(kind === "rename" || kind === "retype") && (
        <input
          aria-label={kind === "rename" ? "Right name" : "Right type"}
          value={labels[kind]}
          onChange={(event) => change(event.target.value)}
        />
      )}
      {names.isError && <Failed error={names.error} />}
      {isChanged && (
        <section aria-label="What this would change">
          <h2>What this would change</h2>
          {preview.isFetching && !preview.data && <Loading what="what would change" lines={2} />}
          {preview.isError && <Failed error={preview.error} />}
          {preview.data && <PreviewText preview={preview.data} />}
        </section>
      )}
      <p className="muted">
        It becomes a rule, which also applies to documents added later, and can be undone under{" "}
        <Link
          to={`${viewPath(workspace, "review")}?${writeAddress({ part: "rules", least: null, type: "" })}`}
        >
          Rules
        </Link>
        .
      </p>
      {failure !== null && <Failed error={failure} />}
      <div className={styles.buttons}>
        <Button type="submit" className="primary" isDisabled={!isChanged || !names.data || busy}>
          {kind === "suppress" ? "Remove it" : "Correct it"}
        </Button>
        <Button onPress={onDone}>Cancel</Button>
      </div>
    </form>
  );
}

const before = (kind: Kind, now: Corrected): string =>
  kind === "rename" ? now.name : kind === "retype" ? now.type : kind === "describe" ? now.description : "";
