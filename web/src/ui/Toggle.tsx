import type { ReactNode } from "react";
import { Switch } from "react-aria-components";
import styles from "./Toggle.module.css";

interface Props {
  on: boolean;
  onChange: (on: boolean) => void;
  children: ReactNode;
}

/** A switch with its label. */
export function Toggle({ on, onChange, children }: Props) {
  return (
    <Switch className={styles.switch ?? ""} isSelected={on} onChange={onChange}>
      <span className={styles.track} aria-hidden="true" />
      {children}
    </Switch>
  );
}
