// The Settings view: settings of the workspace, types, models, spending, keys, and what the caller may do.
import { useQuery } from "@tanstack/react-query";
import { Link, NavLink, useParams } from "react-router";
import type { Schemas } from "../api/client";
import { me as meQuery } from "../api/queries";
import { useTitle } from "../shell/useTitle";
import { viewPath } from "../shell/views";
import { Empty, Failed, Loading } from "../ui/States";
import { AccessPart } from "./AccessPart";
import { BudgetPart } from "./BudgetPart";
import { KeysPart } from "./KeysPart";
import { ModelsPart } from "./ModelsPart";
import styles from "./Settings.module.css";
import { TypesPart } from "./TypesPart";
import { WorkspacePart } from "./WorkspacePart";

type Scope = Schemas["MeBody"]["scope"];

interface Part {
  path: string;
  name: string;
  /** The scope that it takes. */
  scope: Scope;
  Contents: (props: { workspace: string; me: Schemas["MeBody"] }) => React.ReactNode;
}

const PARTS: Part[] = [
  { path: "workspace", name: "Workspace", scope: "admin", Contents: WorkspacePart },
  { path: "types", name: "Types", scope: "admin", Contents: TypesPart },
  { path: "models", name: "Models", scope: "read", Contents: ModelsPart },
  { path: "budget", name: "Budget", scope: "read", Contents: BudgetPart },
  { path: "keys", name: "Keys", scope: "admin", Contents: KeysPart },
  { path: "access", name: "Access", scope: "read", Contents: AccessPart },
];
const SCOPES: Scope[] = ["read", "write", "admin"];

const may = (has: Scope, needs: Scope): boolean => SCOPES.indexOf(has) >= SCOPES.indexOf(needs);

export function SettingsPage() {
  const { ws = "", part } = useParams();
  const { data: me, ...query } = useQuery(meQuery);
  const shown = PARTS.filter((one) => me && may(me.scope, one.scope));
  const chosen = part === undefined ? shown[0] : PARTS.find((one) => one.path === part);
  useTitle(chosen ? `${chosen.name} settings` : "Settings", ws);
  if (query.isError) return <Failed error={query.error} again={() => query.refetch()} />;
  if (!me) return <Loading what="the settings" />;
  const first = shown[0];
  return (
    <div className={styles.page}>
      <h1 tabIndex={-1}>Settings</h1>
      <div className={styles.columns}>
        <nav aria-label="Settings" className={styles.parts}>
          {shown.map((one) => (
            <NavLink
              key={one.path}
              to={viewPath(ws, `settings/${one.path}`)}
              className={one === chosen ? (styles.chosen ?? "") : ""}
            >
              {one.name}
            </NavLink>
          ))}
        </nav>
        <section key={`${ws} ${chosen?.path}`} className={styles.contents}>
          {chosen && may(me.scope, chosen.scope) ? (
            <>
              <h2 className={styles.heading}>{chosen.name}</h2>
              <chosen.Contents workspace={ws} me={me} />
            </>
          ) : chosen ? (
            <Empty title={`${chosen.name} needs the scope ${chosen.scope}`}>
              <p>
                Your key has the scope {me.scope}. Log in with another key, or ask the server's administrator
                for one.
              </p>
            </Empty>
          ) : (
            <Empty title="There are no such settings">
              {first && <Link to={viewPath(ws, `settings/${first.path}`)}>Show {first.name}</Link>}
            </Empty>
          )}
        </section>
      </div>
    </div>
  );
}
