// The session of this browser. It is in a cookie that scripts cannot read.
import { queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "./client";

/** The ways to log in at this address. */
export const loginWays = queryOptions({
  queryKey: ["login ways"],
  queryFn: ({ signal }) => dataOf(api.GET("/v1/session/ways", { signal })),
});

/** Logs in. Throws Problem. */
export const logIn = (by: { key: string } | { code: string }) =>
  dataOf(api.POST("/v1/session", { body: by }));

/** Logs out. Throws Problem. */
export const logOut = () => dataOf(api.DELETE("/v1/session"));

/** The address of the login page that leads back to `next`, a path within the UI. */
export const loginPath = (next: string): string => `/login?${new URLSearchParams({ next })}`;

/** The path within the UI to go to after login: only ever a page of this UI. */
export function nextOf(params: URLSearchParams): string {
  const next = params.get("next") ?? "/";
  return /^\/(?![/\\])/.test(next) && !next.startsWith("/login") ? next : "/";
}
