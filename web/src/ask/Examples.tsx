// The Ask view before the first question.
import { useQuery } from "@tanstack/react-query";
import { Button } from "react-aria-components";
import { Link } from "react-router";
import { entities, relationsOf } from "../api/queries";
import { viewPath } from "../shell/views";
import { Empty } from "../ui/States";
import styles from "./AskPage.module.css";
import { questionAbout } from "./recent";

interface Props {
  workspace: string;
  hasModel: boolean;
  documents: number;
  onAsk: (question: string) => void;
}

/** Questions about what the documents mention most; or what to do first, if there are no documents. */
export function Examples({ workspace, hasModel, documents, onAsk }: Props) {
  const { data: known = [] } = useQuery({ ...entities(workspace, 3), enabled: documents > 0 });
  const first = known[0];
  const { data: relations = [] } = useQuery({
    ...relationsOf(workspace, first?.name ?? ""),
    enabled: Boolean(first),
  });
  if (documents === 0) {
    return (
      <Empty title="There are no documents here yet">
        <p>
          <Link to={viewPath(workspace, "documents")}>Add some</Link>, or use{" "}
          <code>trueweave add PATH --workspace {workspace}</code>
        </p>
      </Empty>
    );
  }
  const pair = relations[0];
  const questions = [
    ...(pair ? [`How are ${pair.source_name} and ${pair.target_name} connected?`] : []),
    ...known.map((one) => questionAbout(one.name)),
  ].slice(0, 3);
  return (
    <>
      {questions.length > 0 && (
        <div className={styles.examples}>
          <h2>For example</h2>
          {questions.map((question) => (
            <Button key={question} onPress={() => onAsk(question)}>
              {question}
            </Button>
          ))}
        </div>
      )}
      {!hasModel && (
        <p className="muted">
          There is no language model: passages are shown. To get answers, set one:{" "}
          <code>trueweave init --model PROVIDER/MODEL</code>
        </p>
      )}
    </>
  );
}
