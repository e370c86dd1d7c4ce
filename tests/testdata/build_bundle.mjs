/**
 * Builds a program by a bundler of npm, in a folder where that is installed:
 * `node build_bundle.mjs NAME FOLDER` leaves the bundle in the folder. Prints
 * warnings as JSON; those about code of others are not ours to mend.
 */
import { readdirSync } from "node:fs";
import { argv } from "node:process";

const isOurs = ({ id }) => id === undefined || id.includes("@bellman");

async function byEsbuild(options) {
  const esbuild = await import("esbuild");
  const { warnings } = await esbuild.build({
    ...options,
    bundle: true,
    logLevel: "silent",
  });
  return warnings.map(({ text }) => text);
}

async function byWebpack(options) {
  const { default: webpack } = await import("webpack");
  return await new Promise((resolve, reject) =>
    webpack({
      ...options,
      mode: "production",
      performance: { hints: false }, // They are about the size alone.
    }, (error, stats) => {
      if (error) return reject(error);
      const { errors, warnings } = stats.toJson({
        all: false,
        errors: true,
        warnings: true,
      });
      if (errors.length === 0) return resolve(warnings.map((it) => it.message));
      reject(new Error(errors.map((it) => it.message).join("\n")));
    })
  );
}

async function byVite(outDir) {
  const { build, createLogger } = await import("vite");
  const warnings = [], logger = createLogger("silent");
  logger.warn = logger.warnOnce = (line) => warnings.push(line);
  await build({
    configFile: false,
    customLogger: logger,
    build: { outDir, chunkSizeWarningLimit: 2000 },
  });
  return warnings;
}

async function byRollup(input, { entryFileNames, dir, ...resolution }) {
  const { rollup } = await import("rollup");
  const plugins = [];
  for (const name of ["commonjs", "json"]) {
    plugins.push((await import(`@rollup/plugin-${name}`)).default());
  }
  const { nodeResolve } = await import("@rollup/plugin-node-resolve");
  const warnings = [];
  const built = await rollup({
    input,
    plugins: [nodeResolve(resolution), ...plugins],
    onwarn: (it) => void (isOurs(it) && warnings.push(it.message)),
  });
  await built.write({ dir, entryFileNames });
  await built.close();
  return warnings;
}

const page = "./page.js", program = "./program.js";
const builds = {
  "esbuild for pages": (out) =>
    byEsbuild({ entryPoints: [page], outfile: `${out}/main.js`, minify: true }),
  "esbuild for Node, as a module": (out) =>
    byEsbuild({
      ...{ entryPoints: [program], platform: "node", format: "esm" },
      outfile: `${out}/main.mjs`,
    }),
  "esbuild for Node, as CommonJS": (out) =>
    byEsbuild({
      ...{ entryPoints: [program], platform: "node" },
      outfile: `${out}/main.cjs`,
    }),
  entries: (outdir) =>
    byEsbuild({
      entryPoints: readdirSync(".").filter((it) => it.startsWith("entry_")),
      ...{ platform: "node", format: "esm", outdir },
      outExtension: { ".js": ".mjs" },
    }),
  "webpack for pages": (path) =>
    byWebpack({ entry: page, output: { path, filename: "main.js" } }),
  "webpack for Node": (path) =>
    byWebpack({
      ...{ entry: program, target: "node" },
      output: { path, filename: "main.cjs", chunkFilename: "[id].cjs" },
    }),
  "Vite": byVite,
  "Rollup for pages": (dir) =>
    byRollup(page, { dir, entryFileNames: "main.js", browser: true }),
  "Rollup for Node": (dir) =>
    byRollup(program, {
      ...{ dir, entryFileNames: "main.mjs" },
      ...{ preferBuiltins: true, exportConditions: ["node"] },
    }),
};

const [name, folder] = argv.slice(2);
console.log(JSON.stringify(await builds[name](folder)));
