import { assert, assertEquals, assertMatch } from "@std/assert";
import { existsSync } from "node:fs";
import { parsePlan, type Plan } from "../../lab/experiments/plan.ts";
import { keyOf, resolveSettings } from "../../lab/experiments/settings.ts";
import { runDeno } from "../testdata/run_deno.ts";
import { BARS_FILE, type LearningResults, UNTIL_FOLDER } from "./results.ts";
import {
  resultCells,
  resultsFrom,
  resultsPath,
  type ResultsPlace,
} from "./write_results.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

function planIn({ folder, name }: ResultsPlace): Plan {
  const path = `${folder}/plan.yaml`;
  return parsePlan(Deno.readTextFileSync(path), path, name);
}

/** Files of results in a folder. */
function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return [...Deno.readDirSync(folder)].map(({ name }) => name)
    .filter((it) => it.endsWith(".json") && it !== BARS_FILE)
    .map((it) => `${folder}/${it}`);
}

for (const entry of Deno.readDirSync(`${ROOT}algorithms`)) {
  const name = entry.name.replaceAll("_", "-");
  const place = { name, folder: `${ROOT}algorithms/${entry.name}/results` };
  if (!existsSync(`${place.folder}/${BARS_FILE}`)) continue;

  Deno.test(`the plan of ${name} has all results and bars, each once`, async () => {
    const plan = planIn(place);
    assertEquals(plan.name, name);
    const planned = resultCells(plan, "none");
    const byPath = new Map(planned.map((it) => [resultsPath(it, place), it]));
    assertEquals(byPath.size, planned.length);
    const options = { set: [], isTrusted: true, isShared: false };
    const settings = await resolveSettings(plan, {
      ...options,
      wanted: new Set(),
    }, () => {});
    const files = [
      ...filesIn(place.folder),
      ...filesIn(`${place.folder}/${UNTIL_FOLDER}`),
    ];
    for (const path of files) {
      const { seeds, steps, env }: LearningResults = JSON.parse(
        Deno.readTextFileSync(path),
      );
      const { variant, environment, cells } = byPath.get(path)!;
      assertEquals(environment, env);
      assertEquals(
        seeds.map(({ seed }) => seed),
        cells.map(({ seed }) => seed),
        path,
      );
      const { config } = settings.get(
        keyOf({ variant: variant.name, environment }),
      )!;
      assertEquals(config.totalTimesteps, steps, path);
    }
    const bars = JSON.parse(
      Deno.readTextFileSync(`${place.folder}/${BARS_FILE}`),
    );
    for (const bar of Object.keys(bars)) {
      const file = `${place.folder}/${bar.replaceAll(/[/:]/g, "-")}.json`;
      assert(byPath.has(file), `${bar} of ${name} is in no plan`);
    }
  });
}

const PLAN = `
name: a2c
environments: [CartPole-v1]
seeds: 2
steps: 480
episodes: 3
set: { evaluationInterval: 160 }
variants:
  a2c: {}
  until: { algorithm: a2c, seeds: [7], set: { stopReward: 5 } }
`;

/** Runs the program where the folders of algorithms lie. */
function bench(dir: string, ...args: string[]) {
  const main = new URL("main.ts", import.meta.url).pathname;
  const config = `--config=${ROOT}deno.json`;
  return runDeno([config, "-P=bench", main, ...args], { cwd: dir });
}

Deno.test("bench:learning runs the plan and writes what is whole", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const place = { name: "a2c", folder: `${dir}/algorithms/a2c/results` };
    const { folder } = place;
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeTextFile(`${folder}/plan.yaml`, PLAN);
    await Deno.writeTextFile(`${folder}/${BARS_FILE}`, '{"CartPole-v1": 475}');

    const first = await bench(dir, "a2c", "--only", "*/*/seed-0", "--write");
    assertEquals(first.code, 0, first.err);
    const path = `${folder}/CartPole-v1.json`;
    assertMatch(
      first.out,
      /a2c on CartPole-v1, last: \d+\.\d, [01] of 1 seeds reach 475\n/,
    );
    assertMatch(first.out, /not written: .*, 1 of 2 seeds are finished\n/);
    assert(!existsSync(path));

    const rest = await bench(dir, "a2c", "--jobs", "1", "--write");
    assertEquals(rest.code, 0, rest.err);
    assertMatch(
      rest.out,
      /until on CartPole-v1: a mean return of 5 after a median of 160 \[160, 160\] steps, 1 of 1 seeds\n/,
    );
    const read = (path: string): LearningResults =>
      JSON.parse(Deno.readTextFileSync(path));
    const { seeds, ...written } = read(path);
    assertEquals({ ...written, commit: "" }, {
      env: "CartPole-v1",
      preset: "",
      command: "deno task bench:learning a2c --only 'a2c/CartPole-v1' --jobs 1",
      commit: "",
      set: { evaluationInterval: 160 },
      steps: 480,
      episodes: 3,
      bar: 475,
    });
    assertEquals(seeds.map(({ seed, last }) => [seed, last?.step]), [
      [0, 480],
      [1, 480],
    ]);
    // Nothing ran: what is written has the command that made it.
    const again = await bench(dir, "a2c", "--only", "a2c", "--write");
    assertEquals(again.code, 0, again.err);
    assert(!/wrote|until/.test(again.out), again.out);
    assertMatch(read(path).command, /--jobs 1$/);
    const until = read(`${folder}/${UNTIL_FOLDER}/CartPole-v1.json`);
    assertEquals([until.bar, until.every], [5, 160]);
    assertEquals(
      until.seeds.map(({ seed, reached }) => [seed, reached]),
      [[7, 160]],
    );

    // As the program of a package of several would be.
    const [own] = resultCells(planIn(place), `${dir}/experiments/a2c`);
    const other = { name: "several", folder };
    const { program, bar } = resultsFrom(own, {
      episodes: 3,
      words: [],
      place: other,
    });
    assertEquals([program, bar], ["@bellman/several a2c", null]);
    assertEquals(
      resultsPath(own, other),
      `${folder}/a2c-CartPole-v1.json`,
    );
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("bench:learning names the plans that there are", async () => {
  const unknown = await bench(ROOT, "a2cc");
  assertEquals(unknown.code, 2);
  assertMatch(unknown.err, /^Cannot bench 'a2cc': expected a2c or acer or /);
  const member = await bench(ROOT, "a3c");
  assertEquals(member.code, 2);
  assertMatch(member.err, /its variants are in that of async, as in /);
  const option = await bench(ROOT, "a2c", "--first-seed", "3");
  assertEquals(option.code, 2);
  assertMatch(option.err, /Unknown option '--first-seed'/);
});
