import type { Schemas } from "../api/client";
import { counted, number, shortened } from "../text/words";
import type { Preview } from "./queries";
import styles from "./ReviewPage.module.css";

type Entity = Schemas["Entity"];
type Relation = Schemas["Relation"];

const MOST_RELATIONS = 6;
const NAME = 80; // characters

/** What a rule would change, in words. */
export function PreviewText({ preview }: { preview: Preview }) {
  const { entities, relations, entities_changed, relations_changed, neighbours_changed } = preview;
  if (entities_changed + relations_changed === 0) return <p className="muted">Nothing would change.</p>;
  const more = entities_changed - entities.length;
  return (
    <ul className={styles.changes}>
      {entities.map(({ before, after }) => (
        <li key={(before ?? after)?.id}>
          <EntityLine before={before ?? null} after={after ?? null} />
        </li>
      ))}
      {more > 0 && <li>{counted(more, "more entity", "more entities")}</li>}
      {relations_changed > 0 && (
        <li>
          {counted(relations_changed, "relation changes", "relations change")}
          <ul>
            {relations.slice(0, MOST_RELATIONS).map(({ before, after }) => (
              <li key={(before ?? after)?.id}>
                <RelationLine before={before ?? null} after={after ?? null} />
              </li>
            ))}
            {relations_changed > MOST_RELATIONS && (
              <li>and {number(relations_changed - MOST_RELATIONS)} more</li>
            )}
          </ul>
        </li>
      )}
      {neighbours_changed > 0 && (
        <li>
          {counted(neighbours_changed, "other entity has", "other entities have")} more or fewer relations
        </li>
      )}
    </ul>
  );
}

const about = (one: Entity): string =>
  `${one.type ? `${one.type}, ` : ""}${counted(one.count, "mention")}, ${counted(one.degree, "relation")}`;

function EntityLine({ before, after }: { before: Entity | null; after: Entity | null }) {
  if (before && after) {
    return (
      <>
        <strong>
          <bdi>{shortened(after.name, NAME)}</bdi>
        </strong>{" "}
        {before.name !== after.name && (
          <>
            instead of <bdi>{shortened(before.name, NAME)}</bdi>
          </>
        )}{" "}
        ({about(before)} → {about(after)})
        {before.description !== after.description && <span> with another description</span>}
      </>
    );
  }
  const one = (before ?? after) as Entity;
  return (
    <>
      <strong>
        <bdi>{shortened(one.name, NAME)}</bdi>
      </strong>{" "}
      ({about(one)}) {before ? "is no longer an entity of its own" : "becomes an entity of its own"}
    </>
  );
}

function RelationLine({ before, after }: { before: Relation | null; after: Relation | null }) {
  const one = (after ?? before) as Relation;
  const weight = (of: Relation): string => number(Math.round(of.weight * 10) / 10);
  const said = [
    !before && `new, weight ${weight(one)}`,
    !after && "removed",
    before && after && before.weight !== after.weight && `weight ${weight(before)} → ${weight(after)}`,
    before && after && before.type !== after.type && `type ${after.type}`,
    before && after && before.description !== after.description && "another description",
  ].filter(Boolean);
  return (
    <>
      <bdi>{shortened(one.source_name, NAME)}</bdi> → <bdi>{shortened(one.target_name, NAME)}</bdi>
      {said.length > 0 && `: ${said.join(", ")}`}
    </>
  );
}
