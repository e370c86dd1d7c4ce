/** Everything that breaks, again and again, in workers and in processes. */
import { assertEquals } from "@std/assert";
import { SeededRandom } from "../../envs/random.ts";
import type { AsyncVecEnv } from "../../envs/workers/async_vec_env.ts";
import type { RestartEvent } from "../../envs/workers/restarts.ts";
import { SubprocessVecEnv } from "../../envs/workers/processes/subprocess_vec_env.ts";
import { EpisodeWatch } from "../../envs/workers/testdata/episode_watch.ts";
import {
  ABORT,
  EXIT,
  GO,
  HANG,
  PROCESS_EXIT,
  THROW,
} from "../../envs/workers/testdata/fragile_env.ts";
import { FRAGILE, using } from "../../envs/workers/testdata/hosted_use.ts";
import { leavesNothing } from "../../envs/workers/testdata/leftovers.ts";
import { WorkerVecEnv } from "../../envs/workers/threads/worker_vec_env.ts";

const NUM_ENVS = 7, GROUPS = 3;
const isLinux = Deno.build.os === "linux";

/** Actions that break none, one or several copies, and their groups. */
function drawActions(
  random: SeededRandom,
  ways: readonly number[],
): Int32Array {
  const actions = new Int32Array(NUM_ENVS).fill(GO);
  for (let copy = 0; copy < NUM_ENVS; copy++) {
    if (random.uniform() < 0.05) {
      actions[copy] = ways[random.integer(ways.length)];
    }
  }
  return actions;
}

/** The copies of groups in which an action breaks. */
function brokenBy(actions: Int32Array, groupOf: readonly number[]): number[] {
  const groups = new Set(groupOf.filter((_, copy) => actions[copy] !== GO));
  return [...groupOf.keys()].filter((copy) => groups.has(groupOf[copy]));
}

/** Steps with random actions until so many groups were broken. */
function breakAgainAndAgain(
  env: AsyncVecEnv,
  { ways, times }: { ways: readonly number[]; times: number },
): number {
  // Groups of three, two and two copies.
  const groupOf = [0, 0, 0, 1, 1, 2, 2];
  const random = new SeededRandom(times);
  const watch = new EpisodeWatch(env.reset({ seed: 1 }), NUM_ENVS);
  let groups = 0, hangs = 2;
  while (groups < times) {
    const actions = drawActions(random, ways);
    for (const [copy, action] of actions.entries()) {
      if (action === HANG && hangs-- <= 0) actions[copy] = THROW;
    }
    const broken = brokenBy(actions, groupOf);
    assertEquals(watch.see(env.step(actions)), broken);
    groups += new Set(broken.map((copy) => groupOf[copy])).size;
  }
  assertEquals(watch.ended > 10, true);
  return groups;
}

Deno.test("workers: many failures, each told once, leave nothing", async () => {
  const events: RestartEvent[] = [];
  await leavesNothing(() =>
    using(
      new WorkerVecEnv(FRAGILE, {
        numEnvs: NUM_ENVS,
        workers: GROUPS,
        stepTimeoutMs: 1_500,
        restarts: Infinity,
        onRestart: (event) => events.push(event),
      }),
      (env) => {
        const ways = [THROW, EXIT, PROCESS_EXIT, HANG];
        const groups = breakAgainAndAgain(env, { ways, times: 25 });
        assertEquals(events.length, groups);
      },
    )
  );
});

Deno.test("processes: many failures, each told once, leave nothing", async () => {
  const events: RestartEvent[] = [];
  await leavesNothing(() =>
    using(
      new SubprocessVecEnv(FRAGILE, {
        numEnvs: NUM_ENVS,
        processes: GROUPS,
        stepTimeoutMs: 1_500,
        restarts: Infinity,
        onRestart: (event) => events.push(event),
      }),
      (env) => {
        const ways = [THROW, EXIT, PROCESS_EXIT, HANG];
        if (isLinux) ways.push(ABORT);
        const groups = breakAgainAndAgain(env, { ways, times: 25 });
        assertEquals(events.length, groups);
        const aborted = events.some(({ error }) =>
          error.message.includes("SIGABRT")
        );
        assertEquals(aborted, isLinux);
      },
    )
  );
});

Deno.test({
  name: "processes that are killed at any moment are replaced",
  // There are no signals elsewhere.
  ignore: Deno.build.os === "windows",
  fn: async () => {
    const reasons: string[] = [];
    const random = new SeededRandom(0);
    await leavesNothing(() =>
      using(
        new SubprocessVecEnv(FRAGILE, {
          numEnvs: NUM_ENVS,
          processes: GROUPS,
          restarts: Infinity,
          onRestart: ({ error }) => reasons.push(error.message),
        }),
        async (env) => {
          const watch = new EpisodeWatch(env.reset({ seed: 1 }), NUM_ENVS);
          for (let kills = 1; kills <= 10; kills++) {
            const pid = env.pids()[random.integer(GROUPS)];
            const delay = 0.02 * random.uniform();
            // Another process kills, as this one is busy with steps.
            const killer = new Deno.Command("sh", {
              args: ["-c", `sleep ${delay}; kill -9 ${pid}`],
            }).spawn();
            while (reasons.length < kills) {
              const before = reasons.length;
              const broken = watch.see(env.step(new Int32Array(NUM_ENVS)));
              assertEquals(broken.length > 0, reasons.length > before);
            }
            assertEquals((await killer.status).success, true);
          }
          assertEquals(
            new Set(reasons),
            new Set(["its process was ended by SIGKILL"]),
          );
        },
      )
    );
  },
});
