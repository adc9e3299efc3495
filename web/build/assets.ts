// What the build adds to the folder of assets: compressed copies, and the licences of what is bundled.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

const COMPRESSED = /\.(css|html|js|svg|txt)$/;
const LICENCE = /^(licen[cs]e|copying|notice)/i;

/** Writes `.br` and `.gz` beside each text file of the build. The server sends the one that the browser accepts. */
export function compress(): Plugin {
  let folder = "";
  return {
    name: "trueweave-compress",
    apply: "build",
    configResolved(config) {
      folder = config.build.outDir;
    },
    closeBundle() {
      for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
        const path = join(folder, name);
        if (!COMPRESSED.test(name) || !statSync(path).isFile()) continue;
        const contents = readFileSync(path);
        writeFileSync(`${path}.gz`, gzipSync(contents, { level: 9 }));
        writeFileSync(`${path}.br`, brotliCompressSync(contents));
      }
    },
  };
}

interface Locked {
  packages: Record<string, { version?: string; license?: string; dev?: boolean }>;
}

/** Writes `licences.txt`: name, version and licence text of each package that the lock file needs at run time. */
export function licences(): Plugin {
  return {
    name: "trueweave-licences",
    apply: "build",
    generateBundle() {
      const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as Locked;
      const parts = Object.entries(packages)
        .filter(([path, found]) => path && !found.dev)
        .map(([path, found]) => {
          const name = path.replace(/^.*node_modules\//, "");
          return `${name} ${found.version}\n${found.license ?? ""}\n\n${text(path)}`;
        });
      this.emitFile({
        type: "asset",
        fileName: "licences.txt",
        source: parts.join(`\n${"-".repeat(80)}\n\n`),
      });
    },
  };
}

/** The licence files of an installed package; empty for those that another platform needs. */
function text(folder: string): string {
  try {
    const names = readdirSync(folder).filter(
      (name) => LICENCE.test(name) && statSync(join(folder, name)).isFile(),
    );
    return names.map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
