// The map of the graph drawn by WebGL.
import Graph from "graphology";
import { type Ref, useEffect, useImperativeHandle, useRef } from "react";
import Sigma from "sigma";
import {
  EdgeLineProgram,
  EdgeRectangleProgram,
  NodeCircleProgram,
  type NodeHoverDrawingFunction,
  type NodeLabelDrawingFunction,
  NodePointProgram,
  type ProgramInfo,
} from "sigma/rendering";
import type { NodeDisplayData } from "sigma/types";
import { number, shortened } from "../text/words";
import { type Colours, readColours } from "./colours";
import styles from "./GraphPage.module.css";
import { type GraphMap, type MapPlace, type MapWindow, PADDING, placeOfCircle, rounded } from "./mapWindow";

const PAUSE = 150; // milliseconds after the last movement until the map is drawn in full, and loaded
const DURATION = 200; // milliseconds
const LABEL = 28; // characters
const TITLED = 20; // pixels of a circle's radius from which its title is in it
const COUNTED = 14; // and from which its size is in it
// Lines and points are drawn five times as fast as rectangles and circles where there is no graphics processor.
const MOST_WIDE = 1000; // entities and relations that are drawn as circles and as wide as they are heavy
const MOST_MOVING = 8000; // relations that are all drawn in every frame of a movement
const MOVING = 5000; // relations that are drawn during a movement if there are more
const WIDEST = 6; // pixels

export interface MapHandle {
  /** Moves by parts of the window. */
  move: (x: number, y: number) => void;
  zoom: (by: number) => void;
  goTo: (place: MapPlace) => void;
}

interface Props {
  map: GraphMap | null;
  /** Where to begin. */
  place: MapPlace;
  colourOf: (type: string) => number;
  onMove: (window: MapWindow, place: MapPlace) => void;
  onEntity: (id: string) => void;
  onLost: () => void;
  ref: Ref<MapHandle>;
}

type Camera = ReturnType<Sigma["getCamera"]>;

interface Movement {
  isOn: boolean;
}

interface CameraPlace {
  x: number;
  y: number;
  ratio: number;
}

const cameraPlace = ({ x, y, z }: MapPlace): CameraPlace => ({
  x: 0.5 + x / 2,
  y: 0.5 + y / 2,
  ratio: 1 / z,
});

function moveTo(camera: Camera, place: CameraPlace): void {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) camera.setState(place);
  else camera.animate(place, { duration: DURATION });
}

export default function MapCanvas({ map, place, colourOf, onMove, onEntity, onLost, ref }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const sigma = useRef<Sigma | null>(null);
  const shown = useRef<GraphMap | null>(null);
  const current = useRef({ onMove, onEntity, onLost });
  const colours = useRef(readColours());
  const start = useRef(place);
  useEffect(() => {
    current.current = { onMove, onEntity, onLost };
  });

  useEffect(() => {
    const frame = container.current;
    if (!frame) return;
    const movement: Movement = { isOn: false };
    const drawing = make(frame, colours, movement);
    sigma.current = drawing;
    drawing.getCamera().setState(cameraPlace(start.current));
    let timer: ReturnType<typeof setTimeout> | undefined;
    const moved = () => {
      movement.isOn = true;
      frame.dataset.moving = "true";
      clearTimeout(timer);
      timer = setTimeout(() => {
        movement.isOn = false;
        drawing.scheduleRender();
        drawing.once("afterRender", () => {
          frame.dataset.moving = "false";
        });
        current.current.onMove(windowOf(drawing), placeOf(drawing));
      }, PAUSE);
    };
    drawing.getCamera().on("updated", moved);
    drawing.on("clickNode", ({ node }) => {
      const { entity, circle } = drawing.getGraph().getNodeAttributes(node);
      if (entity) current.current.onEntity(entity);
      else if (shown.current) moveTo(drawing.getCamera(), cameraPlace(placeOfCircle(shown.current, circle)));
    });
    const canvases = Object.values(drawing.getCanvases());
    const lost = () => current.current.onLost();
    for (const canvas of canvases) canvas.addEventListener("webglcontextlost", lost);
    const sizes = new ResizeObserver(() => {
      drawing.resize().scheduleRefresh();
      moved();
    });
    sizes.observe(frame);
    const themes = new MutationObserver(() => {
      colours.current = readColours();
      drawing.refresh({ skipIndexation: true });
    });
    themes.observe(globalThis.document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      clearTimeout(timer);
      sizes.disconnect();
      themes.disconnect();
      for (const canvas of canvases) canvas.removeEventListener("webglcontextlost", lost);
      drawing.kill();
      sigma.current = null;
    };
  }, []);

  useEffect(() => {
    const [drawing, frame] = [sigma.current, container.current];
    if (!drawing || !frame || !map) return;
    shown.current = map;
    drawing.once("afterRender", () => {
      frame.dataset.drawn = "true";
    });
    drawing.setGraph(graphOf(map, drawing, colourOf));
  }, [map, colourOf]);

  // Where a movement that has not ended leads to, so that keys in quick succession add up.
  const target = useRef(cameraPlace(place));
  useImperativeHandle(ref, () => {
    const go = (to: (from: CameraPlace) => CameraPlace) => {
      const camera = sigma.current?.getCamera();
      if (!camera) return;
      target.current = to(camera.isAnimated() ? target.current : camera.getState());
      moveTo(camera, target.current);
    };
    return {
      move: (x, y) => go((from) => ({ ...from, x: from.x + x * from.ratio, y: from.y + y * from.ratio })),
      zoom: (by) => go((from) => ({ ...from, ratio: from.ratio / by })),
      goTo: (to) => go(() => cameraPlace(to)),
    };
  }, []);
  return <div ref={container} className={styles.canvas} data-drawn="false" />;
}

