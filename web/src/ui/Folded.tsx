import { useState } from "react";
import { Button } from "react-aria-components";
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
  return (
    <>
      <p className={className} data-open={open || undefined} dir="auto">
        {open ? text : short}
      </p>
      {short !== text && (
        <Button className="quiet" aria-expanded={open} onPress={() => setOpen(!open)}>
          {open ? "Show less" : `Show all ${number([...text].length)} characters`}
        </Button>
      )}
    </>
  );
}
