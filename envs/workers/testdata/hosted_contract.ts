/** What holds for vector environments wherever their groups are hosted. */
import { assertEquals, assertThrows } from "@std/assert";
import * as fc from "fast-check";
import { cloneBatch } from "../../batch.ts";
import { makeVec } from "../../mod.ts";
import { deriveSeed, SeededRandom } from "../../random.ts";
import { playVec, randomActions } from "../../testdata/play.ts";
import type { VecEnv } from "../../vec_env.ts";
import { VecRecordEpisodeStatistics } from "../../vec_wrappers/record_episode_statistics.ts";
import type { GroupSource } from "../group_source.ts";
import type { HostedVecEnv } from "../hosted_vec_env.ts";
import type { HostedVecEnvOptions } from "../hosted_vec_env_options.ts";
import type { RestartEvent } from "../restart_event.ts";
import { EpisodeWatch } from "./episode_watch.ts";
import {
  EPISODE_LENGTH,
  EXIT,
  GO,
  HANG,
  PROCESS_EXIT,
  THROW,
} from "./fragile_env.ts";
import { leavesNothing } from "./leftovers.ts";
import makeNested from "./nested_env.ts";

/** Makes a vector environment of one kind in so many groups. */
export type MakeHosted = (
  source: GroupSource,
  options: HostedVecEnvOptions & { numEnvs: number; groups: number },
) => HostedVecEnv;

export const FRAGILE: GroupSource = {
  module: import.meta.resolve("./fragile_env.ts"),
};
const NESTED: GroupSource = {
  module: import.meta.resolve("./nested_env.ts"),
};

/** Environments, and what has the same numbers in this thread. */
const SOURCES: [GroupSource, (numEnvs: number) => VecEnv][] = [
  ["CartPole-v1", (numEnvs) => makeVec("CartPole-v1", { numEnvs })],
  [
    { id: "Pendulum-v1", maxEpisodeSteps: 7 },
    (numEnvs) => makeVec("Pendulum-v1", { numEnvs, maxEpisodeSteps: 7 }),
  ],
  [
    { id: "Chain-v0", kwargs: { length: 3 } },
    (numEnvs) => makeVec("Chain-v0", { numEnvs, kwargs: { length: 3 } }),
  ],
  [NESTED, (numEnvs) => makeNested({ numEnvs, first: 0 })],
];

/** Uses an environment and closes it, whatever happens. */
export async function using<T extends VecEnv>(
  env: T,
  use: (env: T) => void | Promise<void>,
): Promise<void> {
  try {
    await use(env);
  } finally {
    env.close();
  }
}

/** Statistics are recorded around some of the ones compared. */
function withoutEpisodes(steps: unknown[]): unknown[] {
  return steps.map((step) => ({ ...step as object, episodes: [] }));
}

function testNumbers(name: string, make: MakeHosted, numRuns: number): void {
  Deno.test(`${name}: copies have the numbers of SyncVecEnv`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...SOURCES),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 3 }),
        fc.nat(),
        async ([source, alone], numEnvs, most, seed) => {
          const groups = Math.min(numEnvs, most), sync = alone(numEnvs);
          await using(make(source, { numEnvs, groups }), (env) => {
            assertEquals(env.observationSpace, sync.observationSpace);
            assertEquals(env.actionSpace, sync.actionSpace);
            assertEquals(env.spec, sync.spec);
            for (const options of [{ seed }, {}]) {
              assertEquals(
                cloneBatch(env.reset(options)),
                cloneBatch(sync.reset(options)),
              );
              assertEquals(
                withoutEpisodes(playVec(env, 40, seed)),
                withoutEpisodes(playVec(sync, 40, seed)),
              );
            }
          });
        },
      ),
      { numRuns },
    );
  });

  Deno.test(`${name}: copies of a larger whole can be hosted alone`, async () => {
    await using(make("Acrobot-v1", { numEnvs: 2, groups: 1 }), (env) => {
      const all = makeVec("Acrobot-v1", { numEnvs: 4 }).reset({ seed: 5 });
      const seed = [deriveSeed(5, 2), deriveSeed(5, 3)];
      assertEquals(
        cloneBatch(env.reset({ seed })),
        (all as Float32Array).slice(6 * 2),
      );
    });
  });

  Deno.test(`${name}: a snapshot restores it exactly`, async () => {
    const options = { numEnvs: 3, groups: 2 };
    await using(make(NESTED, options), async (env) => {
      env.reset({ seed: 3 });
      playVec(env, 25, 1);
      const snapshot = structuredClone(env.snapshot());
      const shown = cloneBatch(env.observations());
      const expected = playVec(env, 60, 2);
      await using(make(NESTED, options), (other) => {
        for (const it of [env, other]) {
          it.restore(snapshot);
          assertEquals(cloneBatch(it.observations()), shown);
          assertEquals(playVec(it, 60, 2), expected);
        }
      });
    });
  });
}

function testSending(name: string, make: MakeHosted): void {
  Deno.test(`${name}: who is ready first changes no copy's numbers`, async () => {
    const options = { numEnvs: 6, groups: 3 };
    await using(make(FRAGILE, options), (env) => {
      const watch = new EpisodeWatch(env.reset({ seed: 2 }), 6);
      const rewards = new Float64Array(6), steps = new Int32Array(6);
      env.send(new Int32Array(6));
      for (let i = 0; i < 100; i++) {
        const ready = env.recv(i % 4 + 1);
        assertEquals(watch.see(ready, ready.copies), []);
        ready.copies.forEach((copy, row) => {
          rewards[copy] += ready.rewards[row];
          steps[copy]++;
        });
        env.send(new Int32Array(ready.copies.length), ready.copies);
      }
      const sums = [...steps].map((count) =>
        Array.from({ length: count }, (_, i) => i % EPISODE_LENGTH + 1)
          .reduce((sum, it) => sum + it, 0)
      );
      assertEquals([...rewards], sums);
    });
  });

  Deno.test(`${name}: what is on its way does not keep it from closing`, async () => {
    await leavesNothing(() =>
      using(make(FRAGILE, { numEnvs: 4, groups: 2 }), (env) => {
        env.reset({ seed: 0 });
        env.send(new Int32Array(4));
      })
    );
  });
}

