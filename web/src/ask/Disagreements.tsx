// What sources disagree about, if the answer rests on one side: each value with its date and its documents.
import { Link } from "react-router";
import type { Schemas } from "../api/client";
import { entityPath } from "../entity/address";
import { documentPath } from "../reader/address";
import styles from "./AnswerPart.module.css";

interface Props {
  workspace: string;
  conflicts: Schemas["Conflict"][];
}

export function Disagreements({ workspace, conflicts }: Props) {
  if (conflicts.length === 0) return null;
  return (
    <ul className={styles.reasons} aria-label="What sources disagree about">
      {conflicts.map((one) => (
        <li key={`${one.subject} ${one.relation}`} className={styles.reason}>
          <strong>Sources disagree</strong> about {one.relation}{" "}
          <Link to={entityPath(workspace, one.subject)}>{one.name}</Link>
          {one.status === "may have changed" && ", which may have changed"}:
          <ul>
            {one.sides.map((side) => (
              <li key={side.entity}>
                <Link to={entityPath(workspace, side.entity)}>{side.name}</Link> (
                {side.date ? <time dateTime={side.date}>{side.date.slice(0, 10)}</time> : "no date"}
                {side.entity === one.newest && ", newest"}){" "}
                {side.statements.map((said) => (
                  <Link
                    key={said.chunk}
                    to={documentPath(
                      workspace,
                      said.uri,
                      said.text_start,
                      said.text_start + [...said.text].length,
                    )}
                  >
                    {said.title || said.uri}{" "}
                  </Link>
                ))}
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}
