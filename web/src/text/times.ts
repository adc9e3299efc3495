// Times in the form of `<input type="datetime-local">`: local, in full seconds.

const SECOND = 1000; // milliseconds
const MINUTE = 60 * SECOND;

/** A time for such a field, rounded up to the next full second. */
export function localTime(iso: string): string {
  const time = new Date(Math.ceil(Date.parse(iso) / SECOND) * SECOND);
  return new Date(time.getTime() - time.getTimezoneOffset() * MINUTE).toISOString().slice(0, 19);
}

/** What such a field has, in UTC; empty if it is empty. */
export const utcTime = (local: string): string => (local ? new Date(local).toISOString() : "");
