// Text that a model wrote. The Markdown renderer is a sixth of all scripts, so it is loaded with the first question.
import { type ComponentProps, lazy, Suspense } from "react";

const load = () => import("./AnswerText");
const Answer = lazy(async () => ({ default: (await load()).AnswerText }));
const Plain = lazy(async () => ({ default: (await load()).PlainMarkdown }));

/** Load the renderer while an answer is on its way. If that fails, so does the question, and both are tried again. */
export const loadRenderer = (): void => void load().catch(() => undefined);

export function AnswerText(props: ComponentProps<typeof Answer>) {
  return (
    <Suspense fallback={<p>{props.text}</p>}>
      <Answer {...props} />
    </Suspense>
  );
}

export function PlainMarkdown({ text }: { text: string }) {
  return (
    <Suspense fallback={<p>{text}</p>}>
      <Plain text={text} />
    </Suspense>
  );
}
