import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createMemoryRouter } from "react-router";
import { RouterProvider } from "react-router/dom";
import { afterEach, expect, test, vi } from "vitest";
import { nextOf } from "../api/session";
import { LoginPage } from "./LoginPage";

afterEach(() => {
  vi.unstubAllGlobals();
  location.hash = "";
});

function show(ways: object, opened: Response, path = "/login?next=/archive/ask?q=1") {
  const bodies: unknown[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    if (request.url.endsWith("/ways")) return Response.json(ways);
    bodies.push(await request.json());
    return opened;
  });
  const router = createMemoryRouter(
    [
      { path: "/login", element: <LoginPage /> },
      { path: "*", element: <p>inside</p> },
    ],
    { initialEntries: [path] },
  );
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <RouterProvider router={router} />
    </QueryClientProvider>,
  );
  return { bodies, router };
}

const OPENED = { caller: "tw_1", name: "Ada", scope: "read", ends: "2030-01-01T00:00:00Z" };

test("a key opens a session and leads to the page that was asked for", async () => {
  const { bodies, router } = show({ key: true, code: false }, Response.json(OPENED, { status: 201 }));
  await userEvent.type(await screen.findByLabelText("Key"), " tw_secret ");
  await userEvent.click(screen.getByRole("button", { name: "Log in" }));
  expect(await screen.findByText("inside")).toBeInTheDocument();
  expect(bodies).toEqual([{ key: "tw_secret" }]);
  expect(router.state.location.pathname).toBe("/archive/ask");
});

test("a key that is refused is told, and can be typed again", async () => {
  const refused = {
    detail: "There is no such key.",
    status: 401,
    code: "unauthorized",
    next_step: "Check it.",
  };
  show({ key: true, code: false }, Response.json(refused, { status: 401 }));
  await userEvent.type(await screen.findByLabelText("Key"), "tw_wrong{Enter}");
  expect(await screen.findByRole("alert")).toHaveTextContent("There is no such key.Check it.");
  expect(screen.getByLabelText("Key")).toHaveValue("");
});

test("a code in the address is used once and removed from the address", async () => {
  location.hash = "#code=once";
  const { bodies } = show({ key: true, code: true }, Response.json(OPENED, { status: 201 }));
  expect(await screen.findByText("inside")).toBeInTheDocument();
  expect(bodies).toEqual([{ code: "once" }]);
  expect(location.hash).toBe("");
});

test("where browsers get no cookie, the page says what to do instead of asking for a key", async () => {
  show({ key: false, code: false }, Response.json(OPENED));
  expect(await screen.findByText("This address cannot be used to log in")).toBeInTheDocument();
  expect(screen.queryByLabelText("Key")).toBeNull();
});

test("a provider is offered, and leads back to the page that was asked for", async () => {
  show({ key: false, code: false, provider: true }, Response.json(OPENED));
  const link = await screen.findByRole("link", { name: "Log in at your identity provider" });
  expect(link).toHaveAttribute("href", "/v1/session/login?next=%2Fui%2Farchive%2Fask%3Fq%3D1");
  expect(screen.queryByLabelText("Key")).toBeNull();
});

test("a login that failed at the provider is told", async () => {
  show({ key: true, code: false, provider: true }, Response.json(OPENED), "/login?error=login_expired");
  expect(await screen.findByRole("alert")).toHaveTextContent("The login took too long");
});

test.each([
  "//evil.example",
  "/\\evil.example",
  "https://evil.example",
  "javascript:alert(1)",
  "/login?next=/",
])("the address %s is not followed after login", (next) =>
  expect(nextOf(new URLSearchParams({ next }))).toBe("/"),
);
