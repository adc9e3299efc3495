import { slice } from "./offsets";

interface Props {
  text: string;
  /** The span to mark, in code points of the text. */
  start: number;
  end: number;
}

/** A text with one span of it marked. */
export function Highlighted({ text, start, end }: Props) {
  if (start >= end) return <>{text}</>;
  return (
    <>
      {slice(text, 0, start)}
      <mark>{slice(text, start, end)}</mark>
      {slice(text, end, Number.POSITIVE_INFINITY)}
    </>
  );
}
