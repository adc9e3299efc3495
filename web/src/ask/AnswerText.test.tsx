import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { expect, test, vi } from "vitest";
import { AnswerText } from "./AnswerText";
import type { Citation, Sentence } from "./sentences";
import { sourcePositions } from "./sentences";
import { citation, sentence } from "./testing";

function show(text: string, sentences: Sentence[], citations: Citation[] = [], onFocus = vi.fn()) {
  const { container } = render(
    <MemoryRouter>
      <AnswerText
        text={text}
        sentences={sentences}
        citations={citations}
        focus={null}
        addressOf={(at) => `?s=${at + 1}`}
        onFocus={onFocus}
      />
    </MemoryRouter>,
  );
  const words = (at: number) =>
    [...container.querySelectorAll(`[data-sentence="${at}"]`)].map((one) => one.textContent).join("");
  return { container, words };
}

test("emoji before a sentence do not move it", () => {
  const first = "😀👩‍👩‍👧 It was **built** in 1911 [1].";
  const second = "It was closed.";
  const start = [...first].length + 1;
  const { words } = show(
    `${first} ${second}`,
    [sentence(first, 0), sentence(second, start)],
    [citation(1, "built")],
  );
  expect(words(0)).toBe("😀👩‍👩‍👧 It was built in 1911 1.");
  expect(words(1)).toBe("It was closed.");
});

test("a citation links to its sentence and names its source", () => {
  show("It was built [1].", [sentence("It was built [1].", 0, { citations: [1] })], [citation(1, "built")]);
  const link = screen.getByRole("link", { name: "Source 1: Letters, page 1" });
  expect(link).toHaveAttribute("href", "/?s=1");
});

test("a number in brackets that is no citation stays text", () => {
  show("It was built [7].", [sentence("It was built [7].", 0)]);
  expect(screen.queryByRole("link")).toBeNull();
  expect(screen.getByText("It was built [7].")).toBeInTheDocument();
});

test("a click on a sentence puts it in focus", async () => {
  const focused = vi.fn();
  show("One. Two.", [sentence("One.", 0), sentence("Two.", 5)], [], focused);
  await userEvent.click(screen.getByText("Two."));
  expect(focused).toHaveBeenCalledWith(1);
});

test("HTML, images and links of an answer are shown as text", () => {
  const text =
    "<img src=x onerror=alert(1)> ![p](http://evil.example/p.png) [go](http://evil.example) [x](javascript:alert(1))";
  const { container } = show(text, []);
  expect(container.querySelector("img, a, script")).toBeNull();
  expect(container).toHaveTextContent("<img src=x onerror=alert(1)> p go (http://evil.example) x");
});

test("character references and backslashes keep their positions", () => {
  expect(sourcePositions("a &amp; b", "a & b")).toEqual([0, 1, 2, 7, 8]);
  expect(sourcePositions("a \\* b", "a * b")).toEqual([0, 1, 3, 4, 5]);
  const text = "Halvard &amp; Sons built it. \\*It\\* was closed.";
  const at = [..."Halvard &amp; Sons built it. "].length;
  const { words } = show(text, [
    sentence("Halvard &amp; Sons built it.", 0),
    sentence("\\*It\\* was closed.", at),
  ]);
  expect(words(0)).toBe("Halvard & Sons built it.");
  expect(words(1)).toBe("*It* was closed.");
});
