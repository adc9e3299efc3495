import { useEffect, useRef, useState } from "react";
import { dropped, type NamedFile } from "./files";

/** Takes files that are dropped anywhere on the page. Returns whether files are being dragged over it. */
export function useFileDrop(onFiles: (files: NamedFile[]) => void, isEnabled: boolean): boolean {
  const [isOver, setOver] = useState(false);
  const take = useRef(onFiles);
  useEffect(() => {
    take.current = onFiles;
  });
  useEffect(() => {
    if (!isEnabled) return;
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "copy";
      setOver(true);
    };
    const left = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false); // and not merely from one element to another
    };
    const drop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(false);
      dropped(event.dataTransfer).then((files) => take.current(files));
    };
    const page = globalThis.document;
    page.addEventListener("dragover", over);
    page.addEventListener("dragleave", left);
    page.addEventListener("drop", drop);
    return () => {
      page.removeEventListener("dragover", over);
      page.removeEventListener("dragleave", left);
      page.removeEventListener("drop", drop);
    };
  }, [isEnabled]);
  return isOver;
}
