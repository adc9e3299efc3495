// The line from the sentence in focus to the words that it rests on.
import { useLayoutEffect, useRef, useState } from "react";
import styles from "./AskPage.module.css";

const NARROWEST = 900; // pixels of the window below which there is no room for it
const GAP = 36; // pixels between the columns

export function ConnectionLine({ sentence }: { sentence: number }) {
  const svg = useRef<SVGSVGElement>(null);
  const [path, setPath] = useState("");
  useLayoutEffect(() => {
    const page = svg.current?.parentElement;
    if (!page) return;
    const draw = () => setPath(pathOn(page, sentence));
    const observer = new ResizeObserver(draw);
    observer.observe(page);
    draw();
    let active = true;
    globalThis.document.fonts?.ready.then(() => active && draw());
    addEventListener("resize", draw);
    addEventListener("scroll", draw, { capture: true, passive: true });
    return () => {
      active = false;
      observer.disconnect();
      removeEventListener("resize", draw);
      removeEventListener("scroll", draw, { capture: true });
    };
  }, [sentence]);
  return (
    <svg ref={svg} className={styles.connection} aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

/** A line from the end of the sentence's first line, below the words that follow it, to the first marked words; empty if
 * either is missing. */
function pathOn(page: Element, sentence: number): string {
  const rects = [...page.querySelectorAll(`[data-sentence="${sentence}"]`)].flatMap((one) => [
    ...one.getClientRects(),
  ]);
  const aside = page.querySelector("aside");
  const words = aside?.querySelector("mark")?.getClientRects()[0];
  const first = rects[0];
  if (!first || !aside || !words || innerWidth < NARROWEST) return "";
  const origin = page.getBoundingClientRect();
  const line = rects.filter((one) => one.top < first.bottom);
  const x0 = Math.max(...line.map((one) => one.right)) - origin.left;
  const y0 = first.bottom - origin.top;
  const x1 = words.left - origin.left - 4;
  const y1 = words.top + words.height / 2 - origin.top;
  const gap = aside.getBoundingClientRect().left - origin.left - GAP;
  return `M${x0} ${y0} H ${Math.max(x0, gap)} C ${gap + GAP * 0.7} ${y0}, ${gap + GAP * 0.3} ${y1}, ${x1} ${y1}`;
}
