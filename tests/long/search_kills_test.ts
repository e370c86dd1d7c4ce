/**
 * A search whose processes are killed at random moments, its driver, the process of a
 * run and Python, draws the same trials with the same numbers as one that is not.
 */
import { shuffle } from "@bellman/buffers";
import { SeededRandom } from "@bellman/envs";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { hasOptuna } from "../../lab/search/testdata/has_optuna.ts";
import {
  childrenOf,
  isGone,
} from "../../envs/workers/processes/testdata/processes.ts";
import { runProcess } from "../runs.ts";

const MAIN = new URL("../../cli/main.ts", import.meta.url).pathname;

const SPACE = `algorithm: a2c
environment: CartPole-v1
preset: none
steps: 2000
trials: 12
seeds: 2
space:
  learningRate: { min: 1e-5, max: 1e-1, scale: log }
  numSteps: [5, 16]
set:
  learningRate: 1e-5
  hiddenSizes: [8]
  evaluationInterval: 400
  evaluationEpisodes: 2
  checkpointInterval: 200
confirm: { top: 1, seeds: 1 }
`;

/** True where the command line of a process has a word (Linux). */
async function isProgram(pid: number, word: string): Promise<boolean> {
  const { stdout } = await new Deno.Command("cat", {
    args: [`/proc/${pid}/cmdline`],
  }).output();
  return new TextDecoder().decode(stdout).includes(word);
}

/** Words of the command lines of what a search starts. */
const WORDS = { run: "run_job.ts", python: "import collections" };

/** Finds a process of a search. */
async function find(
  driver: number,
  which: "driver" | keyof typeof WORDS,
): Promise<number | undefined> {
  if (which === "driver") return driver;
  for (const pid of await childrenOf(driver)) {
    if (await isProgram(pid, WORDS[which])) return pid;
  }
}

function kill(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch {
    // It has just ended.
  }
}

/**
 * Runs a search to its end, and kills one of its processes again and again, each of
 * the three as often: a run that is killed three times in a row has failed.
 */
async function killedSearch(
  args: readonly string[],
  { count, random }: { count: number; random: SeededRandom },
): Promise<{ kills: Record<string, number>; left: number[] }> {
  const kills = { driver: 0, run: 0, python: 0 }, left = new Set<number>();
  const names = Object.keys(kills) as (keyof typeof kills)[];
  const order = Int32Array.from(names.keys());
  let turn = 0;
  for (;;) {
    const driver = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "-q", "--no-check", MAIN, ...args],
      stdin: "null",
      stdout: "null",
      stderr: "piped",
      env: { NO_COLOR: "1" },
    }).spawn();
    const ended = driver.output();
    let isKilled = false;
    ended.then(() => isKilled = true);
    while (!isKilled) {
      await new Promise((resolve) =>
        setTimeout(resolve, random.uniform(50, 1_300))
      );
      if (isKilled || turn >= count) break;
      const children = await childrenOf(driver.pid);
      children.forEach((it) => left.add(it));
      if (turn % 3 === 0) shuffle(order, random);
      const which = names[order[turn % 3]];
      const pid = await find(driver.pid, which);
      if (pid === undefined) continue;
      kills[which]++;
      turn++;
      kill(pid);
      if (which === "driver") break;
    }
    const { code, signal, stderr } = await ended;
    if (signal === "SIGKILL") continue;
    const said = new TextDecoder().decode(stderr);
    // Three in a row are an error, after which the same command goes on.
    if (said.includes("Python ended 3 times")) continue;
    assertEquals(code, 0, said);
    return { kills, left: [...left] };
  }
}

Deno.test({
  name: "a search that is killed 30 times is the whole search [Optuna]",
  ignore: !hasOptuna() || Deno.build.os !== "linux",
  async fn() {
    const root = await Deno.makeTempDir({ prefix: "bellman-search-" });
    try {
      const file = `${root}/space.yaml`;
      await Deno.writeTextFile(file, SPACE);
      const out = (
        name: string,
      ) => ["search", file, "--out", `${root}/${name}`];
      const [whole, { kills, left }] = await Promise.all([
        // Of a machine that has other work, too.
        runProcess(out("whole"), { signal: AbortSignal.timeout(1_200_000) }),
        killedSearch(out("killed"), {
          count: 30,
          random: new SeededRandom(0),
        }),
      ]);
      assertEquals(whole.code, 0, whole.err);
      const [record, killed] = ["whole", "killed"].map((it) =>
        Deno.readTextFileSync(`${root}/${it}/trials.jsonl`)
      );
      assertEquals(killed, record);
      assertStringIncludes(record, '"state":"pruned"');
      const [best, killedBest] = ["whole", "killed"].map((it) =>
        Deno.readTextFileSync(`${root}/${it}/best.yaml`)
          .replace(/^# Found by .*/, "")
      );
      assertEquals(killedBest, best);
      for (const [which, count] of Object.entries(kills)) {
        assert(count >= 3, `${count} kills of ${which}`);
      }
      for (const pid of left) {
        assert(await isGone(pid), `process ${pid} is left`);
      }
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  },
});

Deno.test({
  name:
    "a search of two runs at a time that is killed loses no trial, and runs none twice [Optuna]",
  ignore: !hasOptuna() || Deno.build.os !== "linux",
  async fn() {
    const root = await Deno.makeTempDir({ prefix: "bellman-search-" });
    try {
      const file = `${root}/space.yaml`, dir = `${root}/killed`;
      await Deno.writeTextFile(file, SPACE.replace("trials: 12", "trials: 8"));
      const args = ["search", file, "--out", dir, "--jobs", "2"];
      const random = new SeededRandom(1);
      const { left } = await killedSearch(args, { count: 10, random });
      const events = Deno.readTextFileSync(`${dir}/trials.jsonl`).trimEnd()
        .split("\n").map((it) => JSON.parse(it));
      const trialsOf = (op: string) =>
        events.filter((it) => it.op === op).map(({ trial }) => trial).sort();
      assertEquals(trialsOf("ask"), [...Array(8).keys()]);
      assertEquals(trialsOf("tell"), [...Array(8).keys()]);
      // The evaluations of each run, in their order.
      const reports = events.filter(({ op }) => op === "report");
      const runs = Map.groupBy(reports, ({ trial, run }) => `${trial} ${run}`);
      for (
        const steps of [...runs.values()].map((it) =>
          it.map(({ step }) => step)
        )
      ) {
        assertEquals(steps, [...new Set(steps)].sort((a, b) => a - b));
      }
      for (const pid of left) {
        assert(await isGone(pid), `process ${pid} is left`);
      }
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  },
});
