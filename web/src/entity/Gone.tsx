import { Link } from "react-router";
import { useTitle } from "../shell/useTitle";
import { viewPath } from "../shell/views";
import { Empty } from "../ui/States";

/** Shown for an address of something that was merged into something else, or removed with its documents. */
export function Gone({ workspace, what }: { workspace: string; what: "entity" | "relation" }) {
  const title = `This ${what} no longer exists`;
  useTitle(title, workspace);
  return (
    <>
      <h1 tabIndex={-1} className="visually-hidden">
        {title}
      </h1>
      <Empty title={title}>
        <p>
          {what === "entity"
            ? "It was merged into another entity, or removed, or no document mentions it any more."
            : "One of its entities was merged or split, or it was removed, or no document states it any more."}
        </p>
        <p>
          Press <kbd>Ctrl K</kbd> and type a name to find an entity, or see{" "}
          <Link to={viewPath(workspace, "documents")}>all documents</Link>.
        </p>
      </Empty>
    </>
  );
}
