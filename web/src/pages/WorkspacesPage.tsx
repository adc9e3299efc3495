// All workspaces that the caller may use, with their sizes.
import { useQuery } from "@tanstack/react-query";
import { Link, Navigate } from "react-router";
import { workspace as workspaceQuery, workspaces as workspacesQuery } from "../api/queries";
import { StatusLine } from "../shell/StatusLine";
import { useTitle } from "../shell/useTitle";
import { viewPath } from "../shell/views";
import { Empty, Failed, Loading } from "../ui/States";
import styles from "./WorkspacesPage.module.css";

export function WorkspacesPage() {
  const found = useQuery(workspacesQuery);
  useTitle("Workspaces");
  return (
    <>
      <h1 tabIndex={-1} className={styles.title}>
        Workspaces
      </h1>
      {found.isPending && <Loading what="the workspaces" />}
      {found.isError && <Failed error={found.error} again={() => found.refetch()} />}
      {found.data?.length === 0 && (
        <Empty title="There is no workspace that you may use">
          <p>
            Create one with <code>trueweave init</code>, or ask whoever runs the server for access to one.
          </p>
        </Empty>
      )}
      {found.data && found.data.length > 0 && (
        <ul className={styles.list}>
          {found.data.map((one) => (
            <li key={one.name} className="card">
              <Link to={viewPath(one.name, "ask")}>{one.name}</Link>
              <Size name={one.name} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** The first page: the workspaces; or the only one there is. */
export function StartPage() {
  const { data } = useQuery(workspacesQuery);
  const only = data?.length === 1 ? data[0] : undefined;
  return only ? <Navigate to={viewPath(only.name, "ask")} replace /> : <WorkspacesPage />;
}

function Size({ name }: { name: string }) {
  const { data, isError } = useQuery(workspaceQuery(name));
  return (
    <p className={styles.size}>
      {data && <StatusLine status={data.status} />}
      {isError && "Its size could not be read."}
    </p>
  );
}
