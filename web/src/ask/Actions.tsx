// What can be done with an answer: ask on, copy it, or see the same as a command or as a request.
import { type FormEvent, useState } from "react";
import { Button } from "react-aria-components";
import { Link } from "react-router";
import type { Answer, Question } from "../api/ask";
import type { Schemas } from "../api/client";
import { viewPath } from "../shell/views";
import { CopyButton } from "../ui/CopyButton";
import { SameAs } from "../ui/SameAs";
import styles from "./AskPage.module.css";
import { type AskState, writeAddress } from "./address";
import { commandOf, markdownOf } from "./forms";
import { WrongAnswer } from "./WrongAnswer";

interface Props {
  workspace: string;
  state: AskState;
  question: Question | null;
  /** The question in the words that it was searched by; empty if these are its own. */
  searched: string;
  answer: Answer | null;
  /** The passages that the search found. */
  passages: Schemas["Passage"][];
  onFollow: ((text: string) => void) | null;
}

export function Actions({ workspace, state, question, searched, answer, passages, onFollow }: Props) {
  // A link is asked without the conversation, so it has the question that stands alone.
  const alone = { ...state, question: searched || state.question };
  const link = () => `${location.origin}/ui${viewPath(workspace, "ask")}?${writeAddress(alone)}`;
  const compared = writeAddress({ question: alone.question, filter: state.filter });
  return (
    <>
      <div className={styles.actions}>
        {answer?.answer && <CopyButton label="Copy as Markdown" text={() => markdownOf(answer)} />}
        <CopyButton label="Copy link" text={link} />
        <Link className="quiet" to={`${viewPath(workspace, "compare")}?${compared}`}>
          Compare methods
        </Link>
        <WrongAnswer workspace={workspace} question={alone.question} passages={passages} />
        <SameAs
          command={commandOf(workspace, alone)}
          request={`POST /v1/workspaces/${workspace}/ask`}
          body={question}
        >
          {answer && <CopyButton label="Copy the response" text={() => JSON.stringify(answer, null, 2)} />}
        </SameAs>
      </div>
      {onFollow && <FollowUp onFollow={onFollow} />}
    </>
  );
}

function FollowUp({ onFollow }: { onFollow: (text: string) => void }) {
  const [text, setText] = useState("");
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (!text.trim()) return;
    onFollow(text.trim());
    setText("");
  };
  return (
    <form className={styles.follow} onSubmit={send}>
      <input
        aria-label="Follow-up question"
        placeholder="Ask a follow-up question"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit">Ask on</Button>
    </form>
  );
}
