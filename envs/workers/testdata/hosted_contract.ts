/** What holds for vector environments wherever their groups are hosted. */
import { assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { cloneBatch } from "../../spaces/batch.ts";
import { makeVec } from "../../mod.ts";
import { deriveSeed } from "../../random.ts";
import { playVec } from "../../testdata/play.ts";
import type { VecEnv } from "@bellman/types";
import type { GroupSource } from "../group_source.ts";
import { testBadInput, testFailures } from "./failing_contract.ts";
import { type MakeHosted, using } from "./hosted_use.ts";
import makeNested from "./nested_env.ts";

const NESTED: GroupSource = {
  module: import.meta.resolve("./nested_env.ts"),
};

const MASKED = {
  id: "Identity-v0",
  maxEpisodeSteps: 6,
  kwargs: {
    actionSpace: { type: "multiDiscrete", nvec: [2, 3] },
    masked: true,
  },
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
  [MASKED, (numEnvs) => {
    const { id, ...options } = MASKED;
    return makeVec(id, { ...options, numEnvs });
  }],
  [NESTED, (numEnvs) => makeNested({ numEnvs, first: 0 })],
];

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
            assertEquals(env.actionMasks?.slice(), sync.actionMasks);
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

  Deno.test(`${name}: goals are judged as in this thread`, async () => {
    const kwargs = { bits: 3 };
    const alone = makeVec("BitFlip-v0", { numEnvs: 1, kwargs });
    const source = { id: "BitFlip-v0", kwargs };
    await using(make(source, { numEnvs: 3, groups: 2 }), (env) => {
      const bits = (n: number) =>
        fc.uint8Array({ min: 0, max: 1, minLength: 3 * n, maxLength: 3 * n });
      const goals = fc.integer({ min: 1, max: 40 })
        .chain((n) => fc.tuple(bits(n), bits(n)));
      env.reset({ seed: 0 });
      fc.assert(
        fc.property(goals, ([achieved, desired]) => {
          for (const it of ["computeReward", "computeTerminated"] as const) {
            assertEquals(
              Array.from(env[it]!(achieved, desired)),
              Array.from(alone[it]!(achieved, desired)),
            );
          }
        }),
        { numRuns: 10 },
      );
    });
    await using(make("CartPole-v1", { numEnvs: 1, groups: 1 }), (env) => {
      assertEquals(env.computeReward, undefined);
    });
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

  for (const [what, source] of Object.entries({ NESTED, MASKED })) {
    Deno.test(`${name}: a snapshot restores ${what} exactly`, async () => {
      const options = { numEnvs: 3, groups: 2 };
      await using(make(source, options), async (env) => {
        env.reset({ seed: 3 });
        playVec(env, 25, 1);
        const snapshot = structuredClone(env.save());
        const shown = cloneBatch(env.observations());
        const masks = env.actionMasks?.slice();
        const expected = playVec(env, 60, 2);
        await using(make(source, options), (other) => {
          for (const it of [env, other]) {
            it.load(snapshot);
            assertEquals(cloneBatch(it.observations()), shown);
            assertEquals(it.actionMasks?.slice(), masks);
            assertEquals(playVec(it, 60, 2), expected);
          }
        });
      });
    });
  }
}

/** All of it, for one kind of hosts. */
export function testHosted(
  name: string,
  make: MakeHosted,
  { numRuns }: { numRuns: number },
): void {
  testNumbers(name, make, numRuns);
  testFailures(name, make);
  testBadInput(name, make);
}
