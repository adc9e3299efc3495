// The Ask view before the first question.
import { useQuery } from "@tanstack/react-query";
import { Button } from "react-aria-components";
import { entities, relationsOf } from "../api/queries";
import { NoDocuments } from "../ui/NoDocuments";
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
  if (documents === 0) return <NoDocuments workspace={workspace} />;
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
          <code>trueweave settings model PROVIDER/MODEL</code>
        </p>
      )}
    </>
  );
}
