// Chooses the passages that an answer rests on: of those that were found, and by searching the workspace.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../api/client";
import { placeOf } from "../ask/Evidence";
import { Folded } from "../ui/Folded";
import { Failed, Loading } from "../ui/States";
import { useAfterPause } from "../ui/useAfterPause";
import styles from "./Bench.module.css";
import { searchQuery } from "./queries";

/** A passage that can be chosen. Without a chunk, it is a whole document. */
export interface Candidate {
  uri: string;
  chunk: string | null;
  place: string;
  text: string;
}

const LONGEST = 240; // characters

/** A passage that was found, with its rank from 0. */
export const candidateOf = (passage: Schemas["Passage"], rank: number): Candidate => ({
  uri: passage.uri,
  chunk: passage.id,
  place: `${rank + 1}. ${placeOf(passage)}`,
  text: passage.text,
});

export const keyOf = ({ uri, chunk }: Candidate): string => `${chunk ?? ""} ${uri}`;

interface Props {
  workspace: string;
  /** What can be chosen without searching. */
  offered: Candidate[];
  chosen: Candidate[];
  onChange: (to: Candidate[]) => void;
}

export function PassagePicker({ workspace, offered, chosen, onChange }: Props) {
  const [text, setText] = useState("");
  const sought = useAfterPause(text.trim());
  const found = useQuery({ ...searchQuery(workspace, sought), enabled: sought !== "" });
  const keys = new Set(chosen.map(keyOf));
  const listed = sought ? (found.data ?? []).map(candidateOf) : offered;
  // What was chosen once stays in the list, so that it can be chosen again.
  const [ever, setEver] = useState(chosen);
  const kept = ever.filter((one) => !listed.some((other) => keyOf(other) === keyOf(one)));
  const change = (one: Candidate, on: boolean) => {
    if (!ever.some((other) => keyOf(other) === keyOf(one))) setEver([...ever, one]);
    onChange(on ? [...chosen, one] : chosen.filter((other) => keyOf(other) !== keyOf(one)));
  };
  return (
    <fieldset>
      <legend>Right passages ({chosen.length} chosen)</legend>
      <div className={styles.search}>
        <label>
          <span className="visually-hidden">Search for passages</span>
          <input
            type="search"
            value={text}
            placeholder={offered.length > 0 ? "Not among these? Search for others" : "Search for passages"}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
      </div>
      {sought && found.isError && <Failed error={found.error} again={() => found.refetch()} />}
      {sought && found.isPending && <Loading what="passages" />}
      {sought && found.data?.length === 0 && <p className="muted">No passage matches.</p>}
      {kept.length + listed.length > 0 && (
        <ul className={styles.choices}>
          {[...kept, ...listed].map((one) => (
            <li key={keyOf(one)}>
              <label className={styles.choice}>
                <input
                  type="checkbox"
                  checked={keys.has(keyOf(one))}
                  onChange={(event) => change(one, event.target.checked)}
                />
                <bdi>{one.place}</bdi>
              </label>
              {one.text && <Folded text={one.text} most={LONGEST} className={styles.excerpt} />}
            </li>
          ))}
        </ul>
      )}
    </fieldset>
  );
}
