import { isRouteErrorResponse, Link, useRouteError } from "react-router";
import { Failed } from "../ui/States";

/** What is shown for an address that no view has, and when a view itself fails. */
export function ErrorPage() {
  const error = useRouteError();
  if (error && !(isRouteErrorResponse(error) && error.status === 404)) return <Failed error={error} />;
  return <NotFound />;
}

export function NotFound() {
  return (
    <>
      <h1 tabIndex={-1}>There is no such page</h1>
      <p>
        <Link to="/">Go to the workspaces</Link>
      </p>
    </>
  );
}
