/**
 * A2C learns in environments that are killed two hundred times: each step
 * counts, each broken episode is cut off once, and nothing is left behind.
 */
import { A2C } from "@bellman/a2c";
import { selectBackend } from "@bellman/compute";
import type { EpisodeStatistics, VecStep } from "@bellman/types";
import {
  type AsyncVecEnv,
  type RestartEvent,
  SubprocessVecEnv,
  WorkerVecEnv,
} from "@bellman/envs/workers";
import { train } from "@bellman/training";
import { assert, assertEquals } from "@std/assert";
import { leavesNothing } from "../../envs/workers/testdata/leftovers.ts";

const NUM_ENVS = 6, GROUPS = 3;
const SOURCE = import.meta.resolve("./crashing_cart_pole.ts");
/** CartPole starts anew within this of the middle. */
const START = 0.05;

/** Follows a run from outside. */
class Witness {
  readonly events: RestartEvent[] = [];
  readonly episodes: EpisodeStatistics[] = [];
  /** Episodes that broke, by copy. */
  readonly broken = new Int32Array(NUM_ENVS);
  #before: Float32Array;
  #seen = 0;

  constructor(observations: Float32Array) {
    this.#before = observations.slice();
  }

  /** Checks that exactly the copies that were restarted are cut off. */
  see(step: VecStep): void {
    const expected = new Set(step.lost);
    assertEquals(expected.size > 0, this.events.length > this.#seen);
    this.#seen = this.events.length;
    const after = step.observations as Float32Array;
    const finals = step.finalObservations as Float32Array;
    for (let copy = 0; copy < NUM_ENVS; copy++) {
      assertEquals(step.truncated[copy] === 1, expected.has(copy));
      const at = 4 * copy, isNew = isStart(after.subarray(at, at + 4));
      if (expected.has(copy)) {
        this.broken[copy]++;
        assertEquals([step.terminated[copy], step.rewards[copy]], [0, 0]);
        assertEquals(
          finals.slice(at, at + 4),
          this.#before.slice(at, at + 4),
        );
        assert(isNew);
      } else {
        assertEquals(step.rewards[copy], 1);
        if (step.terminated[copy]) assert(isNew);
      }
    }
    this.#before = after.slice();
  }
}

function isStart(observation: Float32Array): boolean {
  return observation.every((it) => Math.abs(it) <= START);
}

/** Trains while environments break, and checks what came of it. */
async function learnAmongRuins(
  make: (onRestart: (event: RestartEvent) => void) => AsyncVecEnv,
  { totalTimesteps, least }: { totalTimesteps: number; least: number },
): Promise<RestartEvent[]> {
  await selectBackend("wasm");
  let witness: Witness | undefined;
  const env = make((event) => witness!.events.push(event));
  const agent = new A2C(env, {
    config: { hiddenSizes: [8], numSteps: 5 },
    totalTimesteps,
  });
  try {
    witness = new Witness(env.reset({ seed: 1 }) as Float32Array);
    const seen = witness;
    const result = await train(agent, env, {
      totalTimesteps,
      seed: 1,
      callbacks: [{
        onStep: (_, step) => seen.see(step as VecStep),
        onEpisode: (_, episode) => void seen.episodes.push(episode),
      }],
    });
    assertEquals([result.stopReason, result.step], [
      "completed",
      totalTimesteps,
    ]);
    assertEquals(result.updates, totalTimesteps / NUM_ENVS / 5);
    checkEpisodes(seen, totalTimesteps / NUM_ENVS);
    assert(seen.events.length >= least, `${seen.events.length} restarts`);
    return seen.events;
  } finally {
    agent.close();
    env.close();
  }
}

/** Each step belongs to one episode, and each broken one ended once. */
function checkEpisodes({ episodes, broken }: Witness, steps: number): void {
  for (let copy = 0; copy < NUM_ENVS; copy++) {
    const own = episodes.filter((it) => it.env === copy);
    assertEquals(own.filter((it) => !it.terminated).length, broken[copy]);
    const counted = own.reduce((sum, it) => sum + it.length, 0);
    assert(counted <= steps && counted > steps - 500);
  }
}

type Make = (
  chances: Record<string, number>,
  onRestart?: (event: RestartEvent) => void,
) => AsyncVecEnv;

/** Training with at least so many failures, after which nothing is left. */
async function survive(
  make: Make,
  chances: Record<string, number>,
): Promise<RestartEvent[]> {
  // A first run opens what a process keeps.
  await learnAmongRuins(() => make({}), { totalTimesteps: 60, least: 0 });
  let events: RestartEvent[] = [];
  await leavesNothing(async () => {
    events = await learnAmongRuins(
      (onRestart) => make(chances, onRestart),
      { totalTimesteps: 5_400, least: 100 },
    );
  });
  return events;
}

const SHARED = {
  numEnvs: NUM_ENVS,
  restarts: Infinity,
  stepTimeoutMs: 2_000,
};
const ignore = Deno.build.os !== "linux";

Deno.test({
  name: "A2C learns in workers that throw, exit and hang",
  ignore,
  fn: async () => {
    const make: Make = (chances, onRestart) =>
      new WorkerVecEnv({ module: SOURCE, options: { chances } }, {
        ...SHARED,
        workers: GROUPS,
        onRestart,
      });
    const chances = { throw: 0.015, exit: 0.01, hang: 0.0005 };
    const events = await survive(make, chances);
    assertEquals(
      new Set(events.map((it) => it.error.reason)),
      new Set(["error", "exit", "timeout"]),
    );
  },
});

Deno.test({
  name: "A2C learns in processes that are killed, abort and hang",
  ignore,
  fn: async () => {
    const make: Make = (chances, onRestart) =>
      new SubprocessVecEnv({ module: SOURCE, options: { chances } }, {
        ...SHARED,
        processes: GROUPS,
        onRestart,
        showOutput: false,
      });
    const chances = {
      kill: 0.013,
      throw: 0.005,
      exit: 0.004,
      abort: 0.004,
      hang: 0.0004,
    };
    const events = await survive(make, chances);
    const all = events.map((it) => it.error.what).join("\n");
    for (
      const what of [
        "SIGKILL",
        "SIGABRT",
        "ended with code 3",
        "it threw Error: the cart left the track",
        "it gave no answer within 2000 ms",
      ]
    ) assert(all.includes(what), what);
  },
});
