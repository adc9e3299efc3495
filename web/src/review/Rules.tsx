import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "react-aria-components";
import { counted, shortened } from "../text/words";
import { Empty, Failed, Loading } from "../ui/States";
import { type NameKey, type Rule, rulesQuery, undoRule } from "./queries";
import styles from "./ReviewPage.module.css";

const WHEN = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const NAME = 120; // characters
const LABEL = 300;

/** The rules, the latest first, with who made them and when. */
export function Rules({ workspace, mayWrite }: { workspace: string; mayWrite: boolean }) {
  const queries = useQueryClient();
  const found = useQuery(rulesQuery(workspace));
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState("");
  const undo = async (rule: Rule) => {
    setFailure(null);
    setBusy(rule.id);
    try {
      await undoRule(workspace, rule.id);
    } catch (error) {
      setFailure(error);
    }
    setBusy("");
    for (const key of ["rules", "suggestions to review", "entity", "relation", "rule preview", "workspace"])
      queries.invalidateQueries({ queryKey: [key, workspace] });
  };
  if (found.isPending) return <Loading what="the rules" />;
  if (found.isError) return <Failed error={found.error} again={() => found.refetch()} />;
  const { rules, isAll } = found.data;
  return (
    <>
      {failure !== null && <Failed error={failure} />}
      {rules.length === 0 ? (
        <Empty title="There are no rules">
          <p>Every merge and every correction becomes a rule, which also applies to documents added later.</p>
        </Empty>
      ) : (
        <>
          <p className="muted">
            {counted(rules.length, "rule")}
            {!isAll && "; more are listed by `trueweave rules list`"}
          </p>
          <ul className={styles.list} aria-label="Rules">
            {rules.map((rule) => (
              <li key={rule.id}>
                <span>
                  <RuleText rule={rule} />
                  <span className={styles.made}>
                    {rule.by ? <bdi>{shortened(rule.by, NAME)}</bdi> : "author not known"}
                    {rule.made && (
                      <>
                        {" · "}
                        <time dateTime={rule.made}>{WHEN.format(new Date(rule.made))}</time>
                      </>
                    )}
                  </span>
                </span>
                {mayWrite && (
                  <Button isDisabled={busy === rule.id} onPress={() => undo(rule)}>
                    Undo
                  </Button>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

const NameText = ({ name }: { name: NameKey }) => (
  <>
    <strong>
      <bdi>{shortened(name.name, NAME)}</bdi>
    </strong>
    {name.type && <span className="muted"> {shortened(name.type, NAME)}</span>}
  </>
);

function Names({ names }: { names: NameKey[] }) {
  return names.map((name, at) => (
    <span key={`${name.name} ${name.type}`}>
      {at > 0 && (at === names.length - 1 ? " and " : ", ")}
      <NameText name={name} />
    </span>
  ));
}

/** A rule as a sentence. */
function RuleText({ rule }: { rule: Rule }) {
  const { kind, names, label, target } = rule;
  const of = (
    <>
      <Names names={names} />
      {target && (
        <>
          {" → "}
          <NameText name={target} />
        </>
      )}
    </>
  );
  const said = <bdi>{shortened(label, LABEL)}</bdi>;
  switch (kind) {
    case "merge":
      return <span>{of} are one entity</span>;
    case "split":
      return <span>{of}: an entity apart from all others</span>;
    case "rename":
      return (
        <span>
          {of} is called {said}
        </span>
      );
    case "retype":
      return (
        <span>
          {of} has the type {said}
        </span>
      );
    case "describe":
      return (
        <span>
          {of} is described as: {said}
        </span>
      );
    case "suppress":
      return <span>{of} is removed</span>;
    case "add":
      return <span>Added: {said}</span>;
  }
}
