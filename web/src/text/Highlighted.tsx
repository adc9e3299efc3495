import { Blocks } from "./Blocks";
import { slice } from "./offsets";

interface Props {
  text: string;
  /** The span to mark, in code points of the text. */
  start: number;
  end: number;
}

/** A text with one span of it marked, and its tables drawn. */
export function Highlighted({ text, start, end }: Props) {
  return (
    <Blocks text={text}>
      {(from, to) => {
        const [first, last] = [Math.max(from, start), Math.min(to, end)];
        if (first >= last) return slice(text, from, to);
        return (
          <>
            {slice(text, from, first)}
            <mark>{slice(text, first, last)}</mark>
            {slice(text, last, to)}
          </>
        );
      }}
    </Blocks>
  );
}
