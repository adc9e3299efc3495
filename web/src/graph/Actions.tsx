// What can be done with the shown graph: save it as a file, or see the same as a command or as a request.
import { Download } from "lucide-react";
import { useState } from "react";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { CopyButton } from "../ui/CopyButton";
import { SameAs } from "../ui/SameAs";
import { Failed } from "../ui/States";
import type { GraphState } from "./address";
import { type Drawn, entitiesCsv, graphmlOf, pngOf, relationsCsv, save, svgOf } from "./files";
import { commandsOf, requestsOf } from "./forms";
import styles from "./GraphPage.module.css";
import type { Loaded } from "./shown";

const FILES: [string, string, (drawn: Drawn) => Blob | Promise<Blob>][] = [
  ["PNG picture", "graph.png", (drawn) => pngOf(svgOf(drawn))],
  ["SVG drawing", "graph.svg", (drawn) => text(svgOf(drawn), "image/svg+xml")],
  ["GraphML", "graph.graphml", (drawn) => text(graphmlOf(drawn), "application/graphml+xml")],
  ["CSV of the entities", "entities.csv", (drawn) => text(entitiesCsv(drawn), "text/csv")],
  ["CSV of the relations", "relations.csv", (drawn) => text(relationsCsv(drawn), "text/csv")],
];

const text = (content: string, type: string): Blob => new Blob([content], { type: `${type};charset=utf-8` });

interface Props {
  workspace: string;
  state: GraphState;
  loaded: Loaded;
  /** The graph with its places and colours, as it is now. */
  drawn: () => Drawn;
}

export function Actions({ workspace, state, loaded, drawn }: Props) {
  const [failure, setFailure] = useState<unknown>(null);
  const write = async (name: string) => {
    setFailure(null);
    const [, file, make] = FILES.find(([title]) => title === name) ?? [];
    if (!file || !make) return;
    try {
      save(`${workspace}-${file}`, await make(drawn()));
    } catch (error) {
      setFailure(error);
    }
  };
  return (
    <div className={styles.actions}>
      <MenuTrigger>
        <Button className="quiet">
          <Download size={16} aria-hidden="true" /> Export
        </Button>
        <Popover className={styles.popover ?? ""}>
          <Menu
            aria-label="Export as"
            className={styles.menu ?? ""}
            onAction={(name) => write(String(name))}
            items={FILES.map(([id]) => ({ id }))}
          >
            {({ id }) => (
              <MenuItem id={id} className={styles.suggestion ?? ""}>
                {id}
              </MenuItem>
            )}
          </Menu>
        </Popover>
      </MenuTrigger>
      <CopyButton label="Copy link" text={() => location.href} />
      <SameAs command={commandsOf(workspace, state)} request={requestsOf(workspace, state)}>
        <CopyButton
          label="Copy the response"
          text={() => JSON.stringify({ nodes: loaded.nodes, edges: loaded.edges }, null, 2)}
        />
      </SameAs>
      {failure !== null && <Failed error={failure} />}
    </div>
  );
}
