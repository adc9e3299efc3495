// All workspaces that the caller may use, with their sizes.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "react-aria-components";
import { Link, Navigate, useNavigate, useSearchParams } from "react-router";
import { api, dataOf } from "../api/client";
import { me as meQuery, workspace as workspaceQuery, workspaces as workspacesQuery } from "../api/queries";
import { StatusLine } from "../shell/StatusLine";
import { useTitle } from "../shell/useTitle";
import { viewPath } from "../shell/views";
import { Empty, Failed, Loading } from "../ui/States";
import styles from "./WorkspacesPage.module.css";

export function WorkspacesPage() {
  const found = useQuery(workspacesQuery);
  const { data: caller } = useQuery(meQuery);
  const mayCreate = caller?.scope === "admin" && caller.all_workspaces;
  useTitle("Workspaces");
  return (
    <>
      <h1 tabIndex={-1} className={styles.title}>
        Workspaces
      </h1>
      {found.isPending && <Loading what="the workspaces" />}
      {found.isError && <Failed error={found.error} again={() => found.refetch()} />}
      {found.data?.length === 0 && caller && !mayCreate && (
        <Empty title="There is no workspace that you may use">
          <p>
            Ask the server's administrator to create one with <code>trueweave init</code>, or for access to
            one.
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
      {found.data && mayCreate && <NewWorkspace isFirst={found.data.length === 0} />}
    </>
  );
}

/** Creates a workspace, and goes on to adding documents. */
function NewWorkspace({ isFirst }: { isFirst: boolean }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState(isFirst ? "default" : "");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const create = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const made = await dataOf(api.POST("/v1/workspaces", { body: { name: name.trim() } }));
      // In this order: this page leads to the only workspace itself.
      await navigate(viewPath(made.name, "documents"));
      await queries.invalidateQueries({ queryKey: workspacesQuery.queryKey });
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <form className={`card ${styles.form}`} onSubmit={create}>
      <h2>{isFirst ? "Create your first workspace" : "Create a workspace"}</h2>
      <p className="muted">A workspace has its own documents, and questions are answered from them alone.</p>
      <label htmlFor="workspace">Name</label>
      <input
        id="workspace"
        required
        maxLength={100}
        pattern="\s*[A-Za-z0-9][A-Za-z0-9._\-]*\s*"
        title="Letters, digits, dots, hyphens and underscores; the first is a letter or a digit"
        spellCheck={false}
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      {error !== null && <Failed error={error} />}
      <Button type="submit" className={isFirst ? "primary" : ""} isDisabled={busy}>
        Create
      </Button>
    </form>
  );
}

/** The first page: the only workspace there is, or else all of them; with `?all`, all in any case. */
export function StartPage() {
  const [params] = useSearchParams();
  const { data } = useQuery(workspacesQuery);
  const only = data?.length === 1 && !params.has("all") ? data[0] : undefined;
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
