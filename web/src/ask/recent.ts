// The questions of this browser tab, newest first. They end with the tab: answers quote documents, which may be removed.

const MOST = 20;
const key = (workspace: string): string => `trueweave.recent.${workspace}`;

export function recentQuestions(workspace: string): string[] {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(key(workspace)) ?? "[]");
    return Array.isArray(found) ? found.filter((one): one is string => typeof one === "string") : [];
  } catch {
    return []; // the browser stores nothing for this page, or something else was stored there
  }
}

export function rememberQuestion(workspace: string, question: string): void {
  const questions = [question, ...recentQuestions(workspace).filter((one) => one !== question)];
  try {
    sessionStorage.setItem(key(workspace), JSON.stringify(questions.slice(0, MOST)));
  } catch {
    // The browser stores nothing for this page: there is no list of recent questions.
  }
}

/** A question that is about one entity. */
export const questionAbout = (name: string): string => `What do the documents say about ${name}?`;
