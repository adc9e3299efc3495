import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { Button } from "react-aria-components";
import type { Schemas } from "../api/client";
import { me as meQuery } from "../api/queries";

const Dialog = lazy(() => import("../bench/WrongAnswerDialog"));

interface Props {
  workspace: string;
  question: string;
  passages: Schemas["Passage"][];
}

/** A button that adds the question, with its right passages, to one's own; not shown to those who may only read. */
export function WrongAnswer(props: Props) {
  const [open, setOpen] = useState(false);
  const { data: caller } = useQuery(meQuery);
  if (!caller || caller.scope === "read") return null;
  return (
    <>
      <Button className="quiet" onPress={() => setOpen(true)}>
        This answer is wrong
      </Button>
      {open && (
        <Suspense>
          <Dialog {...props} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
