// Switching documents off, which leaves them out of the index, and on again.
import { api, dataOf } from "../api/client";

const MOST_AT_ONCE = 1000; // that the server takes
const PATHS = {
  off: "/v1/workspaces/{workspace}/documents/off",
  on: "/v1/workspaces/{workspace}/documents/on",
} as const;

/** How many of these documents were in the other state. */
export async function switchDocuments(
  workspace: string,
  uris: readonly string[],
  way: keyof typeof PATHS,
): Promise<number> {
  const params = { path: { workspace } };
  let switched = 0;
  for (let at = 0; at < uris.length; at += MOST_AT_ONCE) {
    const body = { uris: uris.slice(at, at + MOST_AT_ONCE) };
    switched += (await dataOf(api.POST(PATHS[way], { params, body }))).switched;
  }
  return switched;
}
