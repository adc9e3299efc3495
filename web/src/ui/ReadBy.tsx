import { Lock } from "lucide-react";
import styles from "./ReadBy.module.css";

/** Who can read a document. Nothing, if everybody can. */
export function ReadBy({ groups }: { groups: readonly string[] }) {
  if (groups.length === 0) return null;
  return (
    <span className={styles.tag}>
      <Lock size={12} aria-hidden="true" /> read by <bdi>{groups.join(", ")}</bdi>
    </span>
  );
}
