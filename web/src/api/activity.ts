// The activity of a workspace: what waits, how fast it is processed, what it waits for, what was spent.
import { Problem, type Schemas } from "./client";
import { streamed } from "./stream";

export type Activity = Schemas["Activity"];

export interface Heard {
  activity: Activity | null;
  /** Why the stream is interrupted; null while it is connected. */
  error: unknown;
}

export interface Pauses {
  first: number;
  longest: number;
  /** A stream that lasted this long was not cut short: it is continued at once. */
  ordinary: number;
}

const PAUSES: Pauses = { first: 1_000, longest: 30_000, ordinary: 10_000 };

/** Reports the activity until the signal aborts. The server ends each stream after a minute, and may go away: the
 * stream is then opened again, after pauses that grow. It is not opened again if the server refuses it. */
export async function followActivity(
  workspace: string,
  hear: (heard: Heard) => void,
  signal: AbortSignal,
  pauses: Pauses = PAUSES,
): Promise<void> {
  const path = `/v1/workspaces/${encodeURIComponent(workspace)}/events`;
  let activity: Activity | null = null;
  let pause = pauses.first;
  while (!signal.aborted) {
    const began = performance.now();
    try {
      for await (const event of streamed(path, { signal })) {
        if (event.name !== "activity") continue;
        activity = event.data as Activity;
        pause = pauses.first;
        hear({ activity, error: null });
      }
      if (performance.now() - began >= pauses.ordinary) continue;
    } catch (error) {
      if (signal.aborted) return;
      hear({ activity, error });
      if (isRefusal(error)) return;
    }
    await wait(pause * (0.75 + Math.random() / 2), signal);
    pause = Math.min(2 * pause, pauses.longest);
  }
}

/** Whether asking again is of no use: the session has ended, or there is no such workspace. */
function isRefusal(error: unknown): boolean {
  return error instanceof Problem && [401, 403, 404].includes(error.status);
}

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}
