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

/** "$0.0031". The server sends amounts as decimal text, and null if a price is not known. */
export function money(price: string | null): string {
  if (price === null) return "price not known";
  const value = Number(price);
  if (value === 0) return "$0";
  return `$${value < 0.01 ? value.toPrecision(2) : value.toFixed(value < 1 ? 4 : 2)}`;
}
