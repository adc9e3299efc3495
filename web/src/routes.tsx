// The views by their addresses. Those beyond the first are loaded when they are opened.
import { Navigate, type RouteObject } from "react-router";
import { AskPage } from "./ask/AskPage";
import { ErrorPage, NotFound } from "./pages/ErrorPage";
import { LoginPage } from "./pages/LoginPage";
import { StartPage } from "./pages/WorkspacesPage";
import { Shell } from "./shell/Shell";
import { Loading } from "./ui/States";

export const routes: RouteObject[] = [
  {
    element: <Shell />,
    errorElement: <ErrorPage />,
    hydrateFallbackElement: <Loading what="the page" />,
    children: [
      { index: true, element: <StartPage /> },
      { path: "login", element: <LoginPage /> },
      { path: ":ws", element: <Navigate to="ask" replace /> },
      { path: ":ws/ask", element: <AskPage /> },
      {
        path: ":ws/compare",
        lazy: async () => ({ Component: (await import("./compare/ComparePage")).ComparePage }),
      },
      {
        path: ":ws/graph",
        lazy: async () => ({ Component: (await import("./graph/GraphPage")).GraphPage }),
      },
      {
        path: ":ws/documents",
        lazy: async () => ({ Component: (await import("./documents/DocumentsPage")).DocumentsPage }),
      },
      {
        path: ":ws/document",
        lazy: async () => ({ Component: (await import("./reader/ReaderPage")).ReaderPage }),
      },
      {
        path: ":ws/communities",
        lazy: async () => ({ Component: (await import("./communities/CommunitiesPage")).CommunitiesPage }),
      },
      {
        path: ":ws/community/:id",
        lazy: async () => ({ Component: (await import("./communities/CommunityPage")).CommunityPage }),
      },
      {
        path: ":ws/entity/:id",
        lazy: async () => ({ Component: (await import("./entity/EntityPage")).EntityPage }),
      },
      {
        path: ":ws/relation/:id",
        lazy: async () => ({ Component: (await import("./entity/RelationPage")).RelationPage }),
      },
      {
        path: ":ws/settings/:part?",
        lazy: async () => ({ Component: (await import("./settings/SettingsPage")).SettingsPage }),
      },
      {
        path: ":ws/review",
        lazy: async () => ({ Component: (await import("./review/ReviewPage")).ReviewPage }),
      },
      {
        path: ":ws/conflicts",
        lazy: async () => ({ Component: (await import("./conflicts/ConflictsPage")).ConflictsPage }),
      },
      {
        path: ":ws/changes",
        lazy: async () => ({ Component: (await import("./changes/ChangesPage")).ChangesPage }),
      },
      {
        path: ":ws/watches",
        lazy: async () => ({ Component: (await import("./watches/WatchesPage")).WatchesPage }),
      },
      {
        path: ":ws/watches/alerts",
        lazy: async () => ({ Component: (await import("./watches/AlertsPage")).AlertsPage }),
      },
      {
        path: ":ws/bench",
        lazy: async () => ({ Component: (await import("./bench/BenchPage")).BenchPage }),
      },
      {
        path: ":ws/bench/:run",
        lazy: async () => ({ Component: (await import("./bench/RunPage")).RunPage }),
      },
      { path: "*", element: <NotFound /> },
    ],
  },
];
