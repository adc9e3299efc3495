import { useEffect, useState } from "react";

const PAUSE = 120; // milliseconds without a key before the server is asked

/** A text that is typed, when typing pauses. */
export function useAfterPause(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
