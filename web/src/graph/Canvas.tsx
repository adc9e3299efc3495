// The graph drawn by WebGL. Loaded only when there is a graph to draw.
import type Graph from "graphology";
import { type Ref, useEffect, useImperativeHandle, useRef, useState } from "react";
import Sigma from "sigma";
import type { NodeHoverDrawingFunction, NodeLabelDrawingFunction } from "sigma/rendering";
import type { NodeDisplayData } from "sigma/types";
import { shortened } from "../text/words";
import { type Colours, readColours } from "./colours";
import styles from "./GraphPage.module.css";
import { layOut, type Point } from "./layout";
import { letterOf } from "./shown";

const LABEL = 28; // characters
const LETTER = 7; // pixels of an entity's radius from which its type's letter fits in it
const DURATION = 120; // milliseconds

export interface Look {
  shown: ReadonlySet<string>;
  shownEdges: ReadonlySet<string>;
  selected: string;
  /** Entities that always have their names. */
  named: ReadonlySet<string>;
  path: ReadonlySet<string>;
  /** The number of a type's colour. */
  colourOf: (type: string) => number;
  /** The type that the pointer or the focus is on in the legend; null if there is none. */
  emphasised: string | null;
}

export interface CanvasHandle {
  fit: () => void;
  zoom: (by: 1 | -1) => void;
  /** Where an entity is on the screen; null if it is not drawn. */
  place: (id: string) => Point | null;
  /** Moves the picture if an entity is outside it. */
  reveal: (id: string) => void;
}

interface Props {
  graph: Graph;
  look: Look;
  onSelect: (id: string) => void;
  onExpand: (id: string) => void;
  /** The browser has taken WebGL away. */
  onLost: () => void;
  ref: Ref<CanvasHandle>;
}

const duration = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : DURATION);

export default function Canvas({ graph, look, onSelect, onExpand, onLost, ref }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const sigma = useRef<Sigma | null>(null);
  const current = useRef({ look, onSelect, onExpand, onLost });
  const colours = useRef<Colours>(readColours());
  useEffect(() => {
    current.current = { look, onSelect, onExpand, onLost };
    sigma.current?.refresh({ skipIndexation: true });
  });

  // One drawing for all graphs, so that the part of the picture in view stays as it is.
  const first = useRef(graph);
  useEffect(() => {
    if (!container.current) return;
    const drawing = make(first.current, container.current, () => current.current.look, colours);
    sigma.current = drawing;
    drawing.on("clickNode", ({ node }) => current.current.onSelect(node));
    drawing.on("clickStage", () => current.current.onSelect(""));
    drawing.on("doubleClickNode", ({ node, preventSigmaDefault }) => {
      preventSigmaDefault();
      current.current.onExpand(node);
    });
    const canvases = Object.values(drawing.getCanvases());
    const lost = () => current.current.onLost();
    for (const canvas of canvases) canvas.addEventListener("webglcontextlost", lost);
    const themes = new MutationObserver(() => {
      colours.current = readColours();
      drawing.refresh({ skipIndexation: true });
    });
    // The card beside the picture changes its size as well.
    const sizes = new ResizeObserver(() => drawing.resize().scheduleRefresh());
    sizes.observe(container.current);
    themes.observe(globalThis.document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      themes.disconnect();
      sizes.disconnect();
      for (const canvas of canvases) canvas.removeEventListener("webglcontextlost", lost);
      drawing.kill();
      sigma.current = null;
    };
  }, []);

  const [laidOut, setLaidOut] = useState<Graph | null>(null);
  useEffect(() => {
    if (sigma.current && sigma.current.getGraph() !== graph) sigma.current.setGraph(graph);
    return layOut(graph, () => setLaidOut(graph)); // the drawing follows the positions in the graph
  }, [graph]);

  useImperativeHandle(
    ref,
    () => ({
      fit: () =>
        sigma.current?.getCamera().animate({ x: 0.5, y: 0.5, ratio: 1, angle: 0 }, { duration: duration() }),
      zoom: (by) => {
        const camera = sigma.current?.getCamera();
        if (by > 0) camera?.animatedZoom({ duration: duration() });
        else camera?.animatedUnzoom({ duration: duration() });
      },
      place: (id) => placeOf(sigma.current, id),
      reveal: (id) => {
        const drawing = sigma.current;
        const at = placeOf(drawing, id);
        if (!drawing || !at) return;
        const { width, height } = drawing.getDimensions();
        if (at.x > 24 && at.y > 24 && at.x < width - 24 && at.y < height - 24) return;
        const { x, y } = drawing.getNodeDisplayData(id) ?? { x: 0.5, y: 0.5 };
        drawing.getCamera().animate({ x, y }, { duration: duration() });
      },
    }),
    [],
  );
  return <div ref={container} className={styles.canvas} data-laid-out={laidOut === graph} />;
}

