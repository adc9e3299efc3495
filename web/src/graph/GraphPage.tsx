// The Graph view: search first, then neighbourhoods and paths, as a picture or as tables.
import { useQuery } from "@tanstack/react-query";
import { Maximize, Minus, Plus } from "lucide-react";
import { lazy, type Ref, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "react-aria-components";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import { asProblem } from "../api/client";
import { entities as entitiesQuery, workspace as workspaceQuery } from "../api/queries";
import { FilterBar } from "../ask/FilterBar";
import { useFilter } from "../ask/useFilter";
import { entityPath } from "../entity/address";
import { typeColours } from "../reader/segments";
import { useShortcuts } from "../shell/shortcuts";
import { useTitle } from "../shell/useTitle";
import { IN_PLACE, viewPath } from "../shell/views";
import { counted, shortened } from "../text/words";
import { Empty, Failed, Loading } from "../ui/States";
import { Actions } from "./Actions";
import { EACH, expanded, type GraphState, type GraphView, readAddress, writeAddress } from "./address";
import type { CanvasHandle, Look } from "./Canvas";
import { readColours } from "./colours";
import { EntityCard } from "./EntityCard";
import { EntitySearch } from "./EntitySearch";
import { Filters } from "./Filters";
import type { Drawn } from "./files";
import { GraphMap } from "./GraphMap";
import styles from "./GraphPage.module.css";
import { EntityTable, RelationTable } from "./GraphTable";
import { Legend } from "./Legend";
import { type Direction, graphOf, laidOut, type Point, positionsOf, towards } from "./layout";
import { type Loaded, type Shown, shownOf, summary, typesOf } from "./shown";
import { existing, types as typesQuery, useGraph } from "./useGraph";
import { hasWebGL } from "./webgl";

const Canvas = lazy(() => import("./Canvas"));

const EXAMPLES = 8;
const PATH_NAME = 40; // characters

export function GraphPage() {
  const { ws = "" } = useParams();
  const about = useQuery(workspaceQuery(ws));
  useTitle("Graph", ws);
  if (about.isError) return <Failed error={about.error} again={() => about.refetch()} />;
  if (!about.data) return <Loading what="the workspace" />;
  return <Contents key={ws} workspace={ws} status={about.data.status} />;
}

interface Status {
  relations: number;
  entities: number;
  documents: number;
  waiting_documents: number;
}

function Contents({ workspace, status }: { workspace: string; status: Status }) {
  const [params, setParams] = useSearchParams();
  const state = readAddress(params);
  const passing = useFilter();
  const found = useGraph(workspace, state);
  const { data: known } = useQuery(typesQuery(workspace));
  const colourOf = useMemo(() => typeColours(known?.entities.map((one) => one.type) ?? []), [known]);
  // The entity that a path begins at, while its other end is chosen.
  const [from, setFrom] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const [said, setSaid] = useState("");
  // Whether the picture takes the focus when it appears.
  const chosen = useRef(false);

  const go = (to: Partial<GraphState>, isNew = false) =>
    setParams(writeAddress({ ...state, ...to }), { ...IN_PLACE, replace: !isNew });
  const choose = (id: string) => {
    chosen.current = true;
    if (from && from !== id) go({ of: [from], to: id, selected: id, each: EACH }, true);
    else go({ of: [id], to: "", selected: id, each: EACH, min: 0, types: [] }, true);
    setFrom("");
  };
  const expand = (id: string) => {
    const to = expanded(state, id);
    setSaid(to ? "" : "No more neighbours can be shown at once. Start again from this entity to see more.");
    if (to) go({ ...to, selected: id }, true);
  };
  const isEmpty = status.relations === 0 && state.of.length === 0;
  return (
    <div className={styles.page}>
      <h1 className="visually-hidden" tabIndex={-1}>
        Graph of {workspace}
      </h1>
      {isEmpty ? (
        <NoRelations workspace={workspace} status={status} />
      ) : (
        <EntitySearch
          workspace={workspace}
          filter={passing.text}
          label={
            from ? "Path to" : state.of.length > 0 ? "Start from another entity" : "Search for an entity"
          }
          field={field}
          onChoose={choose}
        />
      )}
      {!isEmpty && <FilterBar passing={passing} />}
      {from && (
        <p className={styles.banner} role="status">
          Choose where the path ends: click an entity, or search for one.
          <Button className="quiet" onPress={() => setFrom("")}>
            Cancel
          </Button>
        </p>
      )}
      {said && <p role="status">{said}</p>}
      {state.of.length === 0 && !isEmpty && (
        <>
          {passing.text ? (
            <p className="muted">The map of the graph shows all documents. Clear the filter to see it.</p>
          ) : (
            <GraphMap workspace={workspace} colourOf={colourOf} onChoose={choose} />
          )}
          <Examples workspace={workspace} filter={passing.text} onChoose={choose} />
        </>
      )}
      {state.of.length > 0 && found.isPending && <Loading what="the graph" lines={8} />}
      {found.isError && (
        <Missing
          workspace={workspace}
          state={state}
          error={found.error}
          again={() => found.refetch()}
          onGo={go}
        />
      )}
      {found.data?.kind === "no path" && state.to && !found.isError && (
        <Empty title="No path was found">
          <p>
            These two entities are not connected by at most {counted(found.data.longest, "relation")}. Only
            the heaviest relations of each entity are followed.
          </p>
          <Button onPress={() => go({ of: [state.of[0] ?? "", state.to], to: "" }, true)}>
            Show the neighbours of both
          </Button>
        </Empty>
      )}
      {found.data?.kind === "graph" && state.of.length > 0 && !found.isError && (
        <GraphParts
          workspace={workspace}
          state={state}
          loaded={found.data.loaded}
          isLoading={found.isPlaceholderData}
          isChoosing={from !== ""}
          chosen={chosen}
          colourOf={colourOf}
          go={go}
          onExpand={expand}
          onPath={setFrom}
          onPathByName={(id) => {
            setFrom(id);
            field.current?.focus();
          }}
          onChoose={choose}
        />
      )}
    </div>
  );
}

/** Says why there is no graph yet. */
function NoRelations({ workspace, status }: { workspace: string; status: Status }) {
  const waiting = status.waiting_documents;
  return (
    <Empty
      title={waiting > 0 ? `No relations yet: ${counted(waiting, "document")} waiting` : "No relations yet"}
    >
      <p>
        {waiting > 0
          ? "The graph appears when they are indexed."
          : status.documents > 0
            ? "No relation was found in the documents. A language model finds relations; without one, only names are recognised."
            : "Add documents first."}
      </p>
      <Link to={viewPath(workspace, "documents")}>{waiting > 0 ? "Show the progress" : "Documents"}</Link>
    </Empty>
  );
}

interface ExamplesProps {
  workspace: string;
  /** As JSON; empty if all documents pass. */
  filter: string;
  onChoose: (id: string) => void;
}

/** The most mentioned entities, to start from. */
function Examples({ workspace, filter, onChoose }: ExamplesProps) {
  const found = useQuery(entitiesQuery(workspace, EXAMPLES, filter));
  if (found.isError) return <Failed error={found.error} again={() => found.refetch()} />;
  if (!found.data) return <Loading what="entities" />;
  return (
    <section>
      <h2>Or start from one that is mentioned often</h2>
      {found.data.length === 0 && <p>No document that passes the filter mentions an entity.</p>}
      <ul className={styles.examples}>
        {found.data.map((one) => (
          <li key={one.id}>
            <Button onPress={() => onChoose(one.id)}>
              <bdi>{shortened(one.name, 60)}</bdi> <span>{counted(one.degree, "relation")}</span>
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface MissingProps {
  workspace: string;
  state: GraphState;
  error: unknown;
  again: () => void;
  onGo: (to: Partial<GraphState>) => void;
}

/** A graph that cannot be loaded. If entities of the address are gone, the others can be shown. */
function Missing({ workspace, state, error, again, onGo }: MissingProps) {
  const isGone = asProblem(error).code === "unknown_entity";
  const { text, keep } = useFilter();
  const { data } = useQuery({ ...existing(workspace, state.of.filter(isId), state.filter), enabled: isGone });
  const left = state.of.filter((id) => data?.has(id));
  return (
    <>
      <Failed error={error} again={again} />
      {isGone && (
        <p>
          {text
            ? "No document that passes the filter mentions it."
            : "It was merged with another entity, or its documents were removed."}{" "}
          Search for its name, or{" "}
          {left.length > 0 && left.length < state.of.length ? (
            <Button
              className={`quiet ${styles.other}`}
              onPress={() => onGo({ of: left, to: "", selected: "" })}
            >
              show the graph without it
            </Button>
          ) : (
            <Link to={keep(viewPath(workspace, "graph"))}>start again</Link>
          )}
          .
        </p>
      )}
    </>
  );
}

const isId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

interface PartsProps {
  workspace: string;
  state: GraphState;
  loaded: Loaded;
  /** Whether more is being loaded. */
  isLoading: boolean;
  /** Whether a click chooses the end of a path. */
  isChoosing: boolean;
  /** Whether the picture takes the focus when it appears. */
  chosen: React.RefObject<boolean>;
  colourOf: (type: string) => number;
  go: (to: Partial<GraphState>, isNew?: boolean) => void;
  onExpand: (id: string) => void;
  onPath: (id: string) => void;
  onPathByName: (id: string) => void;
  onChoose: (id: string) => void;
}

const NO_POINTS: ReadonlyMap<string, Point> = new Map();

function GraphParts(props: PartsProps) {
  const {
    workspace,
    state,
    loaded,
    isLoading,
    isChoosing,
    chosen,
    colourOf,
    go,
    onExpand,
    onPath,
    onPathByName,
    onChoose,
  } = props;
  const [emphasised, setEmphasised] = useState<string | null>(null);
  const [isLost, setLost] = useState(false);
  const isDrawn = hasWebGL() && !isLost;
  const view: GraphView = isDrawn || state.view !== "picture" ? state.view : "entities";

  const { types, min, selected } = state;
  const typesKey = JSON.stringify(types);
  const shown = useMemo(() => shownOf(loaded, JSON.parse(typesKey), min), [loaded, typesKey, min]);
  const graph = useKeptGraph(loaded);
  const legend = useMemo(() => typesOf(loaded.nodes), [loaded]);
  const heaviest = useMemo(() => Math.max(0, ...loaded.edges.map((one) => one.weight)), [loaded]);
  const told = summary(loaded, shown);

  const select = (id: string) => {
    if (isChoosing && id) onChoose(id);
    else go({ selected: id });
  };
  const drawn = (): Drawn => {
    const colours = readColours();
    if (view !== "picture") laidOut(graph);
    return {
      ...shown,
      places: positionsOf(graph),
      sizes: new Map(graph.mapNodes((id, { size }) => [id, size])),
      colourOf: (type) => colours.types[colourOf(type)] ?? colours.ink,
      ...colours,
      path: loaded.path,
      caption: `${workspace}. ${told}`,
    };
  };
  const show = (to: GraphView) => go({ view: to, sort: "" });
  useShortcuts({
    t: () => {
      if (!isDrawn) return;
      chosen.current = true; // keys go on where they were
      show(view === "picture" ? "entities" : "picture");
    },
    ...(selected ? { e: () => onExpand(selected), p: () => onPath(selected) } : {}),
    ...(selected ? { Escape: () => go({ selected: "" }) } : {}),
  });
  return (
    <div className={styles.parts} data-card={selected !== "" || undefined} aria-busy={isLoading}>
      <div className={styles.tools}>
        <Filters workspace={workspace} state={state} heaviest={heaviest} onChange={go} />
        <Legend
          types={legend}
          state={state}
          colourOf={colourOf}
          onChange={(to) => go({ types: to })}
          onEmphasise={setEmphasised}
        />
      </div>
      <div className={styles.main}>
        {loaded.steps !== null && <PathLine workspace={workspace} loaded={loaded} />}
        <div className={styles.line}>
          <p className="muted" role="status">
            {told}
          </p>
          <fieldset className={styles.views} aria-label="Shown as">
            {isDrawn && (
              <Button aria-pressed={view === "picture"} onPress={() => show("picture")}>
                Picture
              </Button>
            )}
            <Button aria-pressed={view === "entities"} onPress={() => show("entities")}>
              Entities
            </Button>
            <Button aria-pressed={view === "relations"} onPress={() => show("relations")}>
              Relations
            </Button>
          </fieldset>
        </div>
        {!isDrawn && (
          <p className={styles.banner}>
            This browser does not provide WebGL, so the graph is shown as tables. Export a picture below.
          </p>
        )}
        {view === "picture" && (
          <Picture
            workspace={workspace}
            state={state}
            loaded={loaded}
            shown={shown}
            graph={graph}
            colourOf={colourOf}
            emphasised={emphasised}
            chosen={chosen}
            onSelect={select}
            onExpand={onExpand}
            onLost={() => setLost(true)}
          />
        )}
        {view === "entities" && (
          <EntityTable
            workspace={workspace}
            shown={shown}
            sort={state.sort}
            selected={selected}
            onSort={(sort) => go({ sort })}
            onSelect={select}
          />
        )}
        {view === "relations" && (
          <RelationTable
            workspace={workspace}
            shown={shown}
            sort={state.sort}
            selected={selected}
            onSort={(sort) => go({ sort })}
            onSelect={select}
          />
        )}
        <Actions workspace={workspace} state={state} loaded={loaded} drawn={drawn} />
      </div>
      {selected && (
        <aside className={styles.aside}>
          <EntityCard
            workspace={workspace}
            id={selected}
            colourOf={colourOf}
            onSelect={select}
            onExpand={() => onExpand(selected)}
            onPath={() => onPathByName(selected)}
            onAlone={() => go({ of: [selected], to: "", each: EACH, min: 0, types: [] }, true)}
          />
        </aside>
      )}
    </div>
  );
}

/** The graph to lay out. What was drawn before stays where it was. */
function useKeptGraph(loaded: Loaded) {
  const before = useRef<ReadonlyMap<string, Point>>(NO_POINTS);
  const graph = useMemo(() => {
    const isSame = loaded.nodes.some((one) => before.current.has(one.id));
    return graphOf(loaded.nodes, loaded.edges, isSame ? before.current : NO_POINTS);
  }, [loaded]);
  useEffect(
    () => () => {
      before.current = positionsOf(graph);
    },
    [graph],
  );
  return graph;
}

/** The entities of the path, in order. */
function PathLine({ workspace, loaded }: { workspace: string; loaded: Loaded }) {
  const { keep } = useFilter();
  const names = new Map(loaded.nodes.map((one) => [one.id, one.name]));
  const way = [...loaded.path].filter((id) => names.has(id));
  return (
    <ol className={styles.path} aria-label="Path">
      {way.map((id) => (
        <li key={id}>
          <Link to={keep(entityPath(workspace, id))}>
            <bdi>{shortened(names.get(id) ?? "", PATH_NAME)}</bdi>
          </Link>
        </li>
      ))}
    </ol>
  );
}

interface PictureProps {
  workspace: string;
  state: GraphState;
  loaded: Loaded;
  shown: Shown;
  graph: ReturnType<typeof graphOf>;
  colourOf: (type: string) => number;
  emphasised: string | null;
  chosen: React.RefObject<boolean>;
  onSelect: (id: string) => void;
  onExpand: (id: string) => void;
  onLost: () => void;
}

const ARROWS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]);

function Picture(props: PictureProps) {
  const { workspace, state, loaded, shown, graph, colourOf, emphasised, chosen, onSelect, onExpand, onLost } =
    props;
  const { selected } = state;
  const navigate = useNavigate();
  const { keep } = useFilter();
  const canvas = useRef<CanvasHandle>(null);
  const frame = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the graph that was chosen
  useEffect(() => {
    if (chosen.current) frame.current?.focus({ preventScroll: true });
    chosen.current = false;
  }, [graph, chosen]);
  const name = loaded.nodes.find((one) => one.id === selected)?.name ?? "";
  const look: Look = {
    shown: shown.nodeIds,
    shownEdges: shown.edgeIds,
    selected: shown.nodeIds.has(selected) ? selected : "",
    named: loaded.centres,
    path: loaded.path,
    colourOf,
    emphasised,
  };
  const move = (direction: Direction) => {
    const to = nextOf(canvas.current, graph, shown, selected, direction);
    if (!to) return;
    onSelect(to);
    canvas.current?.reveal(to);
  };
  useShortcuts({
    f: () => canvas.current?.fit(),
    "+": () => canvas.current?.zoom(1),
    "-": () => canvas.current?.zoom(-1),
  });
  return (
    <div className={styles.frame}>
      <div
        ref={frame}
        className={styles.picture}
        role="application"
        aria-label={`Picture of the graph. Arrow keys go to neighbours, Enter opens an entity. ${name ? `Selected: ${name}.` : "Nothing is selected."} The tables have the same.`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys move through the picture
        tabIndex={0}
        onKeyDown={(event) => {
          if (event.altKey || event.ctrlKey || event.metaKey) return;
          if (ARROWS.has(event.key)) {
            event.preventDefault();
            move(event.key as Direction);
          }
          if (event.key === "Enter" && selected) navigate(keep(entityPath(workspace, selected)));
        }}
      >
        <Suspense fallback={<Loading what="the picture" />}>
          <Canvas
            graph={graph}
            look={look}
            onSelect={onSelect}
            onExpand={onExpand}
            onLost={onLost}
            ref={canvas as Ref<CanvasHandle>}
          />
        </Suspense>
      </div>
      <p className="visually-hidden" role="status">
        {name && `Selected: ${name}`}
      </p>
      <div className={styles.zoom}>
        <Button className="quiet" aria-label="Enlarge (+)" onPress={() => canvas.current?.zoom(1)}>
          <Plus size={18} aria-hidden="true" />
        </Button>
        <Button className="quiet" aria-label="Reduce (-)" onPress={() => canvas.current?.zoom(-1)}>
          <Minus size={18} aria-hidden="true" />
        </Button>
        <Button className="quiet" aria-label="Fit (f)" onPress={() => canvas.current?.fit()}>
          <Maximize size={18} aria-hidden="true" />
        </Button>
      </div>
    </div>
  );
}

/** The neighbour of the selected entity in a direction; of nothing, the first entity that is shown. */
function nextOf(
  canvas: CanvasHandle | null,
  graph: ReturnType<typeof graphOf>,
  shown: Shown,
  selected: string,
  direction: Direction,
): string | null {
  const from = shown.nodeIds.has(selected) ? canvas?.place(selected) : null;
  if (!from) return shown.nodes[0]?.id ?? null;
  const others = graph
    .mapNeighbors(selected, (id) => id)
    .filter((id) => shown.nodeIds.has(id))
    .flatMap((id) => {
      const at = canvas?.place(id);
      return at ? [{ ...at, id }] : [];
    });
  return towards(from, others, direction)?.id ?? null;
}
