import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { dirname, join } from "node:path";
import { Agent, defaultsOf } from "@bellman/agent";
import { selectBackend } from "@bellman/compute";
import { ALGORITHMS } from "../../lab/runs/settings/algorithms.ts";
import { ROOT } from "./packages.ts";
import {
  curvePictures,
  isInstalled,
  type KeptEpisode,
  replay,
} from "./pictures.ts";

const readme = await Deno.readTextFile(`${ROOT}README.md`);
// Without those that other tests register.
const OURS = [...ALGORITHMS];

/** Files of a folder and those below. */
function* filesOf(folder: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* filesOf(path);
    else yield path;
  }
}

Deno.test("pictures take less than 1 MB together", () => {
  const files = [...filesOf(`${ROOT}docs/pictures`), ...curvePictures().keys()];
  const bytes = [...new Set(files)]
    .reduce((sum, path) => sum + Deno.statSync(path).size, 0);
  assert(bytes < 1_000_000, `${bytes} bytes`);
});

Deno.test("pictures on the first page and on that of results have texts", () => {
  for (const page of ["README.md", "docs/results.md"]) {
    const text = Deno.readTextFileSync(ROOT + page);
    const [, path] = text.match(/<img src="([^"]+)"[^>]* alt="/)!;
    assert(Deno.statSync(join(ROOT, dirname(page), path)).size > 0);
    assertEquals(text.match(/<img (?![^>]*alt=")/), null);
  }
});

Deno.test("curves are those that 'deno task pictures' draws", () => {
  for (const [path, svg] of curvePictures()) {
    assertEquals(Deno.readTextFileSync(path), svg, path);
  }
});

for (const path of filesOf(`${ROOT}docs/pictures/episodes`)) {
  const episode: KeptEpisode = JSON.parse(Deno.readTextFileSync(path));
  Deno.test(
    `the kept episode of ${episode.env} has its return ${
      episode.env.startsWith("gym:") ? "[Gymnasium]" : "[ALE]"
    }`,
    { ignore: !isInstalled(episode) },
    async () => {
      const hidden = { ...episode, start: 1, end: 0 };
      const sum = await replay(hidden, () => {});
      assertAlmostEquals(sum, episode.return, 1e-6);
    },
  );
}

Deno.test("the README's library example learns CartPole by its command", async () => {
  const [, source, text, command] = readme.match(
    /```ts\n([^]*?)```[^]*?```json\n(\{\n\s+"links"[^]*?)```[^]*?`npx -y deno@2.9 (run [^`]*)`/,
  )!;
  const config = JSON.parse(text);
  assertEquals(config.links, ["../bellman"]);
  const dir = await Deno.makeTempDir({ prefix: "bellman-links-" });
  await Deno.writeTextFile(
    `${dir}/deno.json`,
    JSON.stringify({ ...config, links: [ROOT] }),
  );
  await Deno.writeTextFile(`${dir}/main.ts`, source);
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: command.split(" "),
    cwd: dir,
  }).output();
  await Deno.remove(dir, { recursive: true });
  const [out, err] = [stdout, stderr].map((it) => new TextDecoder().decode(it));
  // One line, and no warning.
  assertEquals(err, "");
  const [, mean] = out.match(/^([\d.]+) ± [\d.]+\n$/) ?? [];
  assert(Number(mean) >= 475, out);
});

const BOX = { type: "box", shape: [2], low: -1, high: 1, dtype: "float32" };
const DISCRETE = { type: "discrete", n: 3 };
const MULTI = { type: "multiDiscrete", nvec: [2, 3] };
const BINARY = { type: "multiBinary", n: 3 };

Deno.test("the README's table says what each algorithm takes", async () => {
  await selectBackend("cpu");
  const takes = (
    definition: typeof ALGORITHMS[number],
    actionSpace: object,
    settings: object = {},
  ): string => {
    try {
      const options = {
        config: { ...defaultsOf(definition.meta.schema), ...settings },
        engine: "eager",
        totalTimesteps: 100,
      };
      // A worker has one environment; minibatches may need several.
      const numEnvs = definition.startWorkers === undefined ? 8 : 1;
      const spaces = { observationSpace: BOX, actionSpace, numEnvs };
      new Agent(definition, spaces as never, options as never).close();
      return "yes";
    } catch {
      return "no";
    }
  };
  for (const definition of OURS) {
    const row = readme.split("\n")
      .find((line) =>
        line.startsWith("| [") &&
        line.split("]")[0].includes(`\`${definition.meta.name}\``)
      );
    assert(row !== undefined, `no row for ${definition.meta.name}`);
    assertEquals(takes(definition, MULTI), takes(definition, BINARY));
    assertEquals(row.split("|").slice(2, 6).map((it) => it.trim()), [
      takes(definition, DISCRETE),
      takes(definition, BOX),
      takes(definition, MULTI),
      takes(definition, DISCRETE, { network: "lstm" }),
    ], definition.meta.name);
  }
});
