// Numbers and amounts in words.

const NUMBERS = new Intl.NumberFormat("en");

export const number = (value: number): string => NUMBERS.format(value);

/** "1 document", "2,140 documents". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;

/** "88 ms", "1.4 s". */
export function duration(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000);
  return milliseconds < 1000 ? `${milliseconds} ms` : `${(seconds).toFixed(1)} s`;
}

/** "$0.0031", "0.0031 EUR". The server sends amounts as decimal text, and null if a price is not known. */
export function money(price: string | null, currency = "USD"): string {
  if (price === null) return "price not known";
  const value = Number(price);
  const amount = value === 0 ? "0" : value < 0.01 ? value.toPrecision(2) : value.toFixed(value < 1 ? 4 : 2);
  return currency === "USD" ? `$${amount}` : `${amount} ${currency}`;
}

/** "840 bytes", "1.2 MB". */
export function bytes(count: number): string {
  if (count < 1000) return counted(count, "byte");
  const unit = Math.min(3, Math.floor(Math.log10(count) / 3));
  const value = count / 1000 ** unit;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${["", "kB", "MB", "GB"][unit]}`;
}

/** "less than a minute", "about 12 minutes", "about 3 hours". */
export function timeLeft(seconds: number): string {
  if (seconds < 60) return "less than a minute";
  const minutes = Math.round(seconds / 60);
  return minutes < 90
    ? `about ${counted(minutes, "minute")}`
    : `about ${counted(Math.round(minutes / 60), "hour")}`;
}

const MOMENT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** "18 Nov 2026, 07:45", in the time zone of the browser. */
export const moment = (time: string): string => MOMENT.format(new Date(time));

/** A text of at most so many characters. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const points = [...text.slice(0, 2 * most + 2)];
  return points.length > most ? `${points.slice(0, most).join("")}…` : text;
}
