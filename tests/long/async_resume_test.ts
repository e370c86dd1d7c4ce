/** Free-running workers that are stopped or killed: runs go on from the exact step. */
import type { StateTree } from "@bellman/types";
import { CheckpointStore } from "@bellman/training";
import { assert, assertEquals } from "@std/assert";
import { train, trainProcess } from "../runs.ts";

const STEPS = 60_000;

/** The newest checkpoint's step, and the step count of the shared parameters. */
function stepsOf(dir: string): { loop: number; shared: number } {
  const { state } = new CheckpointStore(`${dir}/checkpoints`).load("latest");
  const { loop, algorithm } = state as Record<
    string,
    Record<string, StateTree>
  >;
  const { counts, params } = algorithm.shared as Record<string, StateTree>;
  assert((params as Float32Array).every(Number.isFinite));
  return { loop: loop.step as number, shared: (counts as Int32Array)[0] };
}

/** Step of a run's newest checkpoint, -1 where there is none. */
function savedAt(dir: string): number {
  try {
    const { checkpoints } = new CheckpointStore(`${dir}/checkpoints`).list();
    return checkpoints.at(-1)?.step ?? -1;
  } catch {
    return -1;
  }
}

/** Starts a run, ends it by a signal in its midst; true where it was quicker. */
async function stop(
  args: string[],
  dir: string,
  signal: Deno.Signal,
): Promise<boolean> {
  const before = savedAt(dir);
  const child = trainProcess(args).spawn();
  const output = child.output();
  let hasEnded = false;
  child.status.then(() => hasEnded = true);
  while (!hasEnded && savedAt(dir) <= before) {
    await new Promise((go) => setTimeout(go, 20));
  }
  if (!hasEnded) child.kill(signal);
  const { code, stderr } = await output;
  const expected = signal === "SIGINT" ? 130 : 137;
  if (code === 0) return true;
  assertEquals(code, expected, new TextDecoder().decode(stderr));
  return false;
}

for (const algorithm of ["a3c", "async-q", "async-nstep-q", "async-sarsa"]) {
  Deno.test(`free workers of ${algorithm} go on after Ctrl-C and SIGKILL`, async () => {
    const root = await Deno.makeTempDir({ prefix: "bellman-async-" });
    const dir = `${root}/run`;
    let args = [
      ...[algorithm, "--env=CartPole-v1", `--steps=${STEPS}`],
      ...["--set=workers=2", "--set=stepsPerStop=100"],
      ...["--set=checkpointInterval=1000", "--set=evaluationInterval=0"],
      ...["--set=hiddenSizes=[8]", "--quiet", `--out=${dir}`],
    ];
    let stops = 0;
    for (const signal of ["SIGKILL", "SIGINT", "SIGKILL", "SIGINT"] as const) {
      if (await stop(args, dir, signal)) break;
      stops++;
      const { loop, shared } = stepsOf(dir);
      assertEquals(shared, loop);
      assert(loop < STEPS);
      args = ["--resume", dir, "--quiet"];
    }
    assert(stops > 1, `${stops} stops`);
    const { code, err } = await train(args);
    assertEquals(code, 0, err);
    assertEquals(stepsOf(dir), { loop: STEPS, shared: STEPS });
    await Deno.remove(root, { recursive: true });
  });
}
