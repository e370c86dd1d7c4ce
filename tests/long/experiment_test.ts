/** Experiments that are killed, damaged or out of disk: they end as the undisturbed one does. */
import { SeededRandom } from "@bellman/envs";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { csvParse } from "d3-dsv";
import { existsSync } from "node:fs";
import {
  childrenOf,
  isGone,
} from "../../envs/workers/processes/testdata/processes.ts";
import { mount, testWithDisk } from "../disks.ts";
import { pick } from "../kills/draw_run.ts";
import { logsOf, runProcess } from "../runs.ts";

const MAIN = new URL("../../cli/main.ts", import.meta.url).pathname;
const dir = await Deno.makeTempDir({ prefix: "bellman-experiments-" });
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(dir, { recursive: true }),
);

const PLAN = `
environments: [CartPole-v1, Acrobot-v1]
seeds: 3
steps: 12000
episodes: 3
set:
  hiddenSizes: [8]
  checkpointInterval: 1000
  evaluationEpisodes: 2
  maxEpisodeSteps: 100
variants:
  a2c: {}
  slow: { algorithm: a2c, set: { learningRate: 0.0001 } }
`;
const PLAN_PATH = `${dir}/plan.yaml`;
await Deno.writeTextFile(PLAN_PATH, PLAN);

const argumentsIn = (
  out: string,
) => ["experiment", PLAN_PATH, "--out", out, "--jobs", "2"];

/** Some of the cells, where all take long. */
const FEW = ["--only", "*/*/seed-0"];

/** Results of cells without the time that they took, and what each logged. */
function remainsOf(out: string, seeds = 3): unknown {
  const rows = csvParse(Deno.readTextFileSync(`${out}/results.csv`))
    .filter(({ seed }) => Number(seed) < seeds);
  return rows.map(({ seconds: _, commit: __, resumes: ___, ...row }) => {
    const cell =
      `${out}/runs/${row.variant}/${row.environment}/seed-${row.seed}`;
    return { ...row, ...logsOf(cell) };
  });
}

const whole = `${dir}/whole`;
const undisturbed = await runProcess(argumentsIn(whole));
assertEquals(undisturbed.code, 0, undisturbed.err);
const expected = remainsOf(whole);

/** A driver, and all that it has printed so far. */
function startDriver(out: string, ...more: string[]) {
  const driver = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "-q", "--no-check", MAIN, ...argumentsIn(out), ...more],
    stdout: "piped",
    stderr: "piped",
    env: { NO_COLOR: "1" },
  }).spawn();
  const said = { out: "", err: "" };
  const read = async (
    stream: ReadableStream<Uint8Array<ArrayBuffer>>,
    to: "out" | "err",
  ) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      said[to] += text;
    }
  };
  const ended = Promise.all([
    driver.status,
    read(driver.stdout, "out"),
    read(driver.stderr, "err"),
  ])
    .then(([status]) => status);
  return { driver, said, ended };
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until something is so, while a driver runs. */
async function until(
  { said, ended }: ReturnType<typeof startDriver>,
  isSo: () => boolean | Promise<boolean>,
): Promise<void> {
  let hasEnded = false;
  ended.then(() => hasEnded = true);
  while (!await isSo()) {
    assert(!hasEnded, `the driver has ended: ${said.out}${said.err}`);
    await sleep(20);
  }
}

function kill(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(pid, signal);
  } catch {
    // It was quicker.
  }
}

/** Ways to disturb a driver, whose cells are given; true where it goes on. */
const DISTURBANCES: Record<
  string,
  (driver: number, cells: number[], random: SeededRandom) => boolean
> = {
  "kill the driver"(driver) {
    kill(driver, "SIGKILL");
    return false;
  },
  "kill a cell"(_, cells, random) {
    if (cells.length > 0) kill(pick(random, cells), "SIGKILL");
    return true;
  },
  "kill all"(driver, cells) {
    for (const pid of [driver, ...cells]) kill(pid, "SIGKILL");
    return false;
  },
  "Ctrl-C"(driver) {
    kill(driver, "SIGINT");
    return false;
  },
  "Ctrl-C twice"(driver) {
    kill(driver, "SIGINT");
    setTimeout(() => kill(driver, "SIGINT"), 50);
    return false;
  },
};

