/**
 * Packs the text files of a folder (presets, style sheets, Python), or a page that is
 * bundled out of its modules, into its `texts.json`, by name: JSR refuses packages
 * that import text. `--check` only tells whether they are current.
 */
import { fileURLToPath } from "node:url";
import { denoOutput } from "./deno_output.ts";
import { ROOT } from "./packages.ts";
import { imageSheet, pageSheet } from "./style_sheets.ts";

/** Style sheets that are not packed as they are. */
const SHEETS: Readonly<Record<string, (path: string) => Promise<string>>> = {
  "board.css": pageSheet,
  "game.css": Deno.readTextFile,
  "plots.css": imageSheet,
  "report.css": pageSheet,
};

/** Pages that are bundled, by folder, with the packages that each bundle holds. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  "lab/board/page": ["preact", "uplot"],
};

const BUNDLE = ["bundle", "--quiet", "--platform=browser", "--minify"];

async function folders(): Promise<string[]> {
  const found = [
    ...Object.keys(PAGES),
    "algorithms/training/plots",
    "client",
    "lab/runs/ray",
    "lab/search/host",
    "envs/gymnasium/host",
    "envs/workers/ray/driver",
  ];
  for await (const { name } of Deno.readDir(`${ROOT}algorithms`)) {
    const folder = `algorithms/${name}/presets`;
    if (await Deno.stat(ROOT + folder).catch(() => null)) found.push(folder);
  }
  return found.sort();
}

async function textsOf(folder: string): Promise<[string, string][]> {
  const names = Array.from(Deno.readDirSync(ROOT + folder), (it) => it.name)
    .filter((name) => name in SHEETS || /\.(py|txt|yaml)$/.test(name));
  return await Promise.all(
    names.map(async (name): Promise<[string, string]> => [
      name,
      await (SHEETS[name] ?? Deno.readTextFile)(`${ROOT}${folder}/${name}`),
    ]),
  );
}

/** Reads the license of a package, which its copies must hold. */
async function licenseOf(name: string): Promise<string> {
  let folder = new URL(".", import.meta.resolve(name));
  for (;;) {
    const text = await Deno.readTextFile(new URL("LICENSE", folder))
      .catch(() => undefined);
    if (text !== undefined) return `/*! ${name}\n${text.trim()}\n*/\n`;
    const above = new URL("..", folder);
    if (above.href === folder.href) throw new Error(`${name} has no LICENSE`);
    folder = above;
  }
}

/** Bundles a page; the style sheet of its charts comes before its own. */
async function pageOf(folder: string): Promise<[string, string][]> {
  const script = [
    ...await Promise.all(PAGES[folder].map(licenseOf)),
    await denoOutput([...BUNDLE, `${folder}/board.tsx`]),
  ].join("");
  const charts = new URL("uPlot.min.css", import.meta.resolve("uplot"));
  const first = await Deno.readTextFile(fileURLToPath(charts));
  const styles = (await textsOf(folder))
    .map(([name, text]): [string, string] => [name, first + text]);
  return [...styles, ["board.js", script]];
}

async function pack(folder: string): Promise<string> {
  const texts = folder in PAGES ? await pageOf(folder) : await textsOf(folder);
  texts.sort(([a], [b]) => a < b ? -1 : 1);
  return JSON.stringify(Object.fromEntries(texts), null, 2) + "\n";
}

for (const folder of await folders()) {
  const path = `${ROOT}${folder}/texts.json`;
  const text = await pack(folder);
  if (text === await Deno.readTextFile(path).catch(() => "")) continue;
  if (Deno.args.includes("--check")) {
    console.error(`${folder}/texts.json is not current: run 'deno task texts'`);
    Deno.exitCode = 1;
  } else {
    await Deno.writeTextFile(path, text);
    console.log(`wrote ${folder}/texts.json`);
  }
}
