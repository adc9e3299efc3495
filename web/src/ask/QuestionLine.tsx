// The field for a question, with the button that sends it or stops what it started.
import type { KeyboardEvent } from "react";
import { useRef } from "react";
import { Button } from "react-aria-components";
import { useShortcuts } from "../shell/shortcuts";
import styles from "./AskForm.module.css";

interface Props {
  question: string;
  placeholder: string;
  /** The name of the button. */
  action: string;
  busy: boolean;
  isDisabled?: boolean;
  onChange: (question: string) => void;
  onSend: () => void;
  onStop: () => void;
}

export function QuestionLine(props: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  useShortcuts({ "/": () => field.current?.focus() });
  const keyed = (event: KeyboardEvent) => {
    if (event.key === "Escape") field.current?.blur();
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    props.onSend();
  };
  return (
    <div className={styles.line}>
      <textarea
        ref={field}
        className={styles.question}
        aria-label="Question"
        placeholder={props.placeholder}
        rows={1}
        value={props.question}
        onChange={(event) => props.onChange(event.target.value)}
        onKeyDown={keyed}
      />
      {/* Two buttons, and not one that changes: a click on one must not reach the other. */}
      {props.busy ? (
        <Button key="stop" className={styles.go ?? ""} onPress={props.onStop}>
          Stop
        </Button>
      ) : (
        <Button
          key="send"
          className={`primary ${styles.go}`}
          type="submit"
          isDisabled={props.isDisabled ?? false}
        >
          {props.action}
        </Button>
      )}
    </div>
  );
}
