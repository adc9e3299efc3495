// The Ask view: a question, its checked answer, the words it rests on, and what the search found.
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useNavigate, useParams, useSearchParams } from "react-router";
import type { Question } from "../api/ask";
import { workspace as workspaceQuery } from "../api/queries";
import { useShortcuts } from "../shell/shortcuts";
import { useTitle } from "../shell/useTitle";
import { IN_PLACE, viewPath } from "../shell/views";
import { Failed, Loading } from "../ui/States";
import { Actions } from "./Actions";
import { AnswerPart } from "./AnswerPart";
import { AskForm, type Asking } from "./AskForm";
import styles from "./AskPage.module.css";
import { type AskState, readAddress, type Tab, writeAddress } from "./address";
import { ConnectionLine } from "./ConnectionLine";
import { Conversation, type Turn } from "./Conversation";
import { CostLine } from "./CostLine";
import { Evidence } from "./Evidence";
import { Examples } from "./Examples";
import { questionOf } from "./forms";
import { Quotes } from "./Quotes";
import { rememberQuestion } from "./recent";
import { citationsOf } from "./sentences";
import { useAsk } from "./useAsk";
import { WalkedGraph } from "./WalkedGraph";

export function AskPage() {
  const { ws = "" } = useParams();
  const [params] = useSearchParams();
  const about = useQuery(workspaceQuery(ws));
  useTitle(params.get("q") ?? "Ask", ws);
  let state: AskState;
  try {
    state = readAddress(params);
  } catch (error) {
    return <Failed error={error} />;
  }
  if (about.isError) return <Failed error={about.error} again={() => about.refetch()} />;
  if (!about.data) return <Loading what="the workspace" />;
  return (
    <AskView
      key={ws}
      workspace={ws}
      state={state}
      usual={about.data.method}
      hasModel={about.data.has_model}
      documents={about.data.status.documents}
    />
  );
}

interface Props {
  workspace: string;
  state: AskState;
  usual: string;
  hasModel: boolean;
  documents: number;
}

const NO_TURNS: Turn[] = [];

function AskView({ workspace, state, usual, hasModel, documents }: Props) {
  const navigate = useNavigate();
  // By the question that follows them, so that they change together with the address.
  const [conversations, setConversations] = useState<ReadonlyMap<string, Turn[]>>(new Map());
  const turns = conversations.get(state.question) ?? NO_TURNS;
  const question = useMemo(() => withHistory(state, turns), [state, turns]);
  const asked = useAsk({ workspace, question, hasModel });
  const { answer, found, phase } = asked;
  const quotes = useRef<HTMLElement>(null);
  const busy = phase === "searching" || phase === "answering";

  const sentences = answer?.sentences ?? [];
  const focus = state.sentence !== null && state.sentence < sentences.length ? state.sentence : null;
  const shown = focus ?? (sentences.findIndex((one) => one.citations.length > 0) + 1 || 1) - 1;
  const sentence = sentences[shown] ?? null;
  const citations = sentence && answer ? citationsOf(sentence, answer.citations) : [];
  const cited = useMemo(() => new Map(answer?.citations.map((one) => [one.passage, one.number])), [answer]);

  const addressOf = useCallback((to: Partial<AskState>) => `?${writeAddress({ ...state, ...to })}`, [state]);
  const go = useCallback((to: Partial<AskState>) => navigate(addressOf(to), IN_PLACE), [navigate, addressOf]);
  const send = (asking: Asking) => {
    rememberQuestion(workspace, asking.question);
    setConversations((before) => new Map([...before].filter(([one]) => one !== asking.question)));
    if (asking.question === state.question && phase !== "idle") asked.again();
    navigate(`${viewPath(workspace, "ask")}?${writeAddress({ ...asking, tab: state.tab })}`);
  };
  const follow = (text: string) => {
    if (!answer?.answer) return;
    rememberQuestion(workspace, text);
    const turn = { question: state.question, answer: answer.answer };
    setConversations((before) => new Map([...before, [text, [...turns, turn]]]));
    navigate(addressOf({ question: text, sentence: null }), { preventScrollReset: true });
  };
  useSentenceKeys({
    count: sentences.length,
    cited: sentences.map((one) => one.citations.length > 0),
    focus,
    quotes,
    go,
  });

  return (
    <div className={styles.page}>
      <h1 className="visually-hidden" tabIndex={-1}>
        Ask {workspace}
      </h1>
      <div className={styles.form}>
        <AskForm
          workspace={workspace}
          asked={state}
          usual={usual}
          busy={busy}
          onAsk={send}
          onStop={asked.stop}
        />
      </div>
      <div className={styles.answer}>
        <Conversation turns={turns} />
        {phase === "idle" && (
          <Examples
            workspace={workspace}
            hasModel={hasModel}
            documents={documents}
            onAsk={(text) => send({ ...state, question: text })}
          />
        )}
        {phase !== "idle" && (
          <AnswerPart
            workspace={workspace}
            asked={asked}
            hasModel={hasModel}
            focus={focus}
            addressOf={(at) => addressOf({ sentence: at })}
            onFocus={(at) => go({ sentence: at })}
          />
        )}
      </div>
      <aside className={styles.aside} ref={quotes} aria-label="Sources of the sentence">
        {answer && (
          <Quotes
            workspace={workspace}
            sentence={sentence}
            citations={citations}
            passages={answer.evidence.passages}
          />
        )}
        {found && <WalkedGraph evidence={found.evidence} />}
      </aside>
      <div className={styles.more}>
        {found && phase !== "searching" && <CostLine found={found} answer={answer} />}
        {found && !busy && (
          <Actions
            workspace={workspace}
            state={state}
            question={question}
            searched={asked.rewritten}
            answer={answer}
            passages={found.evidence.passages}
            onFollow={hasModel && answer ? follow : null}
          />
        )}
      </div>
      {found && (
        <div className={styles.evidence}>
          <Evidence
            workspace={workspace}
            found={found}
            context={hasModel ? (answer?.context ?? null) : ""}
            tab={state.tab}
            onTab={(tab: Tab) => go({ tab })}
            cited={cited}
          />
        </div>
      )}
      {focus !== null && citations.length > 0 && <ConnectionLine sentence={focus} />}
    </div>
  );
}

