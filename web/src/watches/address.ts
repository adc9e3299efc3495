import { viewPath } from "../shell/views";

/** The address of the alerts of a watch, or of all if there is no name. */
export function alertsPath(workspace: string, watch = ""): string {
  return viewPath(workspace, "watches/alerts") + (watch ? `?${new URLSearchParams({ watch })}` : "");
}