function testFailures(name: string, make: MakeHosted): void {
  const breaks = { THROW, EXIT, PROCESS_EXIT, HANG };
  for (const [how, action] of Object.entries(breaks)) {
    Deno.test(`${name}: a group is replaced after ${how}`, async () => {
      const events: RestartEvent[] = [];
      const options = {
        numEnvs: 5,
        groups: 2,
        stepTimeoutMs: 1_500,
        onRestart: (event: RestartEvent) => events.push(event),
      };
      await leavesNothing(() =>
        using(make(FRAGILE, options), (env) => {
          const watch = new EpisodeWatch(env.reset({ seed: 4 }), 5);
          for (let round = 0; round < 2; round++) {
            watch.see(env.step(new Int32Array(5)));
            const actions = Int32Array.of(GO, action, GO, GO, GO);
            assertEquals(watch.see(env.step(actions)), [0, 1, 2]);
            for (let i = 0; i < 12; i++) {
              assertEquals(watch.see(env.step(new Int32Array(5))), []);
            }
          }
          const reason = { [THROW]: "error", [HANG]: "timeout" }[action] ??
            "exit";
          assertEquals(events.map((it) => [it.group, it.error.reason]), [
            [0, reason],
            [0, reason],
          ]);
          if (action !== THROW) return;
          const [{ error }] = events;
          assertEquals(error.message, "the ball was lost");
          assertEquals(error.thrown, "RangeError");
          assertEquals(error.stack?.includes("fragile_env.ts"), true);
        })
      );
    });
  }

  Deno.test(`${name}: a broken episode is recorded once`, async () => {
    const onRestart = () => {};
    const inner = make(FRAGILE, { numEnvs: 2, groups: 2, onRestart });
    await using(new VecRecordEpisodeStatistics(inner), (env) => {
      env.reset({ seed: 0 });
      env.step(Int32Array.of(GO, GO));
      assertEquals(env.step(Int32Array.of(THROW, GO)).episodes, [
        { env: 0, return: 1, length: 2, terminated: false },
      ]);
      for (let i = 2; i < EPISODE_LENGTH; i++) env.step(new Int32Array(2));
      const { episodes } = env.step(new Int32Array(2));
      assertEquals(episodes?.map((it) => [it.env, it.length]), []);
    });
  });

  Deno.test(`${name}: what keeps breaking is an error in the end`, async () => {
    const onRestart = () => {};
    const options = { numEnvs: 2, groups: 2, restarts: 2, onRestart };
    await leavesNothing(() =>
      using(make(FRAGILE, options), (env) => {
        env.reset({ seed: 0 });
        const actions = Int32Array.of(GO, EXIT);
        env.step(actions);
        env.step(actions);
        assertThrows(
          () => env.step(actions),
          Error,
          "Cannot go on with group 1 (copy 1): it was restarted 2 times within 600 s, and now it",
        );
      })
    );
  });
}

function testBadInput(name: string, make: MakeHosted): void {
  Deno.test(`${name}: what cannot be made is one clear error`, async () => {
    const at = (path: string) => import.meta.resolve(path);
    const refused: [GroupSource, new () => Error, string][] = [
      [
        "CartPol-v1",
        RangeError,
        "Cannot start group 0 (copy 0): Unknown environment 'CartPol-v1': did you mean 'CartPole-v1'?",
      ],
      [
        { module: at("./none_such.ts") },
        TypeError,
        "Cannot start group 0 (copy 0): Module not found",
      ],
      [
        { module: at("./episode_watch.ts") },
        TypeError,
        "its default export is no function",
      ],
      [
        { id: "CartPole-v1", imports: ["@bellman/envs"] },
        TypeError,
        "Cannot import '@bellman/envs' in a host: expected an absolute URL, such as import.meta.resolve(\"@bellman/envs\")",
      ],
      [
        { id: "Chain-v0", kwargs: { length: () => 3 } },
        TypeError,
        "could not be cloned; expected plain data, and functions in a module",
      ],
    ];
    await leavesNothing(() => {
      for (const [source, kind, message] of refused) {
        assertThrows(
          () => make(source, { numEnvs: 2, groups: 2 }),
          kind,
          message,
        );
      }
    });
  });

  Deno.test(`${name}: bad actions break nothing`, async () => {
    await using(make("CartPole-v1", { numEnvs: 3, groups: 2 }), (env) => {
      env.reset({ seed: 0 });
      assertThrows(
        () => env.step(Int32Array.of(0, 1, 2)),
        RangeError,
        "Cannot take action 2",
      );
      const random = new SeededRandom(0);
      const { truncated } = env.step(randomActions(env, random));
      assertEquals([...truncated], [0, 0, 0]);
    });
  });
}

/** All of it, for one kind of hosts. */
export function testHosted(
  name: string,
  make: MakeHosted,
  { numRuns }: { numRuns: number },
): void {
  testNumbers(name, make, numRuns);
  testSending(name, make);
  testFailures(name, make);
  testBadInput(name, make);
}
