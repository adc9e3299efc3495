// The time that views show instead of the present. It belongs to a workspace, and lasts as long as the tab.
import { useSyncExternalStore } from "react";

const KEY = "trueweave.as-of";
const HEADER = "Trueweave-As-Of";
/** What is about the present alone: how much history there is, what is going on, and watches. */
const PRESENT = /^\/(history|activity|watches)\b/;
const listeners = new Set<() => void>();

interface Past {
  workspace: string;
  /** In UTC, as `Date.toISOString` writes it. */
  at: string;
}

function stored(): Past | null {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    return isPast(found) ? found : null;
  } catch {
    return null; // the browser stores nothing for this page, or something else wrote there
  }
}

function isPast(found: unknown): found is Past {
  return typeof found === "object" && found !== null && "workspace" in found && "at" in found;
}

let past = stored();

/** Shows a workspace as it was at a time, or as it is now. */
export function showPast(workspace: string, at: Date | null): void {
  past = at && { workspace, at: at.toISOString() };
  try {
    if (past) sessionStorage.setItem(KEY, JSON.stringify(past));
    else sessionStorage.removeItem(KEY);
  } catch {
    // The browser stores nothing for this page: the choice lasts until it is reloaded.
  }
  for (const listener of listeners) listener();
}

/** The headers of a request to a path of the server that say which time it is about. */
export function pastHeaders(path: string): Record<string, string> {
  if (!past) return {};
  const room = `/v1/workspaces/${encodeURIComponent(past.workspace)}`;
  const rest = path.startsWith(room) ? path.slice(room.length) : null;
  const isHere = rest !== null && (rest === "" || rest.startsWith("/") || rest.startsWith("?"));
  return isHere && !PRESENT.test(rest) ? { [HEADER]: past.at } : {};
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The time that this workspace is shown at; null for the present. */
export const usePast = (workspace: string): string | null =>
  useSyncExternalStore(subscribe, () => (past?.workspace === workspace ? past.at : null));
