import { Link } from "react-router";
import { viewPath } from "../shell/views";
import { Empty } from "./States";

/** What a view shows in a workspace without documents. */
export function NoDocuments({ workspace }: { workspace: string }) {
  return (
    <Empty title="There are no documents here yet">
      <p>
        <Link to={viewPath(workspace, "documents")}>Add some</Link>, or use{" "}
        <code>trueweave add PATH --workspace {workspace}</code>
      </p>
    </Empty>
  );
}
