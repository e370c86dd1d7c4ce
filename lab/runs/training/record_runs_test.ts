import { openDataset, readMinari } from "@bellman/buffers/datasets";
import { make } from "@bellman/envs";
import { findAgent, recordRuns } from "@bellman/runs/training";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertRejects,
} from "@std/assert";
import { existsSync } from "node:fs";

const dir = await Deno.makeTempDir({ prefix: "bellman-record-" });
globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
const pole = (seed?: number) =>
  findAgent("zoo:a2c/CartPole-v1", { command: "record", seed });
const pendulum = (deterministic?: boolean) =>
  findAgent("zoo:sac/Pendulum-v1", { command: "record", deterministic });
const open = (path: string) => openDataset(path, { holdout: 0 });

Deno.test("what is recorded is what the environment saw and gave, and its own actions", async () => {
  const out = `${dir}/pendulum`;
  const { episodes, steps, meanReturn, summary } = await recordRuns(
    [pendulum(false)],
    { out, episodes: 2 },
  );
  assertEquals([episodes, steps], [2, 400]);
  assert(summary.startsWith("2 episodes, 400 steps, mean return -"), summary);
  assert(summary.endsWith(` to ${out}`), summary);
  assertAlmostEquals((await open(out)).meanReturn, meanReturn, 1e-9);
  const [{ seed, observations, actions, rewards }] =
    (await readMinari(out)).episodes;
  const [seen, taken] = [observations, actions] as Float32Array[];
  assert(taken.some((it) => Math.abs(it) > 1), "in the environment's bounds");
  // The recorded actions lead through the recorded observations.
  const env = make("Pendulum-v1");
  assertEquals(env.reset({ seed }), seen.slice(0, 3));
  for (let step = 0; step < 200; step++) {
    const result = env.step(taken.slice(step, step + 1));
    assertEquals(result.observation, seen.slice(3 * step + 3, 3 * step + 6));
    assertEquals(result.reward, rewards[step]);
  }
  env.close();
});

Deno.test("several runs play equal numbers, and more go on with other seeds", async () => {
  const out = `${dir}/mixture`, steps: number[] = [];
  const agents = [pole(), pole(), pole()];
  await recordRuns(agents, {
    ...{ out, episodes: 7, maxSteps: 4 },
    onStep: (_, step) => steps.push(step),
  });
  assertEquals(steps.at(-1), 27);
  await recordRuns(agents.slice(1), {
    ...{ out, episodes: 2, maxSteps: 4, append: true },
  });
  const data = await open(out);
  assertEquals([data.numEpisodes, data.numSteps], [9, 36]);
  const batch = data.training.allocate(36);
  let at = 0;
  data.training.sample({ integer: () => at++ }, batch);
  const firsts = Array.from(
    { length: 9 },
    (_, i) =>
      (batch.observations as Float32Array).slice(16 * i, 16 * i + 4).join(),
  );
  assertEquals(new Set(firsts).size, 9);
  // Cut episodes are truncated.
  assertEquals(batch.terminated.includes(1), false);
});

Deno.test("the episodes that ended are there before all have, and after an interrupt", async () => {
  const out = `${dir}/early`, end = new AbortController();
  let seen = 0;
  const { episodes } = await recordRuns([pole()], {
    ...{ out, episodes: 1_000_000, everySeconds: 0, signal: end.signal },
    onStep() {
      if (!existsSync(out)) return;
      seen++;
      end.abort();
    },
  });
  assert(seen > 0 && episodes < 1_000_000);
  assertEquals((await open(out)).numEpisodes, episodes);
});

Deno.test("a recording that is killed keeps its whole episodes, and goes on", async () => {
  const out = `${dir}/killed`,
    code = `
    import { findAgent, recordRuns } from "@bellman/runs/training";
    await recordRuns([findAgent("zoo:a2c/CartPole-v1", { command: "record" })], {
      ...{ out: ${JSON.stringify(out)}, episodes: 1e6, everySeconds: 0 },
    });`;
  const script = new URL("./.record_killed.ts", import.meta.url).pathname;
  await Deno.writeTextFile(script, code);
  try {
    const process = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "-q", "--no-check", script],
    }).spawn();
    for (let i = 0; i < 1000 && !existsSync(out); i++) {
      await new Promise((done) => setTimeout(done, 20));
    }
    // In the midst of the writings that follow.
    await new Promise((done) => setTimeout(done, 700));
    process.kill("SIGKILL");
    await process.status;
  } finally {
    await Deno.remove(script);
  }
  const { numEpisodes } = await open(out);
  assert(numEpisodes > 0);
  await recordRuns([pole()], { out, episodes: 1, append: true });
  assertEquals((await open(out)).numEpisodes, numEpisodes + 1);
});

Deno.test("what cannot be recorded is refused before anything is played", async () => {
  const out = `${dir}/refused`;
  const steps: number[] = [];
  const onStep = (_: unknown, step: number) => void steps.push(step);
  const refuse = (what: () => Promise<unknown>, text: string) =>
    assertRejects(what, Error, text);
  await refuse(
    () => recordRuns([pole(), pendulum()], { out, episodes: 2, onStep }),
    "Cannot record",
  );
  await refuse(
    () => recordRuns([pole(), pole()], { out, episodes: 1, onStep }),
    "Cannot record 1 episodes of 2 runs: expected at least one of each",
  );
  assertEquals(existsSync(out), false);
  await Deno.mkdir(out);
  await refuse(
    () => recordRuns([pole()], { out, episodes: 1, onStep }),
    "it exists, expected a new folder, or --append",
  );
  await refuse(
    () => recordRuns([pole()], { out, episodes: 1, append: true, onStep }),
    "expected data/main_data.hdf5 in it",
  );
  const other = `${dir}/other`;
  await recordRuns([pendulum()], { out: other, episodes: 1, maxSteps: 3 });
  const agent = pole(), before = (await open(other)).sha256;
  await refuse(
    () =>
      recordRuns([agent], { out: other, episodes: 1, append: true, onStep }),
    "its observations are a box of shape [3], expected a box of shape [4]",
  );
  assertEquals((await open(other)).sha256, before);
  assertEquals([steps, [...Deno.readDirSync(out)]], [[], []]);
});

Deno.test("two that record to one folder do not at the same time", async () => {
  const out = `${dir}/both`;
  const record = () => recordRuns([pole()], { out, episodes: 2, maxSteps: 20 });
  const ends = await Promise.allSettled([record(), record()]);
  const refused = ends.filter((it) => it.status === "rejected");
  assertEquals(refused.length, 1);
  assert(
    /does at present/.test(String(refused[0].reason)),
    `${refused[0].reason}`,
  );
  assertEquals((await open(out)).numEpisodes, 2);
  assertEquals(existsSync(`${out}.lock`), false);
});
