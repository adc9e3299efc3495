// One's own questions with their right passages, and measuring methods on them.
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "react-aria-components";
import { quoted } from "../ask/forms";
import { moment, shortened } from "../text/words";
import { CopyButton } from "../ui/CopyButton";
import { Popup } from "../ui/Popup";
import { SameAs } from "../ui/SameAs";
import { ShowMore } from "../ui/ShowMore";
import { Empty, Failed, Loading } from "../ui/States";
import styles from "./Bench.module.css";
import { MeasureDialog } from "./MeasureDialog";
import { PassageText } from "./PassageText";
import QuestionDialog from "./QuestionDialog";
import { type Question, questionsQuery, removeQuestion } from "./queries";
import { isGone } from "./RunPage";

export function MyQuestions({ workspace, mayWrite }: { workspace: string; mayWrite: boolean }) {
  const queries = useQueryClient();
  const found = useInfiniteQuery(questionsQuery(workspace));
  const [open, setOpen] = useState<"" | "add" | "measure">("");
  const [changed, setChanged] = useState<Question | null>(null);
  const [removed, setRemoved] = useState<Question | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [said, setSaid] = useState("");
  if (found.isError) return <Failed error={found.error} again={() => found.refetch()} />;
  if (!found.data) return <Loading what="the questions" lines={8} />;
  const questions = found.data.pages.flatMap((page) => page.items);
  const remove = async (one: Question) => {
    setRemoved(null);
    setFailure(null);
    try {
      await removeQuestion(workspace, one.id);
      setSaid("The question is removed.");
    } catch (error) {
      if (isGone(error)) setSaid("Somebody has removed the question already.");
      else setFailure(error);
    }
    queries.invalidateQueries({ queryKey: ["bench", workspace, "questions"] });
  };
  return (
    <>
      {mayWrite && (
        <div className={styles.buttons}>
          {questions.length > 0 && (
            <Button className="primary" onPress={() => setOpen("measure")}>
              Measure methods
            </Button>
          )}
          <Button onPress={() => setOpen("add")}>Add a question</Button>
        </div>
      )}
      <p role="status" className={styles.said}>
        {said}
      </p>
      {failure !== null && <Failed error={failure} />}
      {questions.length === 0 && (
        <Empty title="There are no questions yet">
          <p>
            {mayWrite
              ? "Add one here, or press “This answer is wrong” under an answer of the Ask view, and choose the passages that hold the right answer. Thirty questions show large differences between methods, a few hundred show small ones."
              : "Your key may only read. Those who may write collect questions here, with the passages that hold the right answer."}
          </p>
        </Empty>
      )}
      <ul className={styles.list}>
        {questions.map((one) => (
          <li key={one.id} className={styles.card}>
            <h2>
              <bdi>{one.question}</bdi>
            </h2>
            <p className={styles.facts}>
              <span>{moment(one.made)}</span>
              {one.author && <span>by {shortened(one.author, 80)}</span>}
              {one.kind && <span>{shortened(one.kind, 80)}</span>}
              {one.answers.length > 0 && <span>answer: {shortened(one.answers.join("; "), 200)}</span>}
            </p>
            <ul className={styles.passages}>
              {one.passages.map((passage, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a passage that is gone has no other name
                <li key={at} data-right={passage.state === "there" || undefined}>
                  <PassageText workspace={workspace} passage={passage} />
                </li>
              ))}
            </ul>
            {one.passages.some(({ state }) => state !== "there") && (
              <p className={styles.gone}>
                This question is left out of new runs until you choose its passages again.
              </p>
            )}
            {mayWrite && (
              <div className={styles.actions}>
                <Button className="quiet" onPress={() => setChanged(one)}>
                  Edit
                </Button>
                <Button className="quiet" onPress={() => setRemoved(one)}>
                  Remove
                </Button>
              </div>
            )}
          </li>
        ))}
      </ul>
      <ShowMore of={found} />
      <div className={styles.actions}>
        <CopyButton label="Copy link" text={() => location.href} />
        <SameAs
          command={`trueweave bench mine --workspace ${quoted(workspace)}`}
          request={`GET /v1/workspaces/${workspace}/bench/questions`}
        />
      </div>
      {open === "add" && (
        <QuestionDialog
          workspace={workspace}
          title="Add a question"
          question=""
          onClose={() => setOpen("")}
        />
      )}
      {open === "measure" && <MeasureDialog workspace={workspace} onClose={() => setOpen("")} />}
      {changed && (
        <QuestionDialog
          workspace={workspace}
          title="Edit the question"
          id={changed.id}
          question={changed.question}
          answer={changed.answers[0] ?? ""}
          kind={changed.kind}
          chosen={changed.passages
            .filter(({ state }) => state === "there")
            .map(({ uri, chunk = null, title, text }) => ({ uri, chunk, place: title || uri, text }))}
          onClose={() => setChanged(null)}
        />
      )}
      {removed && (
        <Popup title="Remove this question?" open onClose={() => setRemoved(null)}>
          <p dir="auto">{removed.question}</p>
          <p>Runs that it was measured in stay as they are.</p>
          <div className={styles.buttons}>
            <Button className="primary" onPress={() => remove(removed)}>
              Remove
            </Button>
            <Button onPress={() => setRemoved(null)} autoFocus>
              Cancel
            </Button>
          </div>
        </Popup>
      )}
    </>
  );
}
