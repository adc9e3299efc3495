// Before anything is added: what will happen, what it costs, and a cap.
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "react-aria-components";
import { spend as spendQuery } from "../api/queries";
import { bytes, counted, money, number } from "../text/words";
import { Popup } from "../ui/Popup";
import { type Cap, isFree, SpendingLimit } from "../ui/SpendingLimit";
import { Failed } from "../ui/States";
import styles from "./DocumentsPage.module.css";
import type { Estimate } from "./estimates";
import type { NamedFile } from "./files";
import { NotUsed } from "./UploadPanel";
import type { Upload, UploadState } from "./uploads";

const MOST_SHOWN = 200; // names of files

interface Props {
  upload: Upload;
  state: UploadState;
  workspace: string;
  isAdmin: boolean;
}

export function EstimateDialog({ upload, state, workspace, isAdmin }: Props) {
  const { phase, files, done, estimate, error, told } = state;
  const open = phase === "estimating" || phase === "ready";
  return (
    <Popup title={`Add ${counted(files.length, "file")}`} open={open} onClose={() => upload.clear()}>
      {phase === "estimating" && (
        <>
          <p role="status">
            Reading what is in them: {number(done)} of {counted(files.length, "file")} done. Nothing is added
            yet.
          </p>
          <progress className={styles.progress} value={done} max={files.length} aria-label="Files read" />
        </>
      )}
      {error !== null && <Failed error={error} again={() => upload.estimate()} />}
      <NotUsed told={told} />
      {phase === "ready" && estimate && (
        <Plan
          estimate={estimate}
          workspace={workspace}
          isAdmin={isAdmin}
          onAdd={(cap) => upload.send(cap)}
          onCancel={() => upload.clear()}
        />
      )}
      {phase === "ready" && !estimate && error === null && <p>None of these files can be added.</p>}
      <FileList files={files} />
    </Popup>
  );
}

function FileList({ files }: { files: NamedFile[] }) {
  if (files.length === 0) return null;
  return (
    <details className={styles.files}>
      <summary>{counted(files.length, "file")}</summary>
      <ul>
        {files.slice(0, MOST_SHOWN).map(({ uri, file }) => (
          <li key={uri}>
            <bdi>{uri}</bdi> <span className="muted">{bytes(file.size)}</span>
          </li>
        ))}
      </ul>
      {files.length > MOST_SHOWN && <p>and {number(files.length - MOST_SHOWN)} more</p>}
    </details>
  );
}

interface PlanProps {
  estimate: Estimate;
  workspace: string;
  isAdmin: boolean;
  onAdd: (cap: Cap) => void;
  onCancel: () => void;
}

function Plan({ estimate, workspace, isAdmin, onAdd, onCancel }: PlanProps) {
  const { data: spent } = useQuery(spendQuery(workspace));
  const [cap, setCap] = useState<Cap>(null);
  const currency = spent?.currency ?? "USD";
  if (estimate.documents === 0) {
    return (
      <>
        <p>
          {estimate.unchanged > 0
            ? `There is nothing to add: ${counted(estimate.unchanged, "document is", "documents are")} in the workspace already, unchanged.`
            : "None of these files can be read."}
        </p>
        <Button onPress={onCancel}>Close</Button>
      </>
    );
  }
  const add = (event: FormEvent) => {
    event.preventDefault();
    onAdd(cap);
  };
  return (
    <form onSubmit={add}>
      <dl className={styles.numbers}>
        <Count name="new or changed documents" value={estimate.documents} />
        {estimate.unchanged > 0 && <Count name="unchanged, left as they are" value={estimate.unchanged} />}
        {estimate.unreadable > 0 && <Count name="cannot be read" value={estimate.unreadable} />}
        <Count name="chunks" value={estimate.chunks} />
      </dl>
      <p>A document that has the same URI as one of these is replaced.</p>
      <Extraction estimate={estimate} currency={currency} />
      <Pictures estimate={estimate} currency={currency} />
      <Embedding estimate={estimate} currency={currency} />
      {estimate.notes.map((note) => (
        <p key={note} className={styles.note}>
          {note}
        </p>
      ))}
      {estimate.calls > 0 && (
        <SpendingLimit
          workspace={workspace}
          estimate={estimate}
          currency={currency}
          isAdmin={isAdmin}
          cap={cap}
          onChange={setCap}
        />
      )}
      <div className={styles.dialogButtons}>
        <Button type="submit" className="primary">
          Add {counted(estimate.documents, "document")}
        </Button>
        <Button onPress={onCancel}>Cancel</Button>
      </div>
    </form>
  );
}

function Count({ name, value }: { name: string; value: number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{number(value)}</dd>
    </div>
  );
}

const EXTRACTORS: Record<string, string> = {
  capitals: "recognised by capitalisation",
  nlp: "found by a language pipeline on the server",
};

/** Who finds names and relations, and what that costs. */
function Extraction({ estimate, currency }: { estimate: Estimate; currency: string }) {
  const { model, extractor, calls, tokens_in, tokens_out, answered, price, most_price } = estimate;
  if (!model) {
    const how = EXTRACTORS[extractor] ?? `found by the extractor ${extractor}`;
    return (
      <p>
        No language model is used, so nothing is spent: names are {how}. A model finds more names, and how
        they relate. The server's administrator sets one in <code>trueweave.toml</code>.
      </p>
    );
  }
  return (
    <>
      <p>
        Names and relations are found by <code>{model}</code>: {counted(calls, "call")}, {number(tokens_in)}{" "}
        tokens in, about {number(tokens_out)} out.
        {answered > 0 &&
          ` ${counted(answered, "chunk has", "chunks have")} a stored reply, and cost nothing.`}
      </p>
      <p className={styles.price}>
        {price === null && "What this costs is not known: the server has no price for this model."}
        {price !== null &&
          (isFree(most_price)
            ? "This model costs nothing."
            : `About ${money(price, currency)}, at most ${money(most_price, currency)}.`)}
      </p>
    </>
  );
}

function Pictures({ estimate, currency }: { estimate: Estimate; currency: string }) {
  const { pictures, vision_model, vision_price } = estimate;
  if (!pictures) return null;
  const cost =
    vision_price === null
      ? ", at a price that the server does not know"
      : isFree(vision_price)
        ? ""
        : `: about ${money(vision_price, currency)}`;
  return (
    <p>
      {counted(pictures, "picture is", "pictures are")} described by <code>{vision_model}</code>
      {cost}.
    </p>
  );
}

function Embedding({ estimate, currency }: { estimate: Estimate; currency: string }) {
  const { embedding_model, embedding_price } = estimate;
  if (!embedding_model)
    return <p>There is no embedding model: questions are searched by words and names, not by meaning.</p>;
  const cost =
    embedding_price === null || isFree(embedding_price) ? "" : `: ${money(embedding_price, currency)}`;
  return (
    <p>
      Vectors are computed by <code>{embedding_model}</code>
      {cost}.
    </p>
  );
}
