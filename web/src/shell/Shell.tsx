// The frame around every view: navigation, command palette, keyboard help, colours.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleHelp, Command, History, LogOut, Moon, Sun } from "lucide-react";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { Button } from "react-aria-components";
import { Link, NavLink, Outlet, ScrollRestoration, useLocation, useNavigate, useParams } from "react-router";
import { me as meQuery, workspace as workspaceQuery } from "../api/queries";
import { logOut } from "../api/session";
import { dropUploads } from "../documents/uploads";
import { PastBar } from "./PastBar";
import { setTheme, useTheme } from "./preferences";
import styles from "./Shell.module.css";
import { StatusLine } from "./StatusLine";
import { type Shortcuts, useShortcuts } from "./shortcuts";
import { VIEWS, viewPath } from "./views";

const Help = lazy(() => import("./Help"));
const Palette = lazy(() => import("./Palette"));

export function Shell() {
  const { ws } = useParams();
  const navigate = useNavigate();
  const [open, setOpen] = useState<"" | "help" | "palette" | "past">("");
  useFocusAfterNavigation();

  const shortcuts: Shortcuts = {
    "?": () => setOpen("help"),
    "ctrl+k": () => setOpen("palette"),
    "g w": () => navigate("/?all"),
  };
  if (ws) for (const view of VIEWS) shortcuts[`g ${view.key}`] = () => navigate(viewPath(ws, view.path));
  useShortcuts(shortcuts);

  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main">
        Skip to the contents
      </a>
      <header className={styles.header}>
        <Link to="/" className={styles.brand}>
          Trueweave
        </Link>
        {ws && (
          <Link to="/?all" className={styles.workspace} title="Choose another workspace">
            {ws}
          </Link>
        )}
        <nav className={styles.nav} aria-label="Views">
          {ws &&
            VIEWS.map((view) => (
              <NavLink key={view.path} to={viewPath(ws, view.path)}>
                {view.name}
              </NavLink>
            ))}
        </nav>
        {ws && (
          <Button className="quiet" aria-label="Show the index as it was" onPress={() => setOpen("past")}>
            <History size={18} aria-hidden="true" />
          </Button>
        )}
        <Button className="quiet" aria-label="Commands (Ctrl K)" onPress={() => setOpen("palette")}>
          <Command size={18} aria-hidden="true" />
        </Button>
        <ThemeButton />
        <Button className="quiet" aria-label="Keyboard shortcuts (?)" onPress={() => setOpen("help")}>
          <CircleHelp size={18} aria-hidden="true" />
        </Button>
        <LogOutButton />
      </header>
      {ws && <PastBar workspace={ws} isOpen={open === "past"} close={() => setOpen("")} />}
      <main id="main" className={styles.main} tabIndex={-1}>
        <Outlet />
      </main>
      <ScrollRestoration />
      {ws && <Foot workspace={ws} />}
      <Suspense fallback={null}>
        {open === "help" && <Help onClose={() => setOpen("")} />}
        {open === "palette" && <Palette onClose={() => setOpen("")} showHelp={() => setOpen("help")} />}
      </Suspense>
    </div>
  );
}

function ThemeButton() {
  const theme = useTheme();
  const dark = theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  return (
    <Button
      className="quiet"
      aria-label={dark ? "Use light colours" : "Use dark colours"}
      onPress={() => setTheme(dark ? "light" : "dark")}
    >
      {dark ? <Sun size={18} aria-hidden="true" /> : <Moon size={18} aria-hidden="true" />}
    </Button>
  );
}

/** Ends the session; not shown where there is none. */
function LogOutButton() {
  const isLogin = useLocation().pathname === "/login";
  const { data } = useQuery({ ...meQuery, enabled: !isLogin });
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [failed, setFailed] = useState(false);
  if (data?.identified_by !== "session" || isLogin) return null;
  const leave = () =>
    logOut().then(
      () => {
        queries.clear();
        dropUploads();
        navigate("/login");
      },
      () => setFailed(true),
    );
  return (
    <Button
      className="quiet"
      aria-label={failed ? "Logging out failed: try again" : `Log out ${data.name}`}
      onPress={leave}
    >
      <LogOut size={18} aria-hidden="true" />
      {failed && " Logging out failed"}
    </Button>
  );
}

function Foot({ workspace }: { workspace: string }) {
  const { data } = useQuery({ ...workspaceQuery(workspace), refetchInterval: 15_000 });
  return <footer className={styles.foot}>{data && <StatusLine status={data.status} />}</footer>;
}

/** After navigation to another view, the focus goes to its heading, so that screen readers announce it. The heading may
 * appear only when the view has loaded; if the focus has moved by then, it stays where it is. */
function useFocusAfterNavigation(): void {
  const { pathname } = useLocation();
  const before = useRef(pathname);
  useEffect(() => {
    if (before.current === pathname) return;
    before.current = pathname;
    const { document } = globalThis;
    const main = document.getElementById("main");
    const active = document.activeElement;
    const focusHeading = (): boolean => {
      const heading = main?.querySelector<HTMLElement>("h1");
      const isFree = document.activeElement === active || document.activeElement === document.body;
      if (isFree) heading?.focus({ preventScroll: true }); // a view may have scrolled to what it shows
      return Boolean(heading) || !isFree;
    };
    if (!main || focusHeading()) return;
    const observer = new MutationObserver(() => focusHeading() && observer.disconnect());
    observer.observe(main, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, [pathname]);
}
