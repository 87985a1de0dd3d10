// Builds the pages into ../static: one script and one style sheet, named by what is in them, and the page that loads them.
import { context, build } from "esbuild";
import { readFile, rm, writeFile } from "node:fs/promises";
import { basename } from "node:path";

const OUT = "../static";

const page = {
  name: "page",
  setup(build) {
    build.onStart(() => rm(OUT, { recursive: true, force: true }));
    build.onEnd(async ({ metafile, errors }) => {
      if (errors.length) return;
      const made = Object.keys(metafile.outputs).map((path) => basename(path));
      const html = await readFile("src/index.html", "utf8");
      const named = (ending) => `/static/${made.find((name) => name.endsWith(ending))}`;
      await writeFile(`${OUT}/index.html`, html.replace("{{ script }}", named(".js")).replace("{{ style }}", named(".css")));
    });
  },
};

const options = {
  entryPoints: { app: "src/main.tsx" },
  outdir: OUT,
  entryNames: "[name]-[hash]",
  bundle: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: true,
  metafile: true,
  legalComments: "none",
  plugins: [page],
};

if (process.argv.includes("--watch")) await (await context(options)).watch();
else await build(options);
