import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "react-aria-components";

/** Copies a text, and says whether that worked. */
export function CopyButton({ text, label }: { text: string | (() => string); label: string }) {
  const [done, setDone] = useState<"" | "copied" | "failed">("");
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(""), 2000);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = () =>
    navigator.clipboard.writeText(typeof text === "string" ? text : text()).then(
      () => setDone("copied"),
      () => setDone("failed"),
    );
  return (
    <Button className="quiet" onPress={copy}>
      {done === "copied" ? <Check size={16} aria-hidden="true" /> : <Copy size={16} aria-hidden="true" />}
      <span aria-live="polite">
        {done === "copied" ? "Copied" : done === "failed" ? "The browser did not allow copying" : label}
      </span>
    </Button>
  );
}
