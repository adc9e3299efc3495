let canDraw: boolean | null = null;

/** Whether the browser has WebGL. */
export function hasWebGL(): boolean {
  if (canDraw === null) {
    const canvas = globalThis.document.createElement("canvas");
    const context = canvas.getContext("webgl2") ?? canvas.getContext("webgl");
    canDraw = context !== null;
    context?.getExtension("WEBGL_lose_context")?.loseContext(); // browsers allow only a few at a time
  }
  return canDraw;
}
