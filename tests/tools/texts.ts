/**
 * Packs the text files of a folder (presets, style sheets, Python) into its
 * `texts.json`, by name: JSR refuses packages that import text. `--check` only
 * tells whether they are current.
 */
import { ROOT } from "./packages.ts";

async function folders(): Promise<string[]> {
  const found = [
    "algorithms/training/plots",
    "cli/cluster",
    "cli/search/host",
    "envs/gymnasium/host",
    "envs/workers/ray/driver",
  ];
  for await (const { name } of Deno.readDir(`${ROOT}algorithms`)) {
    const folder = `algorithms/${name}/presets`;
    if (await Deno.stat(ROOT + folder).catch(() => null)) found.push(folder);
  }
  return found.sort();
}

async function pack(folder: string): Promise<string> {
  const names = Array.from(Deno.readDirSync(ROOT + folder), (it) => it.name)
    .filter((name) => /\.(css|py|yaml)$/.test(name)).sort();
  const texts = await Promise.all(
    names.map((name) => Deno.readTextFile(`${ROOT}${folder}/${name}`)),
  );
  const byName = Object.fromEntries(names.map((name, i) => [name, texts[i]]));
  return JSON.stringify(byName, null, 2) + "\n";
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