Deno.test("an experiment that is killed 30 times is the undisturbed one", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  const out = `${dir}/killed`;
  const random = new SeededRandom(4);
  const started = new Set<number>();
  let kills = 0;
  // A slow machine has begun few cells by then.
  while (kills < 30 || started.size < 20 && kills < 90) {
    const { driver, said, ended } = startDriver(out);
    let hasEnded = false;
    ended.then(() => hasEnded = true);
    for (let goesOn = true; goesOn && !hasEnded;) {
      // Sometimes where the results are written.
      const before = said.out.match(/: last /g)?.length ?? 0;
      const ms = random.uniform() < 0.2 ? 10 : 1_500 * random.uniform();
      const isAtEnd = random.uniform() < 0.3;
      const limit = performance.now() + (isAtEnd ? 4_000 : ms);
      while (performance.now() < limit && !hasEnded) {
        if (isAtEnd && (said.out.match(/: last /g)?.length ?? 0) > before) {
          break;
        }
        await sleep(5);
      }
      const cells = hasEnded ? [] : await childrenOf(driver.pid);
      cells.forEach((it) => started.add(it));
      const name = pick(random, Object.keys(DISTURBANCES));
      goesOn = DISTURBANCES[name](driver.pid, cells, random);
      kills++;
    }
    await ended;
    assert(!/error/i.test(said.err), said.err);
    if (said.out.includes("12 of 12 cells finished. ")) break;
  }
  assert(
    kills >= 25 && started.size >= 20,
    `${kills} kills of ${started.size} cells`,
  );
  const { code, err } = await runProcess([...argumentsIn(out), "--retry"]);
  assertEquals(code, 0, err);
  assertEquals(remainsOf(out), expected);
  for (const pid of started) {
    assert(await isGone(pid), `process ${pid} is left`);
  }
});

Deno.test(
  "a second driver is refused, and a cell whose driver was killed is waited for",
  {
    ignore: Deno.build.os !== "linux",
  },
  async () => {
    const out = `${dir}/two`;
    const first = startDriver(out, ...FEW);
    const children = () => childrenOf(first.driver.pid);
    await until(first, async () => (await children()).length === 2);
    const second = await runProcess([...argumentsIn(out), ...FEW]);
    assertEquals([second.code, second.out], [2, ""]);
    assertMatch(
      second.err,
      new RegExp(
        `^error: Cannot run the experiment .*: process ${first.driver.pid} on .* runs it at present\n$`,
      ),
    );
    // The last ones have just begun, and have their locks.
    const isBegun = ({ variant, environment, seed }: Record<string, string>) =>
      existsSync(
        `${out}/runs/${variant}/${environment}/seed-${seed}/config.yaml`,
      );
    const few = csvParse(Deno.readTextFileSync(`${whole}/results.csv`))
      .filter(({ seed }) => seed === "0");
    await until(first, () => few.every(isBegun));
    const cells = await children();
    // They are stopped in the midst of something: the end of their input waits.
    cells.forEach((it) => kill(it, "SIGSTOP"));
    first.driver.kill("SIGKILL");
    await first.ended;
    const third = startDriver(out, ...FEW);
    try {
      await until(third, () => third.said.err.includes("Waiting for "));
    } finally {
      cells.forEach((it) => kill(it, "SIGCONT"));
    }
    assertEquals((await third.ended).code, 0, third.said.err);
    assertEquals(remainsOf(out, 1), remainsOf(whole, 1));
  },
);

testWithDisk(
  "an experiment on a full disk stops at once, and ends well once there is room",
  "size=300k",
  async (disk) => {
    const out = `${disk}/experiment`;
    const full = await runProcess([...argumentsIn(out), ...FEW]);
    assertEquals(full.code, 1, full.err);
    assertMatch(
      full.err,
      /^error: The experiment in .* stopped: .*Cannot use the f\w+ .*: the disk is full\b.*; resume it with: deno task experiment .*$/m,
    );
    assert(!full.err.includes("    at "), full.err);
    await mount(disk, "remount,size=50m");
    const { code, err } = await runProcess([...argumentsIn(out), ...FEW]);
    assertEquals(code, 0, err);
    assertEquals(remainsOf(out, 1), remainsOf(whole, 1));
  },
);

Deno.test("whichever file of an experiment is damaged, the same command mends it", async () => {
  const cell = `${whole}/runs/a2c/CartPole-v1/seed-0`;
  const paths = [
    `${whole}/plan.yaml`,
    `${whole}/results.csv`,
    `${whole}/experiment.lock`,
    `${cell}/run.json`,
    `${cell}/run.lock`,
  ];
  const random = new SeededRandom(1);
  const damages: readonly ((path: string) => void)[] = [
    (path) => Deno.removeSync(path),
    (path) =>
      Deno.truncateSync(
        path,
        Math.floor(random.uniform() * Deno.statSync(path).size),
      ),
    (path) =>
      Deno.writeFileSync(
        path,
        Uint8Array.from({ length: 99 }, () => random.integer(256)),
      ),
    (path) => Deno.writeTextFileSync(path, "{}"),
  ];
  for (const path of paths) {
    for (
      const damage of path.endsWith(".json")
        ? damages
        : [pick(random, damages.slice(1))]
    ) {
      if (path.endsWith("lock")) Deno.writeTextFileSync(path, "left\n");
      damage(path);
      const { code, err } = await runProcess(argumentsIn(whole));
      assertEquals([code, err], [0, ""], path);
      assertEquals(remainsOf(whole), expected);
    }
  }
});
