// What the user prefers in this browser: colours, and whether single letters are shortcuts.
import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark" | "system";

const THEME = "trueweave.theme";
const LETTERS = "trueweave.single-key-shortcuts";
const listeners = new Set<() => void>();
const systemIsDark = globalThis.matchMedia("(prefers-color-scheme: dark)");

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // the browser stores nothing for this page: the defaults apply
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // The browser stores nothing for this page: the choice lasts until it is reloaded.
  }
}

let theme: Theme = (["light", "dark"] as const).find((one) => one === read(THEME)) ?? "system";
let letters = read(LETTERS) !== "off";

/** Sets the colours of the page, now and when the system's preference changes. */
export function applyTheme(): void {
  const dark = theme === "dark" || (theme === "system" && systemIsDark.matches);
  globalThis.document.documentElement.dataset.theme = dark ? "dark" : "light";
}

systemIsDark.addEventListener("change", applyTheme);

export function setTheme(to: Theme): void {
  theme = to;
  write(THEME, to);
  applyTheme();
  for (const listener of listeners) listener();
}

export function setSingleKeys(on: boolean): void {
  letters = on;
  write(LETTERS, on ? "on" : "off");
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, () => theme);
export const useSingleKeys = (): boolean => useSyncExternalStore(subscribe, () => letters);
export const singleKeys = (): boolean => letters;
