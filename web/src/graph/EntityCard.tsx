import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { Button } from "react-aria-components";
import { Link } from "react-router";
import { asProblem } from "../api/client";
import { useFilter } from "../ask/useFilter";
import { entityPath, relationPath } from "../entity/address";
import { counted, number, shortened } from "../text/words";
import { Failed, Loading } from "../ui/States";
import styles from "./GraphPage.module.css";
import { letterOf, typeName } from "./shown";
import { entityDetails } from "./useGraph";

const DESCRIPTION = 280; // characters
const ALIASES = 8;

interface Props {
  workspace: string;
  id: string;
  colourOf: (type: string) => number;
  onSelect: (id: string) => void;
  onExpand: () => void;
  onPath: () => void;
  onAlone: () => void;
}

/** The selected entity: what it is, what else it is called, and its heaviest relations. */
export function EntityCard({ workspace, id, colourOf, onSelect, onExpand, onPath, onAlone }: Props) {
  const { text, keep } = useFilter();
  const { data, isError, error, refetch } = useQuery(entityDetails(workspace, id, text));
  const isGone = isError && asProblem(error).status === 404;
  const entity = data?.entity;
  return (
    <section className={`card ${styles.card}`} aria-label="Selected entity">
      <div className={styles.cardHead}>
        <h2 dir="auto">{entity?.name ?? (isError ? "Not found" : "Loading…")}</h2>
        <Button className="quiet" aria-label="Close" onPress={() => onSelect("")}>
          <X size={18} aria-hidden="true" />
        </Button>
      </div>
      {isGone && (
        <p>
          {text
            ? "No document that passes the filter mentions this entity."
            : "This entity no longer exists: its documents were removed, or it was merged with another. Search for its name above."}
        </p>
      )}
      {isError && !isGone && <Failed error={error} again={() => refetch()} />}
      {!data && !isError && <Loading what="the entity" />}
      {entity && data && (
        <>
          <p className={styles.kind}>
            <span className={styles.dot} data-colour={colourOf(entity.type)} aria-hidden="true">
              {letterOf(entity.type)}
            </span>
            <bdi>{typeName(entity.type)}</bdi> · {counted(entity.count, "mention")} ·{" "}
            {counted(entity.degree, "relation")}
          </p>
          <div className={styles.cardActions}>
            <Link className={styles.open} to={keep(entityPath(workspace, entity.id))}>
              Open its page
            </Link>
            <Button onPress={onExpand}>Expand</Button>
            <Button onPress={onPath}>Path from here</Button>
            <Button onPress={onAlone}>Show alone</Button>
          </div>
          {(entity.summary || entity.description) && (
            <p dir="auto">{shortened(entity.summary || entity.description, DESCRIPTION)}</p>
          )}
          {entity.aliases.length > 0 && (
            <>
              <h3>Also called</h3>
              <p>
                {entity.aliases.slice(0, ALIASES).map((name) => (
                  <bdi key={name} className={styles.alias}>
                    {shortened(name, 80)}
                  </bdi>
                ))}
                {entity.aliases.length > ALIASES && ` and ${number(entity.aliases.length - ALIASES)} more`}
              </p>
            </>
          )}
          {data.relations.length > 0 && (
            <>
              <h3>
                {data.relations.length < entity.degree
                  ? `The ${number(data.relations.length)} heaviest of ${counted(entity.degree, "relation")}`
                  : "Relations"}
              </h3>
              <ul className={styles.relations}>
                {data.relations.map((one) => {
                  const isSource = one.source === entity.id;
                  const [other, name] = isSource
                    ? [one.target, one.target_name]
                    : [one.source, one.source_name];
                  return (
                    <li key={one.id}>
                      <Link to={keep(relationPath(workspace, one.id))}>
                        <bdi>{shortened(one.type || "related", 40)}</bdi>
                      </Link>
                      <span className="visually-hidden">{isSource ? " to " : " from "}</span>
                      <span aria-hidden="true">{isSource ? "→" : "←"}</span>
                      <Button className={`quiet ${styles.other}`} onPress={() => onSelect(other)}>
                        <bdi>{shortened(name, 60)}</bdi>
                      </Button>
                      <span className={styles.weight} title="weight">
                        {number(one.weight)}
                      </span>
                    </li>
                  );
                })}
              </ul>
            </>
          )}
        </>
      )}
    </section>
  );
}
