import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "react-aria-components";
import { api, dataOf, type Schemas } from "../api/client";
import { quoted } from "../ask/forms";
import { SameAs } from "../ui/SameAs";
import { Failed, Loading } from "../ui/States";
import styles from "./Settings.module.css";

const ROLES: Record<string, string> = {
  extract: "finds names and relations",
  keywords: "finds keywords of questions",
  answer: "writes answers",
  report: "writes reports on communities",
  judge: "checks answers",
};

/** The models in force, and checks of them. */
export function ModelsPart({ workspace, me }: { workspace: string; me: Schemas["MeBody"] }) {
  const params = { path: { workspace } };
  const found = useQuery({
    queryKey: ["models", workspace],
    queryFn: ({ signal }) => dataOf(api.GET("/v1/workspaces/{workspace}/models", { params, signal })),
  });
  if (found.isError) return <Failed error={found.error} again={() => found.refetch()} />;
  if (!found.data) return <Loading what="the models" />;
  const { chat, embedding, extractor } = found.data;
  return (
    <>
      <p>The server's administrator sets the models, in trueweave.toml or in its environment.</p>
      <dl className={styles.facts}>
        {Object.entries(ROLES).map(([role, does]) => (
          <div key={role}>
            <dt>{does}</dt>
            <dd>
              {chat[role as keyof typeof chat] ? (
                <code>{chat[role as keyof typeof chat]}</code>
              ) : (
                "no model is set"
              )}
            </dd>
          </div>
        ))}
        <div>
          <dt>computes vectors</dt>
          <dd>
            {embedding ? <code>{embedding}</code> : "no model is set: passages are found by words alone"}
          </dd>
        </div>
        <div>
          <dt>extractor</dt>
          <dd>
            <code>{extractor}</code>
          </dd>
        </div>
      </dl>
      {me.scope === "admin" && me.all_workspaces && <Checks workspace={workspace} />}
    </>
  );
}

function Checks({ workspace }: { workspace: string }) {
  const [checks, setChecks] = useState<Schemas["HealthCheck"][] | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      const params = { path: { workspace } };
      setChecks((await dataOf(api.GET("/v1/workspaces/{workspace}/checks", { params }))).checks);
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  const wrong = checks?.filter((one) => one.ok === false).length ?? 0;
  return (
    <>
      <h3>Checks</h3>
      <p className="muted">
        The language model answers one short question, and the embedding model embeds two words.
      </p>
      <div className={styles.buttons}>
        <Button onPress={run} isDisabled={isBusy}>
          {isBusy ? "Checking…" : "Run the checks"}
        </Button>
        <SameAs
          command={`trueweave doctor --workspace ${quoted(workspace)}`}
          request={`GET /v1/workspaces/${workspace}/checks`}
        />
      </div>
      {error !== null && <Failed error={error} again={run} />}
      {checks && (
        <>
          <p role="status" className={wrong ? styles.wrong : styles.said}>
            {wrong ? `${wrong === 1 ? "1 problem" : `${wrong} problems`} to fix.` : "Nothing is broken."}
          </p>
          <ul className={styles.checks}>
            {checks.map((one) => (
              <li key={one.what} data-ok={String(one.ok)}>
                <span className={styles.result}>
                  {one.ok === null ? "not known" : one.ok ? "good" : "to fix"}
                </span>
                <span>
                  {one.what}
                  {one.detail && <span className="muted"> {one.detail}</span>}
                  {one.fix && <span className={styles.fix}>{one.fix}</span>}
                  {one.limit && <span className={styles.fix}>{one.limit}</span>}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
