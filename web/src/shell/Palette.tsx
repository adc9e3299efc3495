// The command palette: everything that can be done from here, found by typing.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  Autocomplete,
  Dialog,
  Input,
  Menu,
  MenuItem,
  Modal,
  ModalOverlay,
  SearchField,
  useFilter,
} from "react-aria-components";
import { useNavigate, useParams } from "react-router";
import { asProblem } from "../api/client";
import { suggestions, workspaces } from "../api/queries";
import { recentQuestions } from "../ask/recent";
import { entityPath } from "../entity/address";
import { documentPath } from "../reader/address";
import popup from "../ui/Popup.module.css";
import { useAfterPause } from "../ui/useAfterPause";
import styles from "./Palette.module.css";
import { setTheme } from "./preferences";
import { VIEWS, viewPath } from "./views";

interface Action {
  id: string;
  text: string;
  kind: string;
  act: () => void;
}

interface Props {
  onClose: () => void;
  showHelp: () => void;
}

export default function Palette({ onClose, showHelp }: Props) {
  return (
    <ModalOverlay
      className={popup.overlay ?? ""}
      isOpen
      onOpenChange={(now) => !now && onClose()}
      isDismissable
    >
      <Modal className={popup.modal ?? ""}>
        <Dialog aria-label="Commands" className={styles.palette ?? ""}>
          <Actions onClose={onClose} showHelp={showHelp} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Actions({ onClose, showHelp }: Props) {
  const { ws = "" } = useParams();
  const navigate = useNavigate();
  const { contains } = useFilter({ sensitivity: "base" });
  const { data: known = [] } = useQuery(workspaces);
  const [input, setInput] = useState("");
  const text = input.trim();
  const sought = useAfterPause(text);
  const suggested = useQuery({
    ...suggestions(ws, sought),
    enabled: ws !== "" && sought !== "",
    placeholderData: keepPreviousData,
  });
  const found = text && ws ? suggested.data : undefined;
  const ask = (question: string) =>
    navigate(`${viewPath(ws, "ask")}?${new URLSearchParams({ q: question })}`);
  const compare = (question: string) =>
    navigate(`${viewPath(ws, "compare")}?${new URLSearchParams({ q: question })}`);

  const asking: Action[] =
    ws && text
      ? [
          { id: "ask", text: `Ask: ${text}`, kind: "question", act: () => ask(text) },
          { id: "compare", text: `Compare methods: ${text}`, kind: "question", act: () => compare(text) },
        ]
      : [];
  const entities = (found?.entities ?? []).map((one) => ({
    id: `entity ${one.id}`,
    text: one.name,
    kind: one.type ? `entity, ${one.type}` : "entity",
    act: () => navigate(entityPath(ws, one.id)),
  }));
  const documents = (found?.documents ?? []).map((one) => ({
    id: `document ${one.uri}`,
    text: one.title && one.title !== one.uri ? `${one.uri} (${one.title})` : one.uri,
    kind: "document",
    act: () => navigate(documentPath(ws, one.uri)),
  }));
  const views = (ws ? VIEWS : []).map((view) => ({
    id: `view ${view.path}`,
    text: `Go to ${view.name}`,
    kind: "view",
    act: () => navigate(viewPath(ws, view.path)),
  }));
  const others: Action[] = [
    ...known.map((one) => ({
      id: `workspace ${one.name}`,
      text: one.name,
      kind: "workspace",
      act: () => navigate(viewPath(one.name, "ask")),
    })),
    ...(ws ? recentQuestions(ws) : []).map((question) => ({
      id: `recent ${question}`,
      text: question,
      kind: "recent question",
      act: () => ask(question),
    })),
    { id: "help", text: "Show the keyboard shortcuts", kind: "command", act: showHelp },
    { id: "light", text: "Use light colours", kind: "command", act: () => setTheme("light") },
    { id: "dark", text: "Use dark colours", kind: "command", act: () => setTheme("dark") },
    { id: "system", text: "Use the colours of the system", kind: "command", act: () => setTheme("system") },
    { id: "workspaces", text: "Go to the workspaces", kind: "view", act: () => navigate("/?all") },
  ];
  const matching = (some: Action[]) => some.filter((one) => contains(one.text, text));
  const actions = [...asking, ...matching(views), ...entities, ...documents, ...matching(others)];
  const run = (id: string) => {
    onClose();
    actions.find((one) => one.id === id)?.act();
  };
  return (
    <Autocomplete inputValue={input} onInputChange={setInput}>
      <SearchField aria-label="Search commands, entities, documents and questions" autoFocus>
        <Input
          className={styles.input ?? ""}
          placeholder="Type a command, a name, a document or a question"
        />
      </SearchField>
      <Menu
        className={styles.menu ?? ""}
        aria-label="Commands"
        items={actions}
        dependencies={[actions]}
        onAction={(id) => run(String(id))}
        renderEmptyState={() => <p className={styles.none}>No command contains these words.</p>}
      >
        {(one) => (
          <MenuItem id={one.id} textValue={one.text} className={styles.item ?? ""}>
            <span className={styles.text} dir="auto">
              {one.text}
            </span>
            <span className={styles.kind}>{one.kind}</span>
          </MenuItem>
        )}
      </Menu>
      {suggested.isError && (
        <p className={styles.none} role="status">
          Entities and documents cannot be searched: {asProblem(suggested.error).message}
        </p>
      )}
    </Autocomplete>
  );
}
