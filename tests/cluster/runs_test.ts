/** Runs on a cluster of which one machine after the other is lost. */
import { readRecord } from "@bellman/runs";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { csvParse } from "d3-dsv";
import { existsSync } from "node:fs";
import { stringify } from "@std/yaml";
import { testsWith } from "../testdata/tests_with.ts";
import {
  canCluster,
  cluster,
  HEAD,
  nodeOf,
  onNode,
  processesOf,
  PYTHON,
  runProcesses,
} from "./testdata/machines.ts";

const test = testsWith("Ray and network namespaces", canCluster);

const ROOT = new URL("../../", import.meta.url).pathname;

const VARIANTS = {
  a2c: {
    environments: ["CartPole-v1"],
    steps: 4_000_000,
    set: { checkpointInterval: 50_000 },
  },
  sac: {
    environments: ["Pendulum-v1"],
    steps: 40_000,
    set: { checkpointInterval: 1_000, learningStarts: 100 },
  },
};
const PLAN = {
  seeds: 1,
  episodes: 2,
  set: { hiddenSizes: [16], evaluationEpisodes: 2 },
  variants: VARIANTS,
};

/** Waits until something holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Starts an experiment on the head. */
function start(plan: string, dir: string, ...args: string[]) {
  const flags = ["-q", "--no-check", "-P=run", `--config=${ROOT}deno.json`];
  const command = ["experiment", plan, "--out", dir, ...args];
  return onNode(0, [
    ...[Deno.execPath(), "run", ...flags, `${ROOT}cli/main.ts`],
    ...command,
  ], {
    stdout: "piped",
    stderr: "piped",
    env: { BELLMAN_RAY_PYTHON: PYTHON },
  }).spawn();
}

/** Ends all processes of a node. */
function endNode(node: number): void {
  for (const pid of processesOf(node)) {
    try {
      Deno.kill(pid, "SIGKILL");
    } catch {
      // It has ended with the others.
    }
  }
}

/** Reads rows of a run's log, without what differs from one machine to another. */
function rowsOf(dir: string): unknown[] {
  return csvParse(Deno.readTextFileSync(`${dir}/progress.csv`)).map((row) =>
    Object.entries(row).filter(([name]) => !/seconds|per_second/.test(name))
  );
}

test("runs whose machines are lost end as those of one machine", async () => {
  const root = Deno.makeTempDirSync({ prefix: "bellman-runs-" });
  const plan = `${root}/plan.yaml`;
  Deno.writeTextFileSync(plan, stringify(PLAN));
  try {
    cluster("down");
    cluster("up", "4");
    const far = start(plan, `${root}/far`, "--jobs", "2", "--cluster", HEAD);
    const ended = far.output();
    for (const variant of Object.keys(VARIANTS)) {
      const [environment] = VARIANTS[variant as "a2c"].environments;
      const dir = `${root}/far/runs/${variant}/${environment}/seed-0`;
      await until(() =>
        existsSync(`${dir}/checkpoints`) &&
        [...Deno.readDirSync(`${dir}/checkpoints`)]
          .some(({ name }) => /^step_\d+\.safetensors$/.test(name))
      );
      const record = readRecord({ recordPath: `${dir}/run.json` });
      assert(record?.state !== "ended", `${variant} has ended`);
      const [pid] = runProcesses(`"${variant}"`);
      endNode(nodeOf(pid));
    }
    const { code, stdout, stderr } = await ended;
    const [out, err] = [stdout, stderr]
      .map((it) => new TextDecoder().decode(it));
    assertEquals(code, 0, err);
    for (const variant of Object.keys(VARIANTS)) {
      assertMatch(err, new RegExp(`${variant}/.*; it is resumed elsewhere`));
    }
    assertMatch(out, /2 of 2 cells finished/);
    const results = csvParse(Deno.readTextFileSync(`${root}/far/results.csv`));
    results.forEach(({ resumes }) => assert(Number(resumes) >= 1));
    await until(() => runProcesses().length === 0);

    const near = await start(plan, `${root}/near`, "--jobs", "2").output();
    assertEquals(near.code, 0, new TextDecoder().decode(near.stderr));
    for (const { variant, environment } of results) {
      const [one, other] = ["near", "far"]
        .map((it) => `${root}/${it}/runs/${variant}/${environment}/seed-0`);
      for (const name of ["policy.onnx", "episodes.csv"]) {
        const [bytes, others] = [one, other]
          .map((it) => Deno.readFileSync(`${it}/${name}`));
        assertEquals(bytes, others, `${variant} ${name}`);
      }
      assertEquals(rowsOf(one), rowsOf(other));
    }
  } finally {
    cluster("down");
    Deno.removeSync(root, { recursive: true });
  }
});
