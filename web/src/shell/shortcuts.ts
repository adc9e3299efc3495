// Keyboard shortcuts. A shortcut is one key, or two in a row ("g a"), or a key with Control ("ctrl+k").
import { useEffect, useLayoutEffect, useRef } from "react";
import { singleKeys } from "./preferences";

export type Shortcuts = Record<string, (event: KeyboardEvent) => void>;

const PAUSE = 1000; // milliseconds after which the first of two keys is forgotten

/** The name of a pressed key: "ctrl+k" with Control or Command, otherwise the key itself. */
export function keyOf(event: KeyboardEvent): string {
  return event.ctrlKey || event.metaKey ? `ctrl+${event.key.toLowerCase()}` : event.key;
}

/** Whether keys belong to what has the focus: a field, or a dialog. */
export function isTaken(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  return (
    target.closest(
      "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], [role=dialog], [role=menu], [role=listbox]",
    ) !== null
  );
}

/** Runs the shortcuts while the component is shown. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const current = useRef(shortcuts);
  // With the page itself, and not some time later: the next key may come at once.
  useLayoutEffect(() => {
    current.current = shortcuts;
  });
  useEffect(() => {
    let before = "";
    let since = 0;
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented) before = ""; // another component has used it
      if (event.defaultPrevented || event.altKey) return;
      const key = keyOf(event);
      const single = !key.startsWith("ctrl+");
      if (single && (isTaken(event.target) || (key.length === 1 && !singleKeys()))) return;
      const pair = before && event.timeStamp - since < PAUSE ? `${before} ${key}` : "";
      // After `g`, a key belongs to the pair, which another component may have.
      const act = current.current[pair] ?? (pair.startsWith("g ") ? undefined : current.current[key]);
      before = pair.startsWith("g ") || (pair && act) ? "" : single ? key : "";
      since = event.timeStamp;
      if (!act) return;
      event.preventDefault();
      act(event);
    };
    globalThis.document.addEventListener("keydown", pressed);
    return () => globalThis.document.removeEventListener("keydown", pressed);
  }, []);
}