/** Pixels for each unit of length. */
function zoomOf(sigma: Sigma): number {
  const [a, b] = [sigma.graphToViewport({ x: 0, y: 0 }), sigma.graphToViewport({ x: 1, y: 0 })];
  return Math.hypot(b.x - a.x, b.y - a.y);
}

/** What is in view. */
function windowOf(sigma: Sigma): MapWindow {
  const { width, height } = sigma.getDimensions();
  const [a, b] = [sigma.viewportToGraph({ x: 0, y: 0 }), sigma.viewportToGraph({ x: width, y: height })];
  return rounded({
    x0: Math.min(a.x, b.x),
    y0: Math.min(a.y, b.y),
    x1: Math.max(a.x, b.x),
    y1: Math.max(a.y, b.y),
    zoom: zoomOf(sigma),
  });
}

function placeOf(sigma: Sigma): MapPlace {
  const { x, y, ratio } = sigma.getCamera().getState();
  return { x: 2 * x - 1, y: 2 * y - 1, z: 1 / ratio };
}

/** The window as a graph: circles grow with the picture, entities have a size on the screen. */
function graphOf(map: GraphMap, sigma: Sigma, colourOf: (type: string) => number): Graph {
  const { circles, nodes, edges, links } = map;
  const isWide =
    Math.max(edges.source.length + links.a.length, circles.ids.length + nodes.ids.length) <= MOST_WIDE;
  const ratio = sigma.getCamera().ratio;
  const whole = zoomOf(sigma) * ratio; // pixels for each unit of length when the whole map is seen
  const graph = new Graph({ type: "undirected", multi: true });
  const form = isWide ? "circle" : "point";
  const keys = circles.ids.map((id) => `community ${id}`);
  for (const [at, key] of keys.entries()) {
    const { x, y } = { x: circles.x[at] ?? 0, y: circles.y[at] ?? 0 };
    const size = (circles.radius[at] ?? 0) * whole;
    const isLabelled = size / ratio >= COUNTED;
    const [name, members] = [circles.titles[at], circles.sizes[at]];
    graph.addNode(key, { x, y, size, form, isLabelled, circle: at, name, members });
  }
  for (const [at, id] of nodes.ids.entries()) {
    const { x, y } = { x: nodes.x[at] ?? 0, y: nodes.y[at] ?? 0 };
    const size = Math.min(9, 3 + Math.sqrt(nodes.degrees[at] ?? 0)) * ratio;
    const colour = colourOf(nodes.types[at] ?? "");
    graph.addNode(id, { x, y, size, form, entity: id, name: nodes.names[at], colour });
  }
  // Heaviest first: during a movement, only the first ones may be drawn.
  const line = isWide ? "wide" : "line";
  const heaviest = Math.max(...links.weight.slice(0, 1), 1);
  for (const [at, a] of links.a.entries()) {
    const width = Math.max(1, WIDEST * Math.sqrt((links.weight[at] ?? 0) / heaviest));
    graph.addEdge(keys[a], keys[links.b[at] ?? 0], { line, size: width * ratio });
  }
  for (const [at, from] of edges.source.entries())
    graph.addEdge(nodes.ids[from], nodes.ids[edges.target[at] ?? 0], { line, size: ratio });
  return graph;
}

