import { useState } from "react";
import { Button } from "react-aria-components";
import { api, dataOf } from "../api/client";
import { counted, number } from "../text/words";
import { Popup } from "../ui/Popup";
import { Failed } from "../ui/States";
import styles from "./DocumentsPage.module.css";
import type { Listed } from "./DocumentTable";

const MOST_SHOWN = 10;
const MOST_AT_ONCE = 1000; // that the server takes

interface Props {
  workspace: string;
  documents: Listed[];
  onClose: () => void;
  /** Called with a sentence on what was deleted. */
  onDeleted: (text: string) => void;
}

/** Asks before documents are deleted, and says what goes with them. */
export function DeleteDialog({ workspace, documents, onClose, onDeleted }: Props) {
  // The list may change behind the dialog: what was agreed to is what is deleted.
  const [uris] = useState(() => documents.map((one) => one.uri));
  const isOne = uris.length === 1;
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const remove = async () => {
    setBusy(true);
    setError(null);
    try {
      const params = { path: { workspace } };
      let removed = 0;
      for (let at = 0; at < uris.length; at += MOST_AT_ONCE) {
        const body = { erase: false, uris: uris.slice(at, at + MOST_AT_ONCE) };
        const path = "/v1/workspaces/{workspace}/documents/delete";
        removed += (await dataOf(api.POST(path, { params, body }))).removed;
      }
      onDeleted(removedText(removed, uris.length));
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <Popup title={`Delete ${counted(uris.length, "document")}?`} open onClose={onClose}>
      <ul className={styles.told}>
        {uris.slice(0, MOST_SHOWN).map((uri) => (
          <li key={uri}>
            <bdi>{uri}</bdi>
          </li>
        ))}
        {uris.length > MOST_SHOWN && <li>and {number(uris.length - MOST_SHOWN)} more</li>}
      </ul>
      <p>
        {isOne ? "Its" : "Their"} text is erased everywhere, with all entities and relations that no other
        document states. Answers no longer cite {isOne ? "it" : "them"}. Your own files are not touched. This
        cannot be undone, but files can be added again.
      </p>
      {error !== null && <Failed error={error} />}
      <div className={styles.dialogButtons}>
        <Button className={styles.danger ?? ""} onPress={remove} isDisabled={busy}>
          {busy ? "Deleting…" : "Delete"}
        </Button>
        <Button onPress={onClose} autoFocus>
          Cancel
        </Button>
      </div>
    </Popup>
  );
}

/** "2 documents deleted; 1 was already removed." */
export function removedText(removed: number, asked: number): string {
  const gone = asked - removed;
  return gone > 0
    ? `${counted(removed, "document")} deleted; ${counted(gone, "document was", "documents were")} already removed.`
    : `${counted(removed, "document")} deleted.`;
}
