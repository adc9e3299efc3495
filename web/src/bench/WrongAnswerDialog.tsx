import type { Schemas } from "../api/client";
import { candidateOf } from "./PassagePicker";
import QuestionDialog from "./QuestionDialog";

interface Props {
  workspace: string;
  question: string;
  passages: Schemas["Passage"][];
  onClose: () => void;
}

/** Adds a question whose answer was wrong. The passages that the search found can be chosen, or others. */
export default function WrongAnswerDialog({ workspace, question, passages, onClose }: Props) {
  return (
    <QuestionDialog
      workspace={workspace}
      title="This answer is wrong"
      intro="Choose the passages that hold the right answer. The question is added to your own, on which methods can be measured."
      question={question}
      offered={passages.map(candidateOf)}
      onClose={onClose}
    />
  );
}
