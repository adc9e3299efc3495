import { useState } from "react";
import { Button } from "react-aria-components";
import { Blocks } from "../text/Blocks";
import { slice } from "../text/offsets";
import { number, shortened } from "../text/words";

interface Props {
  text: string;
  /** How many characters are shown at first. */
  most: number;
  className?: string | undefined;
}

/** The beginning of a text, and a button that shows all of it. */
export function Folded({ text, most, className }: Props) {
  const [open, setOpen] = useState(false);
  const short = shortened(text, most);
  const shown = open ? text : short;
  return (
    <>
      <div className={className} data-open={open || undefined} dir="auto">
        <Blocks text={shown}>{(start, end) => slice(shown, start, end)}</Blocks>
      </div>
      {short !== text && (
        <Button className="quiet" aria-expanded={open} onPress={() => setOpen(!open)}>
          {open ? "Show less" : `Show all ${number([...text].length)} characters`}
        </Button>
      )}
    </>
  );
}
