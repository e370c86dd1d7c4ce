/**
 * The folder of an experiment or a search that somebody else has made is written to
 * and removed from nowhere but in itself, wherever links lie in it.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { csvParse } from "d3-dsv";
import { existsSync } from "node:fs";
import { dirname, relative } from "node:path";
import { capture } from "../cli/testdata/capture.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-groups-" });
/** Folder of the user's own runs, which nothing may touch. */
const home = `${dir}/home`;

const SETTINGS = `steps: 40
set: { hiddenSizes: [4], numSteps: 5, evaluationEpisodes: 1 }
`;
const PLAN = `${SETTINGS}environments: [CartPole-v1]
episodes: 1
seeds: 1
variants: { a2c: {} }
`;
const SPACE = `${SETTINGS}algorithm: a2c
environment: CartPole-v1
sampler: random
space: { learningRate: [0.001, 0.01] }
trials: 2
confirm: { top: 1, seeds: 1 }
`;

/** Kinds of groups, with the command that goes on with one. */
const GROUPS = {
  experiment: ["experiment", `${dir}/plan.yaml`],
  search: ["search", `${dir}/space.yaml`],
} as const;
type Group = keyof typeof GROUPS;

Deno.writeTextFileSync(`${dir}/plan.yaml`, PLAN);
Deno.writeTextFileSync(`${dir}/space.yaml`, SPACE);
for (const [name, command] of Object.entries(GROUPS)) {
  const { code, err } = await capture(...command, "--out", `${dir}/${name}`);
  assertEquals(code, 0, err);
}

