// The map of the whole graph: communities as circles, and entities where they are large enough.
import { useQuery } from "@tanstack/react-query";
import { Maximize, Minus, Plus } from "lucide-react";
import { lazy, type Ref, Suspense, useRef, useState } from "react";
import { Button } from "react-aria-components";
import { Link, useSearchParams } from "react-router";
import { useShortcuts } from "../shell/shortcuts";
import { IN_PLACE, viewPath } from "../shell/views";
import { counted, moment, number } from "../text/words";
import { CopyButton } from "../ui/CopyButton";
import { SameAs } from "../ui/SameAs";
import { Empty, Failed, Loading } from "../ui/States";
import styles from "./GraphPage.module.css";
import type { MapHandle } from "./MapCanvas";
import {
  type GraphMap as GraphMapData,
  type MapPlace,
  MOST_ENTITIES,
  mapSummary,
  mapWindow,
  nearest,
  placeOfCircle,
  queryOf,
  readPlace,
  WHOLE,
  windowAt,
  writePlace,
} from "./mapWindow";
import { letterOf, typeName } from "./shown";
import { hasWebGL } from "./webgl";

const MapCanvas = lazy(() => import("./MapCanvas"));

const STEP = 0.25; // of the window that an arrow key moves
const ENLARGED = 1.5;
const ROWS = 200; // of the table at first
const NAMED = 60; // characters
const MOVES: Record<string, [number, number]> = {
  ArrowLeft: [-STEP, 0],
  ArrowRight: [STEP, 0],
  ArrowUp: [0, STEP],
  ArrowDown: [0, -STEP],
};

interface Props {
  workspace: string;
  colourOf: (type: string) => number;
  onChoose: (id: string) => void;
}

export function GraphMap({ workspace, colourOf, onChoose }: Props) {
  const [params, setParams] = useSearchParams();
  const place = readPlace(params);
  const [drawn, setDrawn] = useState(() => windowAt(place)); // what is in view in the picture
  const [isLost, setLost] = useState(false);
  const isDrawn = hasWebGL() && !isLost;
  const isTable = !isDrawn || params.get("view") === "table";
  const isAll = !isTable && params.get("all") === "1";
  const window = isAll ? null : isTable ? windowAt(place) : drawn;
  const found = useQuery(mapWindow(workspace, window));
  const go = (to: MapPlace, view: { table?: boolean; all?: boolean } = {}) => {
    const next = writePlace(to);
    if (view.table ?? params.get("view") === "table") next.set("view", "table");
    if (view.all ?? isAll) next.set("all", "1");
    setParams(next, IN_PLACE);
  };
  useShortcuts({ t: () => isDrawn && go(place, { table: !isTable, all: false }) });
  if (found.isError) return <Failed error={found.error} again={() => found.refetch()} />;
  if (found.isPending) return <Loading what="the map" lines={8} />;
  const map = found.data;
  if (!map) return <NoMap workspace={workspace} />;
  const query = new URLSearchParams(
    Object.entries(queryOf(window)).map(([name, one]) => [name, String(one)]),
  );
  return (
    <section className={styles.main} aria-label="Map" aria-busy={found.isPlaceholderData}>
      <div className={styles.line}>
        <p className="muted" role="status">
          {mapSummary(map)}
          {map.behind && ` The graph has changed since ${moment(map.found)}: `}
          {map.behind && (
            <Link to={viewPath(workspace, "communities")}>find communities again to see all of it</Link>
          )}
        </p>
        <fieldset className={styles.views} aria-label="Shown as">
          {isDrawn && (
            <Button aria-pressed={!isTable && !isAll} onPress={() => go(place, { table: false, all: false })}>
              Map
            </Button>
          )}
          {isDrawn && map.total <= MOST_ENTITIES && (
            <Button aria-pressed={isAll} onPress={() => go(place, { table: false, all: true })}>
              All entities
            </Button>
          )}
          <Button aria-pressed={isTable} onPress={() => go(place, { table: true, all: false })}>
            Table
          </Button>
        </fieldset>
      </div>
      {!isDrawn && (
        <p className={styles.banner}>This browser does not provide WebGL, so the map is shown as a table.</p>
      )}
      {isTable ? (
        <MapTable workspace={workspace} map={map} place={place} onGo={go} onChoose={onChoose} />
      ) : (
        <MapPicture
          map={map}
          place={place}
          colourOf={colourOf}
          onMove={(to, at) => {
            setDrawn(to);
            go(at);
          }}
          onChoose={onChoose}
          onLost={() => setLost(true)}
        />
      )}
      <div className={styles.actions}>
        <CopyButton label="Copy link" text={() => location.href} />
        <SameAs
          command={{ none: "No command draws the map. `trueweave communities` lists the communities on it." }}
          request={`GET /v1/workspaces/${encodeURIComponent(workspace)}/map?${query}`}
        >
          <CopyButton label="Copy the response" text={() => JSON.stringify({ map }, null, 2)} />
        </SameAs>
      </div>
    </section>
  );
}

function NoMap({ workspace }: { workspace: string }) {
  return (
    <Empty title="No map yet">
      <p>The map of the whole graph is drawn from its communities. Find them to see it.</p>
      <Link to={viewPath(workspace, "communities")}>Find communities</Link>
    </Empty>
  );
}

interface PictureProps {
  map: GraphMapData;
  place: MapPlace;
  colourOf: (type: string) => number;
  onMove: React.ComponentProps<typeof MapCanvas>["onMove"];
  onChoose: (id: string) => void;
  onLost: () => void;
}

