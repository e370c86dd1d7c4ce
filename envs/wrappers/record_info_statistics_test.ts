import type {
  EpisodeStatistics,
  InfoStatistic,
  SpaceValue,
  StateTree,
  StepResult,
} from "@bellman/types";
import { assertEquals, assertThrows } from "@std/assert";
import { EnvDataError } from "../env_data_error.ts";
import "../classic_control/register.ts";
import { make, makeVec, register } from "../registry/registry.ts";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { ChainEnv } from "../toy/environments.ts";
import { Wrapper } from "./wrapper.ts";
import { RecordInfoStatistics } from "./record_info_statistics.ts";
import { TimeLimit } from "./time_limit.ts";

/** A walk whose info is scripted, by the step of its episode. */
class Told extends Wrapper {
  #step = 0;
  readonly #infoOf: (step: number) => Record<string, unknown> | undefined;

  constructor(
    infoOf: (step: number) => Record<string, unknown> | undefined,
    length = 4,
  ) {
    super(new TimeLimit(new ChainEnv({ length: 100 }), length));
    this.#infoOf = infoOf;
  }

  override reset(options?: { seed?: number }): SpaceValue {
    this.#step = 0;
    return super.reset(options);
  }

  override step(action: SpaceValue): StepResult {
    return { ...super.step(action), info: this.#infoOf(++this.#step) };
  }

  protected override ownState() {
    return this.#step;
  }

  protected override loadOwnState(state: unknown) {
    this.#step = state as number;
  }
}

const costs = (step: number) => ({
  cost: step / 10,
  isLate: step > 2,
  text: "a",
});

function episodesOf({ info }: StepResult): readonly EpisodeStatistics[] {
  return info!.episodes as EpisodeStatistics[];
}

const WANTED: Record<string, InfoStatistic> = {
  cost: {
    sum: 0.1 + 0.2 + 0.3 + 0.4,
    mean: (0.1 + 0.2 + 0.3 + 0.4) / 4,
    last: 0.4,
  },
  isLate: { sum: 2, mean: 0.5, last: 1 },
};

Deno.test("episodes have sum, mean and last of entries of info, from one to the next", () => {
  const env = new RecordInfoStatistics(new Told(costs), ["cost", "isLate"]);
  env.reset({ seed: 1 });
  for (let episode = 0; episode < 3; episode++) {
    for (let i = 0; i < 3; i++) assertEquals(episodesOf(env.step(0)), []);
    const last = env.step(0);
    const [{ return: sum, length, terminated, infoStatistics }] = episodesOf(
      last,
    );
    assertEquals([typeof sum, length, terminated], ["number", 4, false]);
    assertEquals(infoStatistics, WANTED);
    assertEquals(last.info?.text, "a");
    env.reset();
  }
});

Deno.test("a reset within an episode begins anew", () => {
  const env = new RecordInfoStatistics(new Told(costs), ["cost"]);
  env.reset({ seed: 1 });
  env.step(0);
  env.reset();
  for (let i = 0; i < 3; i++) env.step(0);
  assertEquals(episodesOf(env.step(0))[0].infoStatistics, {
    cost: WANTED.cost,
  });
});

Deno.test("entries that some steps tell count over those, as at the end of an episode", () => {
  const infoOf = (step: number) => ({
    ...step === 4 && { total: 8 },
    ...step % 2 === 1 && { odd: step },
  });
  const env = new RecordInfoStatistics(new Told(infoOf), ["total", "odd"]);
  env.reset({ seed: 1 });
  for (let episode = 0; episode < 2; episode++) {
    for (let i = 0; i < 3; i++) assertEquals(episodesOf(env.step(0)), []);
    assertEquals(episodesOf(env.step(0))[0].infoStatistics, {
      total: { sum: 8, mean: 8, last: 8 },
      odd: { sum: 4, mean: 2, last: 3 },
    });
    env.reset();
  }
});

Deno.test("sums go on from a snapshot", () => {
  const sometimes = (step: number) => ({
    ...costs(step),
    ...step % 2 === 1 && { odd: step },
  });
  const open = () =>
    new RecordInfoStatistics(new Told(sometimes), ["cost", "isLate", "odd"]);
  const [whole, other] = [open(), open()];
  whole.reset({ seed: 1 });
  other.reset({ seed: 2 });
  for (let at = 0; at < 4; at++) {
    other.load(whole.save());
    const copy = open();
    copy.load(other.save());
    const [a, b] = [whole.step(0), other.step(0)];
    assertEquals(b.info, a.info);
    for (let i = at + 1; i < 4; i++) other.step(0);
  }
  // One of before, when each step told each entry.
  whole.reset({ seed: 1 });
  whole.step(0);
  const { own, ...state } = whole.save() as Record<string, StateTree>;
  const { counts: _, ...former } = own as Record<string, StateTree>;
  other.load({ ...state, own: former });
  for (let i = 0; i < 2; i++) other.step(0);
  const { cost } = episodesOf(other.step(0))[0].infoStatistics!;
  assertEquals(cost, WANTED.cost);
});

Deno.test("an environment that records its episodes has them in those", () => {
  const games = (step: number) => ({
    lives: 3 - step,
    // A life ends at each second step, the game at the fourth.
    episodes: step === 4 ? [{ return: 9, length: 16, terminated: true }] : [],
  });
  const env = new RecordInfoStatistics(new Told(games, 100), ["lives"]);
  env.reset({ seed: 1 });
  env.step(0);
  env.step(0);
  env.step(0);
  assertEquals(episodesOf(env.step(0)), [{
    ...{ return: 9, length: 16, terminated: true } as EpisodeStatistics,
    infoStatistics: { lives: { sum: 2 + 1 + 0 - 1, mean: 0.5, last: -1 } },
  }]);
});

Deno.test("what is no number is one clear line, with copy and step", () => {
  const stepWith = (infoOf: ConstructorParameters<typeof Told>[0]) => {
    const open = () => new RecordInfoStatistics(new Told(infoOf), ["cost"]);
    const env = new SyncVecEnv([open, open]);
    env.reset({ seed: 1 });
    return () => env.step(Int32Array.of(0, 0));
  };
  const cases = [
    [{ cost: "7" }, '"7", expected a finite number'],
    [{ cost: NaN }, "NaN, expected a finite number"],
    [{ cost: [1] }, "a list of 1, expected a finite number"],
  ] as const;
  for (const [info, found] of cases) {
    const error = assertThrows(stepWith(() => info), EnvDataError);
    assertEquals(
      error.message,
      `Cannot use info.cost of an environment, copy 0, at step 1 of its episode: it is ${found}`,
    );
  }
});

Deno.test("what no step of an episode tells is left out, and told once", () => {
  for (const info of [undefined, { price: 1, day: 2 }]) {
    let episode = 0;
    const told = new Told((step) =>
      episode === 2 ? { ...info, cost: step } : info
    );
    const env = new RecordInfoStatistics(told, ["cost", "loss"]);
    const found = [];
    for (; episode < 4; episode++) {
      env.reset({ seed: 1 });
      for (let i = 0; i < 3; i++) env.step(0);
      const [{ infoStatistics, notice }] = episodesOf(env.step(0));
      found.push([infoStatistics, notice]);
    }
    const had = info === undefined ? "no entries" : "price, day";
    const notice =
      `No step of an episode had info.cost, info.loss, which is left out of its record: the info had ${had}`;
    assertEquals(found, [
      [{}, notice],
      [{}, undefined],
      [{ cost: { sum: 10, mean: 2.5, last: 4 } }, undefined],
      [{}, undefined],
    ]);
  }
});

Deno.test("makeVec records what is asked for, or what the environment was registered with", () => {
  register({
    id: "Told-v0",
    maxEpisodeSteps: 4,
    infoStatistics: ["cost"],
    make: () => new Told(costs, 100),
    // Rows of arrays have no info.
    makeVec: () => {
      throw new Error("not to be called");
    },
  });
  const namesOf = (options: { infoStatistics?: readonly string[] }) => {
    const env = makeVec("Told-v0", { numEnvs: 2, ...options });
    env.reset({ seed: 1 });
    for (let i = 0; i < 3; i++) {
      assertEquals(env.step(Int32Array.of(0, 0)).episodes, []);
    }
    const { episodes } = env.step(Int32Array.of(0, 0));
    assertEquals(episodes!.map(({ env, length }) => [env, length]), [
      ...[[0, 4], [1, 4]],
    ]);
    return Object.keys(episodes![1].infoStatistics!);
  };
  assertEquals(namesOf({}), ["cost"]);
  assertEquals(namesOf({ infoStatistics: ["isLate"] }), ["isLate"]);
  assertEquals(make("Told-v0").spec?.infoStatistics, ["cost"]);
  assertEquals(
    make("Told-v0", { infoStatistics: [] }) instanceof RecordInfoStatistics,
    false,
  );
  const plain = makeVec("CartPole-v1", {
    numEnvs: 1,
    maxEpisodeSteps: 1,
    infoStatistics: ["x"],
  });
  plain.reset({ seed: 1 });
  const [{ notice }] = plain.step(Int32Array.of(0)).episodes!;
  assertEquals(
    notice,
    "No step of an episode had info.x, which is left out of its record: the info had no entries",
  );
});
