// Adds or changes a question with the passages that its answer rests on.
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "react-aria-components";
import { Link } from "react-router";
import { Popup } from "../ui/Popup";
import { Failed } from "../ui/States";
import { benchPath } from "./address";
import styles from "./Bench.module.css";
import { type Candidate, PassagePicker } from "./PassagePicker";
import { saveQuestion } from "./queries";

interface Props {
  workspace: string;
  title: string;
  /** What is said before the fields. */
  intro?: string;
  /** The id of the question that is changed; null for a new one. */
  id?: string | null;
  question: string;
  answer?: string;
  kind?: string;
  chosen?: Candidate[];
  offered?: Candidate[];
  onClose: () => void;
}

export default function QuestionDialog(props: Props) {
  const { workspace, title, intro, id = null, kind = "", offered = [], onClose } = props;
  const queries = useQueryClient();
  const [question, setQuestion] = useState(props.question);
  const [answer, setAnswer] = useState(props.answer ?? "");
  const [chosen, setChosen] = useState(props.chosen ?? []);
  const [busy, setBusy] = useState(false);
  const [isSaved, setSaved] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setFailure(null);
    const draft = {
      question: question.trim(),
      passages: chosen.map((one) => ({ uri: one.uri, chunk: one.chunk })),
      answers: answer.trim() ? [answer.trim()] : [],
      kind,
    };
    try {
      await saveQuestion(workspace, draft, id);
      queries.invalidateQueries({ queryKey: ["bench", workspace, "questions"] });
      setSaved(true);
    } catch (error) {
      setFailure(error);
      setBusy(false);
    }
  };
  if (isSaved)
    return (
      <Popup title="The question is saved" open onClose={onClose}>
        <p role="status">
          Methods can be measured on it under{" "}
          <Link to={benchPath(workspace, "questions")} onClick={onClose}>
            My questions
          </Link>
          .
        </p>
        <Button onPress={onClose} autoFocus>
          Close
        </Button>
      </Popup>
    );
  return (
    <Popup title={title} open onClose={onClose} wide>
      <form className={styles.form} onSubmit={save}>
        {intro && <p className="muted">{intro}</p>}
        <label>
          <span>Question</span>
          <textarea
            rows={2}
            required
            value={question}
            onChange={(event) => setQuestion(event.target.value)}
          />
        </label>
        <PassagePicker workspace={workspace} offered={offered} chosen={chosen} onChange={setChosen} />
        <label>
          <span>Right answer (optional)</span>
          <input value={answer} onChange={(event) => setAnswer(event.target.value)} />
        </label>
        {failure !== null && <Failed error={failure} />}
        <div className={styles.buttons}>
          <Button
            type="submit"
            className="primary"
            isDisabled={busy || !question.trim() || chosen.length === 0}
          >
            {busy ? "Saving…" : "Save the question"}
          </Button>
          <Button onPress={onClose}>Cancel</Button>
        </div>
      </form>
    </Popup>
  );
}
