/**
 * A text whose hard line breaks are spaces, so that it can be shown in a narrower column: those after at least forty
 * characters and before a letter. Lists, verse, tables and paragraphs stay as they are, and so does the length.
 */
export function unwrapped(text: string): string {
  return text.replace(/(?<=[^\n]{40})\n(?=\p{L})/gu, (stop, at: number) =>
    text.slice(text.lastIndexOf("\n", at - 1) + 1, at).includes(" | ") ? stop : " ",
  );
}
