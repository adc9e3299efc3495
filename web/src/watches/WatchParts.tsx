import { Link } from "react-router";
import { viewPath } from "../shell/views";
import { alertsPath } from "./address";
import styles from "./Watches.module.css";

interface Props {
  workspace: string;
  part: "watches" | "alerts";
}

/** The links between the list of watches and that of alerts. */
export function WatchParts({ workspace, part }: Props) {
  return (
    <nav aria-label="Parts of the watches" className={styles.parts}>
      <Link to={viewPath(workspace, "watches")} aria-current={part === "watches" ? "page" : undefined}>
        Questions
      </Link>
      <Link to={alertsPath(workspace)} aria-current={part === "alerts" ? "page" : undefined}>
        Alerts
      </Link>
    </nav>
  );
}
