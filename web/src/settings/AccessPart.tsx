import type { Schemas } from "../api/client";
import { money, number } from "../text/words";
import { SameAs } from "../ui/SameAs";
import { readsAs } from "./KeysPart";
import styles from "./Settings.module.css";
import { Table } from "./TypesPart";

const BY: Record<Schemas["MeBody"]["identified_by"], string> = {
  key: "a key",
  token: "a token of the identity provider",
  session: "a session of this browser",
  nothing: "nothing: the server runs without authentication",
};
const ALLOWED: [string, boolean, boolean, boolean][] = [
  ["Ask, compare, read documents, graph, communities and spending", true, true, true],
  ["Add, delete and retry documents", false, true, true],
  ["Correct names and relations, decide on suggestions", false, true, true],
  ["Find communities, write reports, try types", false, true, true],
  ["Settings and budget of the workspace", false, false, true],
  ["Make and revoke keys", false, false, true],
  ["Create and drop workspaces, run the checks (a key for all workspaces)", false, false, true],
];

/** Who the caller is, and what each scope allows. */
export function AccessPart({ me }: { me: Schemas["MeBody"] }) {
  const { name, scope, identified_by, all_workspaces, max_tokens_per_day, max_spend_per_day } = me;
  const limits = [
    max_tokens_per_day !== null && `${number(me.tokens_today)} of ${number(max_tokens_per_day)} tokens today`,
    max_spend_per_day !== null && `${money(me.spend_today)} of ${money(max_spend_per_day)} today`,
  ].filter(Boolean);
  return (
    <>
      <dl className={styles.facts}>
        <div>
          <dt>you are</dt>
          <dd>
            <bdi>{name || "anybody"}</bdi>
          </dd>
        </div>
        <div>
          <dt>identified by</dt>
          <dd>{BY[identified_by]}</dd>
        </div>
        <div>
          <dt>scope</dt>
          <dd>
            {scope}, for {all_workspaces ? "all workspaces" : "some workspaces"}
          </dd>
        </div>
        <div>
          <dt>reads as</dt>
          <dd>
            <bdi>{readsAs(me.groups)}</bdi>
          </dd>
        </div>
        <div>
          <dt>limits on models</dt>
          <dd>{limits.length > 0 ? limits.join(", ") : "none"}</dd>
        </div>
      </dl>
      <Table
        title="What each scope allows"
        heads={["Action", "read", "write", "admin"]}
        rows={ALLOWED.map(([what, ...by]) => [what, ...by.map((is) => (is ? "yes" : "no"))])}
      />
      <div className={styles.buttons}>
        <SameAs
          command={{ none: "The command line works on the database itself, without keys." }}
          request="GET /v1/me"
        />
      </div>
    </>
  );
}