function copy(from: string, to: string): void {
  Deno.mkdirSync(dirname(to), { recursive: true });
  if (!Deno.statSync(from).isDirectory) return Deno.copyFileSync(from, to);
  Deno.mkdirSync(to);
  for (const { name } of Deno.readDirSync(from)) {
    copy(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Paths below a folder, with what is there. */
function contentOf(folder: string): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (path: string) => {
    for (const { name, isDirectory, isSymlink } of Deno.readDirSync(path)) {
      const inner = `${path}/${name}`;
      if (isDirectory) walk(inner);
      found.set(
        inner,
        isDirectory
          ? "a folder"
          : isSymlink
          ? Deno.readLinkSync(inner)
          : Deno.readFileSync(inner).join(),
      );
    }
  };
  walk(folder);
  return found;
}

/** Puts links in the place of something, which is the user's own from then on. */
const LINKS: readonly ((path: string, own: string) => void)[] = [
  (path, own) => Deno.symlinkSync(own, path),
  (path, own) => Deno.symlinkSync(relative(dirname(path), own), path),
  (path, own) => {
    Deno.symlinkSync(own, `${own}.link`);
    Deno.symlinkSync(`${own}.link`, path);
  },
];
let count = 0;

/** A copy of a group with a link in it. */
function linked(
  group: Group,
  place: string,
  link: (path: string, own: string) => void,
): string {
  const folder = `${dir}/theirs/${count++}`;
  const own = `${home}/own`;
  Deno.removeSync(home, { recursive: true });
  copy(`${dir}/${group}`, folder);
  const path = `${folder}/${place}`.replace(/\/$/, "");
  if (existsSync(path)) {
    copy(path, own);
    Deno.removeSync(path, { recursive: true });
  } else {
    Deno.mkdirSync(dirname(path), { recursive: true });
    Deno.mkdirSync(own, { recursive: true });
    Deno.writeTextFileSync(`${own}/mine.txt`, "mine");
  }
  link(path, own);
  return folder;
}

const test = (name: string, run: () => Promise<void>) =>
  Deno.test(name, { ignore: Deno.build.os === "windows" }, run);
Deno.mkdirSync(home);

/** Checks that commands are refused in one line, and touch nothing. */
async function checkRefused(
  commands: readonly (readonly string[])[],
  folder: string,
): Promise<void> {
  const there = [contentOf(home), contentOf(`${folder}/.`)];
  for (const args of commands) {
    const { code, out, err } = await capture(...args);
    const told = `${args.join(" ")}: ${out}${err}`;
    assertEquals([code, out, err.split("\n").length], [2, "", 2], told);
    assertStringIncludes(err, " is a link", told);
    assertEquals([contentOf(home), contentOf(`${folder}/.`)], there, told);
  }
}

const RUN = "runs/a2c/CartPole-v1/seed-0", TRIAL = "trials/0001/seed-0";

/** Places of links; what is not there is made. */
const PLACES: Readonly<Record<Group, readonly string[]>> = {
  experiment: [
    ...["", "plan.yaml", "results.csv", "random_returns.json", "report.html"],
    ...["experiment.lock", "results.csv.tmp", "figures", "tables", "runs"],
    ...["tables/time.csv", "figures/new", "runs/a2c", "runs/a2c/CartPole-v1"],
    ...["runs/other", RUN, `${RUN}/run.lock`, `${RUN}/checkpoints`],
    ...[`${RUN}/run.json`, `${RUN}/run.json.tmp`, `${RUN}/config.yaml`],
    ...[`${RUN}/failure.txt`, `${RUN}/evaluations.json`],
    `${RUN}/checkpoints/best.safetensors`,
  ],
  search: [
    ...["", "trials.jsonl", "search.lock", "best.yaml", "search.html"],
    ...["random_returns.json", "trials", "trials/0000", "trials/0001"],
    ...["trials/0002", "confirmation", "confirmation/0000", TRIAL],
    ...[`${TRIAL}/run.json`, `${TRIAL}/run.lock`, `${TRIAL}/checkpoints`],
    `${TRIAL}/replay.rows`,
    ...["confirmation/0001/seed-1", `${TRIAL}/report.html`, "search.html.tmp"],
  ],
};

/** Options with which a group is written to, removed from or read. */
const WAYS: Readonly<Record<Group, readonly (readonly string[])[]>> = {
  experiment: [[], ["--trust"], ["--retry"], ["--report"]],
  search: [[], ["--trust"], ["--trials=3"], [`--export-optuna=${dir}/journal`]],
};

for (const [name, places] of Object.entries(PLACES)) {
  const group = name as Group;
  test(`${group}: a link anywhere in the folder is refused, trusted or not`, async () => {
    for (const [i, place] of places.entries()) {
      const folder = linked(group, place, LINKS[i % LINKS.length]);
      const [command, file] = GROUPS[group];
      const way = WAYS[group][i % WAYS[group].length];
      await checkRefused([[command, file, "--out", folder, ...way]], folder);
    }
    // What leads nowhere is where a file or folder would be made.
    const folder = linked(
      group,
      places.at(-1)!,
      (path) => Deno.symlinkSync(`${home}/new`, path),
    );
    await checkRefused([[...GROUPS[group], "--out", folder]], folder);
  });
}

test("a run that lies behind a link in its group is not taken for the group's", async () => {
  const behind: [Group, string, string][] = [
    ["experiment", "", RUN],
    ["experiment", "runs", RUN],
    ["experiment", "runs/a2c", RUN],
    ["experiment", RUN, RUN],
    ["search", "trials", TRIAL],
    ["search", "trials/0001", TRIAL],
    ["search", TRIAL, TRIAL],
  ];
  for (const [i, [group, place, inner]] of behind.entries()) {
    const folder = linked(group, place, LINKS[i % LINKS.length]);
    const run = `${folder}/${inner}`;
    const out = `${dir}/never`;
    await checkRefused([
      ["train", "--resume", run, "--steps", "80"],
      ["train", "a2c", "--init-from", `${run}/`, "--out", out],
      ["eval", run, "--episodes", "1"],
      ["play", run],
      ["export", run],
      ["plot", run, "--key", "eval/return_mean"],
      ["share", run, "--out", out],
    ], folder);
    assertEquals(existsSync(out), false);
  }
  const folder = linked("experiment", "runs", LINKS[0]);
  await checkRefused([["plot", folder, "--key=eval/return_mean"]], folder);
});

Deno.test("a cell is not taken for that of another seed", async () => {
  const folder = `${dir}/seeds`, plan = `${dir}/seeds.yaml`;
  copy(`${dir}/experiment`, folder);
  copy(`${folder}/${RUN}`, `${folder}/${RUN.replace("seed-0", "seed-1")}`);
  Deno.writeTextFileSync(plan, PLAN.replace("seeds: 1", "seeds: 2"));
  const { code, err } = await capture("experiment", plan, "--out", folder);
  assertEquals([code, err], [
    2,
    "error: Cannot change seed of a2c/CartPole-v1/seed-1, which exists: give the variant another name, or remove its folder\n",
  ]);
});

Deno.test("a record of another seed, or one that was edited, makes no result of a cell", async () => {
  const folder = `${dir}/records`, plan = `${dir}/records.yaml`;
  Deno.writeTextFileSync(plan, PLAN.replace("seeds: 1", "seeds: 2"));
  const command = ["experiment", plan, "--out", folder];
  assertEquals((await capture(...command)).code, 0);
  const [first, second] = [0, 1].map((seed) =>
    `${folder}/${RUN.replace("seed-0", `seed-${seed}`)}/run.json`
  );
  const whole = Deno.readTextFileSync(first);
  Deno.copyFileSync(second, first);
  const { code, err } = await capture(...command);
  assertEquals([code, err], [
    2,
    "error: Cannot change seed of a2c/CartPole-v1/seed-0, which exists: give the variant another name, or remove its folder\n",
  ]);
  // The returns of an edited one are not believed: the run is evaluated once more.
  const results = () =>
    csvParse(Deno.readTextFileSync(`${folder}/results.csv`))
      .map(({ seed, state, steps, last, best }) => [
        ...[seed, state, steps, last, best],
      ]);
  Deno.writeTextFileSync(first, whole);
  assertEquals((await capture(...command)).code, 0);
  const expected = results();
  const edited = whole.replace(/"meanReturn": [\d.]+/g, '"meanReturn": 500');
  Deno.writeTextFileSync(first, edited);
  const again = await capture(...command);
  assertEquals(again.code, 0, again.err);
  assertEquals(results(), expected);
});

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
