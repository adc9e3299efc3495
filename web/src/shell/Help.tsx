import { Popup } from "../ui/Popup";
import { Toggle } from "../ui/Toggle";
import styles from "./Help.module.css";
import { setSingleKeys, useSingleKeys } from "./preferences";
import { VIEWS } from "./views";

const KEYS: [string, [string[], string][]][] = [
  [
    "Everywhere",
    [
      [["Ctrl K"], "Open the commands"],
      [["?"], "Show this help"],
      [["/"], "Go to the question, the search or the filter"],
      [["g", "w"], "Go to the workspaces"],
      ...VIEWS.map((view): [string[], string] => [["g", view.key], `Go to ${view.name}`]),
      [["Esc"], "Close what is open"],
    ],
  ],
  [
    "In an answer",
    [
      [["j"], "Next sentence"],
      [["k"], "Previous sentence"],
      [["]"], "Next sentence with a citation"],
      [["["], "Previous sentence with a citation"],
      [["Enter"], "Go to the cited words, then to the document"],
      [["Backspace"], "Back to the answer"],
    ],
  ],
  [
    "In a comparison",
    [
      [["1"], "Go to the first column; 2 to 4: to the others"],
      [["x"], "Exchange the column with the next"],
    ],
  ],
  [
    "In the graph",
    [
      [["←"], "Go to the neighbour on the left; the other arrows: to the others"],
      [["Enter"], "Open the page of the selected entity"],
      [["e"], "Show the 20 heaviest neighbours of the selected entity"],
      [["p"], "Find a path from the selected entity to another"],
      [["f"], "Fit the graph to its frame"],
      [["+"], "Enlarge; -: reduce"],
      [["t"], "Show the graph as a table, or as a picture"],
    ],
  ],
  [
    "In the list of documents",
    [
      [["a"], "Add files"],
      [["Space"], "Select"],
      [["Del"], "Delete what is selected"],
      [["r"], "Retry what is selected and failed"],
    ],
  ],
  [
    "In a document",
    [
      [["n"], "Next citation or mention"],
      [["p"], "Previous citation or mention"],
      [["o"], "Go to the outline"],
      [["Enter"], "On a mention: open the page of its entity"],
    ],
  ],
  [
    "In a review",
    [
      [["m"], "Merge"],
      [["n"], "Not the same"],
      [["s"], "Skip"],
      [["u"], "Undo"],
      [["1"], "Open the first entity; 2: the second"],
    ],
  ],
  [
    "In a run of the bench",
    [
      [["j"], "Open the next question"],
      [["k"], "Open the previous question"],
    ],
  ],
  [
    "On the page of an entity or relation",
    [
      [["n"], "Next mention"],
      [["p"], "Previous mention"],
      [["Enter"], "Open the document there"],
    ],
  ],
];

/** The keyboard shortcuts, and a switch for those of a single letter. */
export default function Help({ onClose }: { onClose: () => void }) {
  const on = useSingleKeys();
  return (
    <Popup title="Keyboard shortcuts" open onClose={onClose}>
      {KEYS.map(([title, keys]) => (
        <section key={title} className={styles.group}>
          <h2>{title}</h2>
          <dl>
            {keys.map(([pressed, does]) => (
              <div key={does}>
                <dt>
                  {pressed.map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <Toggle on={on} onChange={setSingleKeys}>
        Shortcuts of a single character
      </Toggle>
    </Popup>
  );
}
