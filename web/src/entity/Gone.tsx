import { Button } from "react-aria-components";
import { Link } from "react-router";
import { FilterBar } from "../ask/FilterBar";
import { useFilter } from "../ask/useFilter";
import { useTitle } from "../shell/useTitle";
import { viewPath } from "../shell/views";
import { Empty } from "../ui/States";

interface Props {
  workspace: string;
  what: "entity" | "relation";
}

/** Shown for an address of something that was merged into something else, or removed with its documents; or that no
 * document mentions which passes the filter. */
export function Gone({ workspace, what }: Props) {
  const passing = useFilter();
  const title = passing.text
    ? `No document that passes the filter ${what === "entity" ? "mentions this entity" : "states this relation"}`
    : `This ${what} no longer exists`;
  useTitle(title, workspace);
  if (passing.text)
    return (
      <>
        <h1 tabIndex={-1} className="visually-hidden">
          {title}
        </h1>
        <FilterBar passing={passing} />
        <Empty title={title}>
          <Button onPress={() => passing.change({})}>Show all documents</Button>
        </Empty>
      </>
    );
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
