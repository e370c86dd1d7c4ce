import { assert, assertEquals, assertRejects } from "@std/assert";
import { make, makeVec } from "@bellman/envs";
import fc from "fast-check";
import type { Actor, Batch, VecEnv, VecStep } from "@bellman/types";
import {
  evaluate,
  evaluationBound,
  evaluationSeeds,
  summarizeEpisodes,
} from "./evaluate.ts";
import { FixedEnv } from "./testdata/fixed_env.ts";
import { ToyAlgorithm, ToyEnv } from "./testdata/toy.ts";
import { train } from "./train.ts";

const idle = (numEnvs: number): Actor => ({
  act: () => new Int32Array(numEnvs),
});

Deno.test("each copy has its quota, so short episodes are not favoured", async () => {
  const result = await evaluate(idle(2), new FixedEnv([1, 100]), {
    episodes: 4,
  });
  assertEquals(result.returns, [1, 1, 100, 100]);
  assertEquals(result.lengths, [1, 1, 100, 100]);
  assertEquals(result.meanReturn, 50.5);
  assertEquals(result.stdReturn, 49.5);
  assertEquals(result.medianReturn, 50.5);
  assertEquals([result.minReturn, result.maxReturn], [1, 100]);
  assertEquals(result.meanLength, 50.5);
});

Deno.test("the number of episodes is exact, however many copies there are", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 7 }),
      fc.integer({ min: 1, max: 12 }),
      async (lengths, episodes) => {
        const n = lengths.length;
        const result = await evaluate(idle(n), new FixedEnv(lengths), {
          episodes,
        });
        const wanted = lengths.flatMap((length, i) =>
          Array(Math.ceil((episodes - i) / n)).fill(length)
        );
        assertEquals(result.lengths, wanted);
      },
    ),
    { numRuns: 50 },
  );
});

Deno.test("an actor of another number of environments, and a single environment, are told with what mends them", async () => {
  const refused = (actor: Actor, env: unknown) =>
    assertRejects(() => evaluate(actor, env as VecEnv));
  const other = await refused({ ...idle(8), numEnvs: 8 }, new FixedEnv([1, 1]));
  assertEquals(
    `${other}`,
    "RangeError: Cannot evaluate an actor of 8 environments in 2: expected one of as many, as agent.policy({ numEnvs: 2 }) is",
  );
  const single = make("CartPole-v1");
  const says =
    "a single environment: expected makeVec(id, { numEnvs: 1 }), or new SyncVecEnv([() => env])";
  assertEquals(
    `${await refused(idle(1), single)}`,
    `TypeError: Cannot evaluate in ${says}`,
  );
  await assertRejects(
    () => train(new ToyAlgorithm(1), single as never, { totalTimesteps: 1 }),
    TypeError,
    `Cannot train in ${says}`,
  );
});

Deno.test("recurrent actors see each step, promises are waited for", async () => {
  let observed = 0, emptied = 0;
  const actor: Actor = {
    act: (batch) => Promise.resolve(batch),
    observe: () => void observed++,
    endEpisodes: () => void emptied++,
  };
  const env = new FixedEnv([5]);
  await evaluate(actor, env, { episodes: 2, seed: 7 });
  assertEquals(observed, 10);
  assertEquals(env.seeds, [7]);
  await evaluate(actor, env, { episodes: 1 });
  assertEquals(env.seeds, [7, undefined]);
  assertEquals(emptied, 2);
});

Deno.test("returns that the environment records are taken, own sums otherwise", async () => {
  const evaluations = [];
  for (const records of [true, false]) {
    const actor = new ToyAlgorithm(3).policy({ seed: 5 });
    const env = new ToyEnv(3, records);
    evaluations.push(await evaluate(actor, env, { episodes: 8, seed: 2 }));
  }
  assertEquals(evaluations[0], evaluations[1]);
  assert(evaluations[0].stdReturn > 0);
});

Deno.test("the same seeds give the same episodes", async () => {
  const run = (seed: number) =>
    evaluate(new ToyAlgorithm(2).policy({ seed }), new ToyEnv(2), { seed });
  const [first, again, other] = [await run(1), await run(1), await run(2)];
  assertEquals(first, again);
  assert(first.lengths.join() !== other.lengths.join());
});

