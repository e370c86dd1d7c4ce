/**
 * Steps environments of a cluster, one line of JSON on stdout for whatever happens,
 * until its input says a line or ends: CLUSTER PYTHON TRACE STEP_TIMEOUT_MS
 */
import { RayVecEnv } from "@bellman/envs/ray";
import { describeRestart } from "@bellman/envs/workers";

const GROUPS = 2, ENVS = 4;
const [cluster, python, trace, stepTimeoutMs] = Deno.args;

function say(line: object): void {
  console.log(JSON.stringify(line));
}

let isOver = false;
Deno.stdin.read(new Uint8Array(1)).then(() => isOver = true);

const env = new RayVecEnv({
  module: import.meta.resolve("./counted_env.ts"),
  options: { ms: 20, trace },
}, {
  cluster,
  python,
  numEnvs: GROUPS * ENVS,
  processes: GROUPS,
  stepTimeoutMs: Number(stepTimeoutMs),
  startTimeoutMs: 60_000,
  restarts: 3,
  onNotice: (line) => say({ notice: line }),
  onRestart: (event) => say({ notice: describeRestart(event) }),
});
env.reset({ seed: 7 });
say({ hosts: env.pids() });

let steps = 0, lostGroups = 0, cutOff = 0, at = performance.now();
try {
  while (!isOver) {
    const { lost = [], truncated, rewards } = env.step(
      new Int32Array(GROUPS * ENVS),
    ) as ReturnType<typeof env.step> & { lost?: readonly number[] };
    const now = performance.now();
    steps++;
    if (lost.length > 0) {
      lostGroups += lost.length / ENVS;
      cutOff += lost.filter((it) => truncated[it] === 1 && rewards[it] === 0)
        .length;
      say({ lost, silenceMs: Math.round(now - at) });
    }
    at = now;
    // What comes from outside is heard between two steps.
    await new Promise((resolve) => setTimeout(resolve));
  }
} catch (error) {
  say({ ended: (error as Error).message });
}
env.close();
const executed = Deno.readTextFileSync(trace).length / "step\n".length;
say({
  steps,
  executed,
  lostGroups,
  cutOff,
  consumed: GROUPS * steps - lostGroups,
});
Deno.exit();
