// The views of a workspace, in the order of the navigation.

export interface View {
  name: string;
  path: string;
  /** The second key of its shortcut, after `g`. */
  key: string;
}

export const VIEWS: View[] = [
  { name: "Ask", path: "ask", key: "a" },
  { name: "Compare", path: "compare", key: "c" },
  { name: "Graph", path: "graph", key: "g" },
  { name: "Documents", path: "documents", key: "d" },
  { name: "Review", path: "review", key: "r" },
  { name: "Conflicts", path: "conflicts", key: "x" },
  { name: "Changes", path: "changes", key: "h" },
  { name: "Watches", path: "watches", key: "t" },
  { name: "Communities", path: "communities", key: "m" },
  { name: "Bench", path: "bench", key: "b" },
  { name: "Settings", path: "settings", key: "s" },
];

/** The address of a view. */
export const viewPath = (workspace: string, path: string): string =>
  `/${encodeURIComponent(workspace)}/${path}`;

/** How the address changes while its view stays. The view is drawn at once, so that the next key finds it changed. */
export const IN_PLACE = { replace: true, preventScrollReset: true, flushSync: true } as const;