Deno.test("no evaluation plays the episodes of training or of another one", () => {
  const roots = [0, 1, 9_999, 10_000, 10_001, 20_000, 30_000, 2 ** 32 - 1];
  for (const root of roots) {
    const { during, final, later } = evaluationSeeds(root);
    assertEquals(new Set([root, during, final, later]).size, 4, `${root}`);
  }
});

Deno.test("an aborted evaluation rejects", async () => {
  const signal = AbortSignal.abort();
  const error = await assertRejects(() =>
    evaluate(idle(1), new FixedEnv([1]), { signal })
  );
  assertEquals((error as Error).name, "AbortError");
});

Deno.test("a number of episodes that cannot be is refused", async () => {
  for (const episodes of [0, 1.5, NaN]) {
    await assertRejects(
      () => evaluate(idle(1), new FixedEnv([1]), { episodes }),
      RangeError,
      `Cannot evaluate ${episodes} episodes`,
    );
  }
});

Deno.test("the summary of no episode is NaN", () => {
  const { meanReturn, medianReturn, minReturn } = summarizeEpisodes([], []);
  assertEquals([meanReturn, medianReturn, minReturn], [NaN, NaN, NaN]);
});

/** Copies whose host fails in certain steps, and that begin anew then. */
class LosingEnv extends FixedEnv {
  readonly #losses: ReadonlyMap<number, readonly number[]>;

  constructor(
    lengths: readonly number[],
    losses: ReadonlyMap<number, readonly number[]>,
  ) {
    super(lengths);
    this.#losses = losses;
  }

  override step(actions: Batch): VecStep {
    const step = super.step(actions);
    const lost = this.#losses.get(this.steps);
    if (lost === undefined) return step;
    const ages = this.save();
    for (const copy of lost) {
      ages[copy] = 0;
      step.rewards[copy] = step.terminated[copy] = 0;
      step.truncated[copy] = 1;
    }
    this.load(ages);
    return { ...step, lost };
  }
}

Deno.test("copies that are lost play their episodes again, and count once", async () => {
  const lengths = [3, 10];
  const unbroken = await evaluate(idle(2), new FixedEnv(lengths), {
    episodes: 6,
    seed: 1,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.tuple(fc.integer({ min: 1, max: 60 }), fc.subarray([0, 1])),
        { maxLength: 5 },
      ),
      async (losses) => {
        const env = new LosingEnv(lengths, new Map(losses));
        const options = { episodes: 6, seed: 1 };
        assertEquals(await evaluate(idle(2), env, options), unbroken);
      },
    ),
  );
});

Deno.test("a copy that is lost again and again is an error", async () => {
  const losses = new Map([2, 4, 6, 8, 10, 12].map((step) => [step, [1]]));
  await assertRejects(
    () =>
      evaluate(idle(2), new LosingEnv([1, 5], losses), {
        episodes: 2,
        seed: 0,
      }),
    Error,
    "Cannot evaluate in environment 1: its host failed over the same episodes 6 times",
  );
});

/** Copies of which some never end; a walk without a bound would not either. */
class EndlessEnv extends FixedEnv {
  override step(actions: Batch): VecStep {
    if (this.steps > 10_000) throw new Error("the evaluation does not end");
    return super.step(actions);
  }
}

Deno.test("episodes that do not end are cut, counted, and others follow", async () => {
  const env = new EndlessEnv([3, Infinity, 50, 51]);
  const seen: number[][] = [];
  const actor: Actor = {
    act: () => new Int32Array(4),
    observe: ({ truncated }) => void seen.push([...truncated]),
  };
  const options = { episodes: 8, seed: 1, maxSteps: 50 };
  const result = await evaluate(actor, env, options);
  assertEquals(result.lengths, [3, 3, 50, 50, 50, 50, 50, 50]);
  assertEquals(result.returns, result.lengths);
  assertEquals(result.cut, 4);
  // The last copy's ends after all at 51; the second waits until it is done.
  assertEquals(env.seeds, [1, undefined]);
  assertEquals(env.steps, 151);
  // Recurrent actors begin anew with the environments.
  assertEquals(seen[100], [1, 1, 1, 1]);
  assert(!seen.slice(0, 100).flat().includes(1));
  const whole = await evaluate(idle(2), new FixedEnv([3, 50]), options);
  assertEquals(whole.cut, 0);
});

