import { useRef } from "react";
import type { Heard } from "../api/activity";
import { useLasting, WAITS_FOR } from "../documents/ActivityLine";
import { counted } from "../text/words";
import styles from "./Communities.module.css";

/** How many reports workers still have to write, and what they wait for; nothing if there are none. */
export function Progress({ heard }: { heard: Heard }) {
  const { activity } = heard;
  const left = activity?.reports ?? 0;
  const most = useRef(0);
  most.current = left === 0 ? 0 : Math.max(most.current, left);
  const lasting = useLasting(activity && left > 0 ? activity.waits_for : "");
  if (left === 0) return null;
  return (
    <section className={`card ${styles.progress}`} aria-label="Progress">
      <progress value={most.current - left} max={most.current} aria-label="Reports written" />
      <p role="status">{counted(left, "report")} to be written</p>
      {lasting && <p className={styles.waits}>{WAITS_FOR[lasting]}</p>}
    </section>
  );
}
