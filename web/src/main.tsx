import "@fontsource-variable/atkinson-hyperlegible-next/wght.css";
import "@fontsource-variable/atkinson-hyperlegible-mono/wght.css";
import "@fontsource-variable/source-serif-4/wght.css";
import "./tokens.css";
import "./base.css";
import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createBrowserRouter } from "react-router";
import { RouterProvider } from "react-router/dom";
import { Problem } from "./api/client";
import { loginPath } from "./api/session";
import { routes } from "./routes";
import { applyTheme } from "./shell/preferences";

applyTheme();

const router = createBrowserRouter(routes, { basename: "/ui" });

const queries = new QueryClient({
  queryCache: new QueryCache({
    onError: (error) => {
      if (error instanceof Problem && error.status === 401) goToLogin();
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // What the server refuses, it refuses again; a lost connection may come back.
      retry: (failures, error) => failures < 2 && !(error instanceof Problem),
    },
  },
});

function goToLogin(): void {
  const { pathname, search } = router.state.location;
  const path = pathname.replace(/^\/ui(?=\/|$)/, "") || "/";
  if (!path.startsWith("/login")) router.navigate(loginPath(path + search));
}

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no element with the id root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
