import { type ReactNode, useState } from "react";
import { Button } from "react-aria-components";
import { CopyButton } from "./CopyButton";
import { Popup } from "./Popup";

interface Props {
  /** The command that does the same, or a sentence that says why there is none. */
  command: string | { none: string };
  /** The method and path of the request, as in `POST /v1/workspaces/notes/ask`. */
  request: string;
  /** The body of the request, if it has one. */
  body?: unknown;
  /** Further buttons beside the request. */
  children?: ReactNode;
}

/** Two buttons that show how to do the same without the pages: as a command, and as a request. */
export function SameAs({ command, request, body, children }: Props) {
  const [open, setOpen] = useState<"" | "command" | "json">("");
  const text = body === undefined ? request : JSON.stringify(body, null, 2);
  const close = () => setOpen("");
  return (
    <>
      <Button className="quiet" onPress={() => setOpen("command")}>
        As a command
      </Button>
      <Button className="quiet" onPress={() => setOpen("json")}>
        As JSON
      </Button>
      <Popup title="The same as a command" open={open === "command"} onClose={close}>
        {typeof command === "string" ? (
          <>
            <pre>{command}</pre>
            <CopyButton label="Copy" text={command} />
          </>
        ) : (
          <p>{command.none}</p>
        )}
      </Popup>
      <Popup title="The same as a request" open={open === "json"} onClose={close}>
        {body !== undefined && <p className="muted">{request}</p>}
        <pre>{text}</pre>
        <CopyButton label="Copy the request" text={text} />
        {children}
      </Popup>
    </>
  );
}