Deno.test("an episode is bounded by the environment's limit, or else by a constant", async () => {
  const endless = (maxEpisodeSteps?: number) =>
    Object.assign(new FixedEnv([Infinity]), {
      spec: { id: "A-v0", maxEpisodeSteps },
    });
  for (
    const [env, bound] of [
      [new FixedEnv([Infinity]), 10_000],
      [endless(), 10_000],
      [endless(Infinity), 10_000],
      [endless(27_000), 27_000],
      [endless(50), 50],
    ] as [VecEnv, number][]
  ) {
    assertEquals(evaluationBound(env), bound);
    const { cut, lengths } = await evaluate(idle(1), env, { episodes: 1 });
    assertEquals([cut, lengths], [1, [bound]]);
  }
});

Deno.test("copies that are lost have the same episodes cut", async () => {
  const lengths = [7, Infinity];
  const options = { episodes: 6, seed: 1, maxSteps: 20 };
  const unbroken = await evaluate(idle(2), new FixedEnv(lengths), options);
  assertEquals(unbroken.cut, 3);
  for (const at of [5, 19, 20, 21, 33]) {
    const env = new LosingEnv(lengths, new Map([[at, [0, 1]]]));
    assertEquals(await evaluate(idle(2), env, options), unbroken);
  }
});

Deno.test("a bound of steps that cannot be is refused", async () => {
  for (const maxSteps of [0, 1.5, NaN, Infinity]) {
    await assertRejects(
      () => evaluate(idle(1), new FixedEnv([1]), { maxSteps }),
      RangeError,
      `Cannot evaluate with episodes of at most ${maxSteps} steps`,
    );
  }
});

Deno.test("an actor is given the masks of what it sees", async () => {
  const kwargs = { masked: true };
  const env = makeVec("Identity-v0", { numEnvs: 3, kwargs });
  let calls = 0;
  const actor: Actor = {
    act(observations, masks) {
      assertEquals(masks, env.actionMasks);
      calls++;
      return (observations as Int32Array).slice();
    },
  };
  const { returns } = await evaluate(actor, env, { episodes: 3, seed: 1 });
  assertEquals([returns, calls], [[100, 100, 100], 100]);
});

Deno.test("an agent that learns, an environment that is trained in and unknown options are refused", async () => {
  const env = new ToyEnv(2), learner = new ToyAlgorithm(2);
  await assertRejects(
    () => evaluate(learner as unknown as Actor, env),
    TypeError,
    "Cannot evaluate an agent that learns, as it would learn from the episodes: expected its policy, as agent.policy({ deterministic: true }) is",
  );
  await assertRejects(
    () => evaluate(idle(2), env, { episdes: 1 } as never),
    TypeError,
    "Unknown option 'episdes' of evaluate: did you mean 'episodes'?",
  );
  let refused = "";
  const onUpdate = async () => {
    await evaluate(learner.policy(), env).catch((it) => refused = it.message);
  };
  const run = { totalTimesteps: 40, callbacks: [{ onUpdate }] };
  await train(learner, env, run);
  assertEquals(
    refused,
    "Cannot evaluate in the environment that is trained in, as it would be reset: expected another one",
  );
  const { returns } = await evaluate(learner.policy(), env, { episodes: 2 });
  assertEquals(returns.length, 2);
  await assertRejects(
    () => train(learner, env, { ...run, evaluaton: {} } as never),
    TypeError,
    "Unknown option 'evaluaton' of train: did you mean 'evaluation'?",
  );
});

Deno.test("rewards that 32 bits cannot hold are evaluated, and others say whose they are", async () => {
  const env = new FixedEnv([3]);
  const step = env.step.bind(env);
  let reward = 1e308;
  env.step = (actions) => ({
    ...step(actions),
    rewards: Float64Array.of(reward),
    episodes: undefined,
  });
  const { meanReturn } = await evaluate(idle(1), env, {
    episodes: 1,
    maxSteps: 1,
  });
  assertEquals(meanReturn, 1e308);
  reward = NaN;
  await assertRejects(
    () => evaluate(idle(1), env, { episodes: 1 }),
    RangeError,
    "Cannot use the reward of copy 0 at step 1 of an evaluation: it is NaN, expected a finite number",
  );
});
