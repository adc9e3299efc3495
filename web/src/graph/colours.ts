// The colours of the style sheet, for what is drawn without it.

export interface Colours {
  ink: string;
  paper: string;
  line: string;
  /** The colour of relations, and of those of the selected entity. */
  relation: string;
  selectedRelation: string;
  indigo: string;
  /** The colour of a community on the map. */
  circle: string;
  pathColour: string;
  /** The colour of types without one of their own, then those of the seven most frequent. */
  types: string[];
}

/** The colours as they are now, light or dark. */
export function readColours(): Colours {
  const style = getComputedStyle(globalThis.document.documentElement);
  const token = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: token("ink"),
    paper: token("card"),
    line: token("line"),
    relation: mixed(token("line"), token("edge")),
    selectedRelation: token("ink3"),
    indigo: token("indigo"),
    circle: mixed(token("indigo-soft"), mixed(token("indigo-soft"), token("indigo"))),
    pathColour: token("link-line"),
    types: ["other", 1, 2, 3, 4, 5, 6, 7].map((one) => token(`type-${one}`)),
  };
}

/** The colour half-way between two, each as in #1e1b16. */
function mixed(a: string, b: string): string {
  const parts = (colour: string) => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  const [one, other] = [parts(a), parts(b)];
  return `#${one
    .map((part, at) =>
      Math.round((part + (other[at] ?? part)) / 2)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}
