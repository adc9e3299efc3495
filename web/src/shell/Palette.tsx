// The command palette: everything that can be done from here, found by typing.
import { useQuery } from "@tanstack/react-query";
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
import { workspaces } from "../api/queries";
import { recentQuestions } from "../ask/recent";
import popup from "../ui/Popup.module.css";
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
  const { ws } = useParams();
  const navigate = useNavigate();
  const { contains } = useFilter({ sensitivity: "base" });
  const { data: known = [] } = useQuery(workspaces);
  const [text, setText] = useState("");
  const ask = (question: string) =>
    navigate(`${viewPath(ws ?? "", "ask")}?${new URLSearchParams({ q: question })}`);
  const actions: Action[] = [
    ...(ws && text.trim()
      ? [{ id: "ask", text: `Ask: ${text.trim()}`, kind: "question", act: () => ask(text.trim()) }]
      : []),
    ...(ws ? VIEWS : []).map((view) => ({
      id: `view ${view.path}`,
      text: `Go to ${view.name}`,
      kind: "view",
      act: () => navigate(viewPath(ws ?? "", view.path)),
    })),
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
  const run = (id: string) => {
    onClose();
    actions.find((one) => one.id === id)?.act();
  };
  return (
    <Autocomplete
      inputValue={text}
      onInputChange={setText}
      filter={(value, input) => contains(value, input.trim())}
    >
      <SearchField aria-label="Search commands, workspaces and questions" autoFocus>
        <Input className={styles.input ?? ""} placeholder="Type a command, a workspace or a question" />
      </SearchField>
      <Menu
        className={styles.menu ?? ""}
        aria-label="Commands"
        items={actions}
        dependencies={[text]}
        onAction={(id) => run(String(id))}
        renderEmptyState={() => <p className={styles.none}>No command contains these words.</p>}
      >
        {(one) => (
          <MenuItem id={one.id} textValue={one.text} className={styles.item ?? ""}>
            <span className={styles.text}>{one.text}</span>
            <span className={styles.kind}>{one.kind}</span>
          </MenuItem>
        )}
      </Menu>
    </Autocomplete>
  );
}
