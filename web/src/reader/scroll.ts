const FRAMES = 60; // at most; about a second
const STEADY = 3; // frames without movement after which the text is laid out
const TAKES_OVER = ["wheel", "touchmove", "pointerdown", "keydown"] as const;

/** Scrolls to an element, and again while the text around it is laid out: parts that were never shown have estimated
 * heights only. Whatever the reader does meanwhile takes over. */
export function scrollTo(target: Element, block: "center" | "start"): void {
  const stop = new AbortController();
  for (const name of TAKES_OVER)
    addEventListener(name, () => stop.abort(), { signal: stop.signal, passive: true });
  let frames = 0;
  let steady = 0;
  let before = Number.NaN;
  const step = () => {
    if (stop.signal.aborted) return;
    target.scrollIntoView({ block });
    const { top } = target.getBoundingClientRect();
    steady = Math.abs(top - before) < 1 ? steady + 1 : 0;
    before = top;
    frames += 1;
    if (target.isConnected && steady < STEADY && frames < FRAMES) requestAnimationFrame(step);
    else stop.abort();
  };
  step();
}