/** The question with the turns before it; null if there is none. */
function withHistory(state: AskState, turns: Turn[]): Question | null {
  if (!state.question.trim()) return null;
  const question = questionOf(state);
  if (turns.length === 0) return question;
  const history = turns.flatMap((turn) => [
    { role: "user" as const, content: turn.question },
    { role: "assistant" as const, content: turn.answer },
  ]);
  return { ...question, history };
}

interface Keys {
  count: number;
  cited: boolean[];
  focus: number | null;
  quotes: React.RefObject<HTMLElement | null>;
  go: (to: Partial<AskState>) => void;
}

/** j and k go through sentences, [ and ] through those with a citation, Enter to the words, whose link
 * leads to the document, and Backspace back. */
function useSentenceKeys({ count, cited, focus, quotes, go }: Keys): void {
  const move = (by: 1 | -1, only: (at: number) => boolean) => {
    for (let at = focus === null ? (by > 0 ? 0 : count - 1) : focus + by; at >= 0 && at < count; at += by) {
      if (only(at)) return go({ sentence: at });
    }
  };
  const isQuoted = () => quotes.current?.contains(globalThis.document.activeElement) ?? false;
  useShortcuts(
    count === 0
      ? {}
      : {
          j: () => move(1, () => true),
          k: () => move(-1, () => true),
          "]": () => move(1, (at) => cited[at] === true),
          "[": () => move(-1, (at) => cited[at] === true),
          ...(focus === null ? {} : { Escape: () => go({ sentence: null }) }),
        },
  );
  useEffect(() => {
    const pressed = (event: globalThis.KeyboardEvent) => {
      if (focus === null || event.defaultPrevented) return;
      const active = globalThis.document.activeElement;
      const free = active === globalThis.document.body || active?.id === "main" || active?.tagName === "H1";
      if (event.key === "Enter" && free) {
        event.preventDefault();
        quotes.current?.querySelector<HTMLElement>("a")?.focus();
      }
      if (event.key === "Backspace" && isQuoted()) {
        event.preventDefault();
        (active as HTMLElement).blur();
      }
    };
    globalThis.document.addEventListener("keydown", pressed);
    return () => globalThis.document.removeEventListener("keydown", pressed);
  });
}