/** Points or circles, which are not drawn a second time, to be found by the pointer, during a movement. */
const nodesDuring = (Program: typeof NodePointProgram | typeof NodeCircleProgram, movement: Movement) =>
  class extends (Program as typeof NodePointProgram) {
    override drawWebGL(method: number, info: ProgramInfo): void {
      if (!(movement.isOn && info.isPicking)) super.drawWebGL(method, info);
    }
  };

/** Lines, of which only the first are drawn during a movement if there are many. */
const linesDuring = (movement: Movement) =>
  class extends EdgeLineProgram {
    override drawWebGL(method: number, { gl, frameBuffer }: ProgramInfo): void {
      const isFew = this.verticesCount <= 2 * MOST_MOVING;
      gl.bindFramebuffer(gl.FRAMEBUFFER, frameBuffer);
      gl.drawArrays(method, 0, movement.isOn && !isFew ? 2 * MOVING : this.verticesCount);
    }
  };

function make(container: HTMLElement, colours: { current: Colours }, movement: Movement): Sigma {
  const drawLabel: NodeLabelDrawingFunction = (context, data, settings) => {
    const { ink, paper } = colours.current;
    const { label, x, y, size } = data;
    const { members } = data as unknown as { members?: number };
    context.font = `${settings.labelSize}px ${settings.labelFont}`;
    context.fillStyle = ink;
    if (members === undefined) {
      if (!label) return;
      context.lineWidth = 3;
      context.strokeStyle = paper;
      context.strokeText(label, x + size + 3, y + settings.labelSize / 3);
      context.fillText(label, x + size + 3, y + settings.labelSize / 3);
      return;
    }
    if (size < COUNTED) return;
    context.textAlign = "center";
    const isTitled = label && size >= TITLED;
    if (isTitled) {
      const each = context.measureText(label).width / label.length;
      context.fillText(shortened(label, Math.max(3, Math.floor((2 * size - 4) / each) - 1)), x, y);
    }
    context.fillText(number(members), x, y + (isTitled ? settings.labelSize + 2 : 4));
    context.textAlign = "start";
  };
  const drawHovered: NodeHoverDrawingFunction = (context, data, settings) => {
    const { ink, paper, indigo } = colours.current;
    const { members } = data as unknown as { members?: number };
    const text = members === undefined ? data.label : `${data.label} (${number(members)})`;
    context.beginPath();
    context.arc(data.x, data.y, data.size + 2, 0, 2 * Math.PI);
    context.lineWidth = 2;
    context.strokeStyle = indigo;
    context.stroke();
    if (!text) return;
    context.font = `${settings.labelSize + 1}px ${settings.labelFont}`;
    const { width } = context.measureText(text);
    const x = Math.max(4, Math.min(data.x - width / 2, context.canvas.clientWidth - width - 4));
    const y = data.y - data.size - 10 > 20 ? data.y - data.size - 10 : data.y + data.size + 20;
    context.fillStyle = paper;
    context.fillRect(x - 4, y - settings.labelSize - 2, width + 8, settings.labelSize + 8);
    context.fillStyle = ink;
    context.fillText(text, x, y);
  };
  const drawing = new Sigma(new Graph(), container, {
    labelFont: '"Atkinson Hyperlegible Next Variable", system-ui, sans-serif',
    labelSize: 12,
    labelRenderedSizeThreshold: 5,
    labelDensity: 1,
    stagePadding: PADDING,
    allowInvalidContainer: true, // while the view is being closed, the frame has no size
    minCameraRatio: 1e-4,
    maxCameraRatio: 2,
    zoomToSizeRatioFunction: (ratio) => ratio,
    nodeProgramClasses: {
      circle: nodesDuring(NodeCircleProgram, movement),
      point: nodesDuring(NodePointProgram, movement),
    },
    edgeProgramClasses: { wide: EdgeRectangleProgram, line: linesDuring(movement) },
    defaultDrawNodeLabel: drawLabel,
    defaultDrawNodeHover: drawHovered,
    nodeReducer: (_, { x, y, size, form, isLabelled, name, colour, members }) =>
      ({
        x,
        y,
        size,
        type: form,
        members,
        label: shortened(name, LABEL),
        forceLabel: isLabelled,
        color: members === undefined ? (colours.current.types[colour] ?? "") : colours.current.circle,
      }) as Partial<NodeDisplayData>,
    edgeReducer: (_, { size, line }) => ({ size, type: line, color: colours.current.line }),
  });
  drawing.setCustomBBox({ x: [-1, 1], y: [-1, 1] });
  return drawing;
}
