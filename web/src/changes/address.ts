// The two times of the page of changes, in its address.

export interface Times {
  /** In UTC, as `Date.toISOString` writes it. Empty: since history is kept. */
  since: string;
  /** The same. Empty: now. */
  until: string;
}

/** What the address says. What is not a time is left out. */
export const readTimes = (params: URLSearchParams): Times => ({
  since: time(params.get("since")),
  until: time(params.get("until")),
});

export function writeTimes({ since, until }: Times): URLSearchParams {
  return new URLSearchParams({ ...(since ? { since } : {}), ...(until ? { until } : {}) });
}

function time(text: string | null): string {
  const found = Date.parse(text ?? "");
  return Number.isNaN(found) ? "" : new Date(found).toISOString();
}

const HOUR = 3_600_000; // milliseconds

/** The first time that can be compared. Where former versions are kept for some days, it is an hour after the oldest time
 * that is known, because that time goes on while its index is built. */
export function firstTime({ since, oldest }: { since: string; oldest: string }): string {
  const first = Date.parse(oldest) + (oldest === since ? 1 : HOUR); // the server's times have microseconds
  return new Date(first).toISOString();
}