function MapPicture({ map, place, colourOf, onMove, onChoose, onLost }: PictureProps) {
  const canvas = useRef<MapHandle>(null);
  const [isFocused, setFocused] = useState(false);
  const middle = isFocused ? nearest(map, place.x, place.y) : null;
  const open = () => {
    if (middle?.kind === "entity") onChoose(map.nodes.ids[middle.at] ?? "");
    else if (middle) canvas.current?.goTo(placeOfCircle(map, middle.at));
  };
  useShortcuts({
    f: () => canvas.current?.goTo(WHOLE),
    "+": () => canvas.current?.zoom(ENLARGED),
    "-": () => canvas.current?.zoom(1 / ENLARGED),
  });
  return (
    <>
      <div className={styles.frame}>
        <div
          className={`${styles.picture} ${styles.map}`}
          role="application"
          aria-label="Map of the graph. Arrow keys move it, plus and minus zoom, Enter opens what is in the middle. The table has the same."
          // biome-ignore lint/a11y/noNoninteractiveTabindex: keys move the map
          tabIndex={0}
          onFocus={(event) => setFocused(event.currentTarget.matches(":focus-visible"))}
          onBlur={() => setFocused(false)}
          onKeyDown={(event) => {
            if (event.altKey || event.ctrlKey || event.metaKey) return;
            setFocused(true);
            const move = MOVES[event.key];
            if (!move && event.key !== "Enter") return;
            event.preventDefault();
            if (move) canvas.current?.move(...move);
            else open();
          }}
        >
          <Suspense fallback={<Loading what="the map" />}>
            <MapCanvas
              map={map}
              place={place}
              colourOf={colourOf}
              onMove={onMove}
              onEntity={onChoose}
              onLost={onLost}
              ref={canvas as Ref<MapHandle>}
            />
          </Suspense>
        </div>
        <div className={styles.zoom}>
          <Button className="quiet" aria-label="Enlarge (+)" onPress={() => canvas.current?.zoom(ENLARGED)}>
            <Plus size={18} aria-hidden="true" />
          </Button>
          <Button
            className="quiet"
            aria-label="Reduce (-)"
            onPress={() => canvas.current?.zoom(1 / ENLARGED)}
          >
            <Minus size={18} aria-hidden="true" />
          </Button>
          <Button className="quiet" aria-label="Fit (f)" onPress={() => canvas.current?.goTo(WHOLE)}>
            <Maximize size={18} aria-hidden="true" />
          </Button>
        </div>
        <p className={styles.middle} role="status">
          {middle?.kind === "entity" && (
            <>
              <kbd>Enter</kbd> opens <bdi>{map.nodes.names[middle.at]?.slice(0, NAMED)}</bdi>
            </>
          )}
          {middle?.kind === "circle" && (
            <>
              <kbd>Enter</kbd> enlarges <bdi>{map.circles.titles[middle.at]?.slice(0, NAMED)}</bdi> (
              {counted(map.circles.sizes[middle.at] ?? 0, "entity", "entities")})
            </>
          )}
        </p>
      </div>
      <MapLegend map={map} colourOf={colourOf} />
    </>
  );
}

/** The types of the entities that are drawn, with their colours. */
function MapLegend({ map, colourOf }: { map: GraphMapData; colourOf: (type: string) => number }) {
  const coloured = [...new Set(map.nodes.types)].filter((type) => colourOf(type) > 0);
  if (map.nodes.ids.length === 0) return null;
  return (
    <ul className={styles.mapLegend} aria-label="Types">
      {coloured.map((type) => (
        <li key={type}>
          <span className={styles.dot} data-colour={colourOf(type)} aria-hidden="true">
            {letterOf(type)}
          </span>
          <bdi>{typeName(type)}</bdi>
        </li>
      ))}
      {coloured.length < new Set(map.nodes.types).size && (
        <li>
          <span className={styles.dot} aria-hidden="true" /> other
        </li>
      )}
    </ul>
  );
}

interface TableProps {
  workspace: string;
  map: GraphMapData;
  place: MapPlace;
  onGo: (place: MapPlace) => void;
  onChoose: (id: string) => void;
}

/** What is in view, as rows: communities with their sizes, then entities with the numbers of their relations. */
function MapTable({ workspace, map, place, onGo, onChoose }: TableProps) {
  const [rows, setRows] = useState(ROWS);
  const { circles, nodes } = map;
  const left = circles.ids.length + nodes.ids.length - rows;
  return (
    <>
      {place.z > 1.001 && (
        <div>
          <Button onPress={() => onGo(WHOLE)}>Whole map</Button>
        </div>
      )}
      <table className={styles.table}>
        <caption className="visually-hidden">In view</caption>
        <thead>
          <tr>
            <th scope="col">Community or entity</th>
            <th scope="col">Entities</th>
            <th scope="col">Relations</th>
          </tr>
        </thead>
        <tbody>
          {circles.ids.slice(0, rows).map((id, at) => (
            <tr key={id}>
              <td>
                <Button className={`quiet ${styles.other}`} onPress={() => onGo(placeOfCircle(map, at))}>
                  <bdi>{circles.titles[at] || "Community"}</bdi>
                </Button>{" "}
                <Link to={viewPath(workspace, `community/${id}`)}>Report</Link>
              </td>
              <td className={styles.number}>{number(circles.sizes[at] ?? 0)}</td>
              <td />
            </tr>
          ))}
          {nodes.ids.slice(0, Math.max(0, rows - circles.ids.length)).map((id, at) => (
            <tr key={id}>
              <td>
                <Button className={`quiet ${styles.other}`} onPress={() => onChoose(id)}>
                  <bdi>{nodes.names[at]}</bdi>
                </Button>
              </td>
              <td />
              <td className={styles.number}>{number(nodes.degrees[at] ?? 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && (
        <div>
          <Button onPress={() => setRows(rows + ROWS)}>Show more ({number(left)} left)</Button>
        </div>
      )}
    </>
  );
}