function placeOf(sigma: Sigma | null, id: string): Point | null {
  if (!sigma?.getGraph().hasNode(id)) return null;
  const { x, y } = sigma.getGraph().getNodeAttributes(id);
  return sigma.graphToViewport({ x, y });
}

function make(graph: Graph, container: HTMLElement, look: () => Look, colours: { current: Colours }): Sigma {
  const typeColour = (type: string) => colours.current.types[look().colourOf(type)] ?? colours.current.ink;
  let boxes: Box[] = []; // of the names in this frame
  const drawLabel: NodeLabelDrawingFunction = (context, data, settings) => {
    if (!data.label) return;
    const { ink, paper } = colours.current;
    context.font = `${settings.labelSize}px ${settings.labelFont}`;
    context.lineJoin = "round";
    context.lineWidth = 4;
    context.strokeStyle = paper;
    const width = context.measureText(data.label).width;
    const isOnLeft = data.x + data.size + 4 + width > context.canvas.clientWidth && data.x > width;
    const x = isOnLeft ? data.x - data.size - 4 - width : data.x + data.size + 4;
    const y = data.y + settings.labelSize / 3;
    const box = { left: x, right: x + width, top: y - settings.labelSize, bottom: y + 4 };
    if (!data.forceLabel && boxes.some((one) => overlaps(one, box))) return;
    boxes.push(box);
    context.strokeText(data.label, x, y);
    context.fillStyle = ink;
    context.fillText(data.label, x, y);
    drawLetter(context, data, settings.labelFont, paper);
  };
  const drawSelected: NodeHoverDrawingFunction = (context, data, settings) => {
    const { indigo } = colours.current;
    context.beginPath();
    context.arc(data.x, data.y, data.size + 4, 0, 2 * Math.PI);
    context.lineWidth = 3;
    context.strokeStyle = indigo;
    context.stroke();
    drawLabel(context, { ...data, size: data.size + 4, label: data.label ?? null }, settings);
  };
  const drawing = new Sigma(graph, container, {
    labelFont: '"Atkinson Hyperlegible Next Variable", system-ui, sans-serif',
    labelSize: 13,
    labelRenderedSizeThreshold: 5,
    labelDensity: 1.5,
    stagePadding: 56,
    zIndex: true,
    minCameraRatio: 0.05,
    maxCameraRatio: 4,
    allowInvalidContainer: true, // while the view is being closed, the frame has no size
    defaultDrawNodeLabel: drawLabel,
    defaultDrawNodeHover: drawSelected,
    nodeReducer: (id, { x, y, size, name, entityType }) => {
      const { shown, selected, named, path, emphasised } = look();
      const isNamed = named.has(id) || path.has(id) || id === selected;
      const isDim = emphasised !== null && emphasised !== entityType;
      return {
        x,
        y,
        size,
        label: shortened(name, LABEL),
        color: isDim ? colours.current.line : typeColour(entityType),
        hidden: !shown.has(id),
        forceLabel: isNamed,
        highlighted: id === selected,
        zIndex: isNamed ? 2 : isDim ? 0 : 1,
        letter: letterOf(entityType),
      } as Partial<NodeDisplayData>;
    },
    edgeReducer: (id, { source, target, width }) => {
      const { shownEdges, selected, path } = look();
      const isOfSelected = selected !== "" && (source === selected || target === selected);
      const { relation, selectedRelation, pathColour } = colours.current;
      return {
        size: path.has(id) ? 4 : width,
        color: path.has(id) ? pathColour : isOfSelected ? selectedRelation : relation,
        hidden: !shownEdges.has(id),
        zIndex: path.has(id) ? 2 : isOfSelected ? 1 : 0,
      };
    },
  });
  drawing.on("beforeRender", () => {
    boxes = [];
  });
  return drawing;
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const overlaps = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

function drawLetter(
  context: CanvasRenderingContext2D,
  data: { x: number; y: number; size: number; letter?: string },
  font: string,
  colour: string,
): void {
  if (data.size < LETTER || !data.letter) return;
  context.font = `600 ${Math.round(data.size * 1.2)}px ${font}`;
  context.textAlign = "center";
  context.fillStyle = colour;
  context.fillText(data.letter, data.x, data.y + data.size * 0.42);
  context.textAlign = "start";
}
