import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { compress, licences } from "./build/assets.ts";

// `make web-dev` forwards calls of the API to this server, as if they came from its own pages.
const server = process.env.TRUEWEAVE_SERVER ?? "http://127.0.0.1:8000";

export default defineConfig({
  base: "/ui/",
  plugins: [react(), licences(), compress()],
  build: {
    outDir: "../src/trueweave/server/web/ui",
    emptyOutDir: true,
    target: "es2022",
    chunkSizeWarningLimit: 600,
    assetsInlineLimit: 0, // the policy of the page forbids fonts and scripts in data: addresses
    modulePreload: { polyfill: false },
  },
  server: {
    host: "127.0.0.1",
    proxy: {
      "/v1": {
        target: server,
        changeOrigin: true,
        headers: { origin: server, "sec-fetch-site": "same-origin" },
      },
    },
  },
  test: {
    environment: "happy-dom",
    testTimeout: 30_000, // milliseconds, as machines that run all tests are busy
    setupFiles: ["src/test-setup.ts"],
    css: { modules: { classNameStrategy: "non-scoped" } },
  },
});
