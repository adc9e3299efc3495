import { useEffect } from "react";

/** Sets the title of the page: what is shown, and where. */
export function useTitle(what: string, where = ""): void {
  useEffect(() => {
    globalThis.document.title = [what, where, "Trueweave"].filter(Boolean).join(" · ");
  }, [what, where]);
}
