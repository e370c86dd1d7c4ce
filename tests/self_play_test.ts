/** Agents that learn games by playing snapshots of themselves. */
import { a2c, type A2CConfig } from "@bellman/a2c";
import { Agent, type Algorithm } from "@bellman/agent";
import { selectBackend } from "@bellman/compute";
import { dqn } from "@bellman/dqn";
import { NormalizeObservation } from "@bellman/envs";
import {
  actorPlayer,
  ConnectFour,
  PaddleBall,
  SelfPlayVecEnv,
  Soccer,
  TicTacToe,
} from "@bellman/envs/games";
import { ppo } from "@bellman/ppo";
import { evaluate, train } from "@bellman/training";
import type { StateTree, VecEnv, World } from "@bellman/types";
import {
  assert,
  assertEquals,
  assertNotEquals,
  assertThrows,
} from "@std/assert";

await selectBackend("cpu");

const OPTIONS = { window: 3, snapshotEvery: 64, swapEvery: 32, groups: 2 };

// deno-lint-ignore no-explicit-any -- algorithms of any settings
type AnyAlgorithm = Algorithm<any>;

/** Makes a learner in games, whose snapshots play. */
function setUp(algorithm: AnyAlgorithm, world: World, config: object) {
  const game = new SelfPlayVecEnv(world, OPTIONS);
  const agent = new Agent(algorithm, game, {
    config: { hiddenSizes: [8], ...config },
    totalTimesteps: 4000,
    seed: 3,
    engine: "eager",
  });
  game.play(agent);
  return { agent, game };
}

type Player = ReturnType<typeof setUp>;

/** Takes steps of the loop that `train` runs. */
function play({ agent, game }: Player, steps: number): void {
  for (let i = 0; i < steps; i++) {
    const actions = agent.act(game.observations(), game.actionMasks);
    agent.observe(game.step(actions as never));
    agent.update();
  }
}

const LEARNERS: Record<string, [AnyAlgorithm, () => World, object]> = {
  "PPO in TicTacToe": [ppo, () => new TicTacToe({ numEnvs: 8 }), {
    numSteps: 8,
    minibatches: 2,
    epochs: 2,
  }],
  "DQN in ConnectFour": [dqn, () => new ConnectFour({ numEnvs: 4 }), {
    learningStarts: 40,
    batchSize: 8,
    bufferSize: 400,
  }],
  "A2C in Soccer": [a2c, () => new Soccer({ numEnvs: 4, tackles: true }), {}],
  "PPO in PaddleBall": [ppo, () => new PaddleBall({ numEnvs: 4 }), {
    numSteps: 8,
    minibatches: 2,
    epochs: 2,
  }],
};

for (const [name, [algorithm, worldOf, config]] of Object.entries(LEARNERS)) {
  Deno.test(`${name}: a restored learner and its opponents go on as before`, () => {
    const first = setUp(algorithm, worldOf(), config);
    first.game.reset({ seed: 1 });
    play(first, 45);
    const state = structuredClone({
      agent: first.agent.save(),
      game: first.game.save(),
    }) as { agent: StateTree; game: StateTree };
    const before = first.agent.params;
    play(first, 60);
    const second = setUp(algorithm, worldOf(), config);
    second.agent.load(state.agent);
    second.game.load(state.game);
    assertEquals(second.agent.params, before);
    play(second, 60);
    assertEquals(second.agent.params, first.agent.params);
    assertNotEquals(second.agent.params, before);
    assertEquals(second.game.ratings(), first.game.ratings());
    assertEquals(second.game.save(), first.game.save());
    assert(first.game.ratings().snapshots.length === 3);
    for (const { agent } of [first, second]) agent.close();
  });
}

Deno.test("opponents see scaled observations as the learner does", () => {
  const inner = new SelfPlayVecEnv(new PaddleBall({ numEnvs: 4 }), {
    ...OPTIONS,
    latest: 1,
  });
  const env = new NormalizeObservation(inner as VecEnv);
  const agent = new Agent(a2c, env, {
    config: { hiddenSizes: [8] } as Partial<A2CConfig>,
    seed: 1,
    engine: "eager",
  });
  const seen = env.reset({ seed: 0 }) as Float32Array;
  const raw = inner.observations() as Float32Array;
  const frozen = agent.policy({ frozen: true, deterministic: true });
  const live = agent.policy({ deterministic: true });
  assertEquals(frozen.act(raw), live.act(seen));
  assertNotEquals([...raw], [...seen]);
  agent.close();
});

Deno.test("train plays games and evaluates against a player of its own", async () => {
  const { agent, game } = setUp(ppo, new TicTacToe({ numEnvs: 8 }), {
    numSteps: 8,
    minibatches: 2,
    epochs: 2,
  });
  const judge = new SelfPlayVecEnv(new TicTacToe({ numEnvs: 4 }), {
    opponent: (world, turn) => (world as TicTacToe).scripted(turn as never),
  });
  const { lastEvaluation } = await train(agent, game, {
    totalTimesteps: 512,
    seed: 0,
    evaluation: { env: judge, episodes: 8 },
  });
  // The perfect player never loses.
  assert(lastEvaluation!.meanReturn <= 0);
  const result = await evaluate(agent.policy({ numEnvs: 4 }), judge, {
    episodes: 8,
    seed: 1,
  });
  assertEquals(result.returns.length, 8);
  agent.close();
});

Deno.test("a state saved without a learner is that of games which one may join", () => {
  const first = new SelfPlayVecEnv(new TicTacToe({ numEnvs: 8 }), OPTIONS);
  first.reset({ seed: 1 });
  const { agent, game } = setUp(ppo, new TicTacToe({ numEnvs: 8 }), {});
  const second = new SelfPlayVecEnv(new TicTacToe({ numEnvs: 8 }), OPTIONS);
  second.load(first.save());
  second.play(agent);
  play({ agent, game: second }, 5);
  assertEquals(second.ratings().snapshots.length, 1);
  game.close();
  agent.close();
});

Deno.test("an actor of its own random stream plays on after a restored state", () => {
  const { agent } = setUp(ppo, new TicTacToe({ numEnvs: 8 }), {});
  const make = () =>
    new SelfPlayVecEnv(new TicTacToe({ numEnvs: 8 }), {
      opponent: actorPlayer(agent.policy({ frozen: true, numEnvs: 8 })),
    });
  const courseOf = (env: SelfPlayVecEnv) =>
    Array.from({ length: 20 }, () => {
      const masks = env.actionMasks!;
      const actions = Int32Array.from(
        { length: 8 },
        (_, i) => masks.subarray(9 * i, 9 * i + 9).indexOf(1),
      );
      return [...env.step(actions).observations as Float32Array];
    });
  const first = make() as SelfPlayVecEnv, second = make() as SelfPlayVecEnv;
  first.reset({ seed: 0 });
  const fromSeed = courseOf(first);
  const state = first.save(), next = courseOf(first);
  second.load(state);
  assertEquals(courseOf(second), next);
  // Evaluations start from a seed each, whatever was played before.
  first.reset({ seed: 0 });
  assertEquals(courseOf(first), fromSeed);
  agent.close();
});

Deno.test("a state of which a part is refused changes nothing", () => {
  const make = () => setUp(ppo, new TicTacToe({ numEnvs: 8 }), {});
  const [first, second] = [make(), make()];
  first.game.reset({ seed: 1 });
  play(first, 20);
  second.game.reset({ seed: 2 });
  play(second, 20);
  const state = first.game.save() as Record<string, StateTree>;
  const opponents = state.opponents as Record<string, StateTree>;
  const before = second.game.save();
  for (
    const damaged of [
      { ...state, world: {} },
      { ...state, observations: "none" },
      { ...state, seats: null },
      { ...state, opponents: { ...opponents, random: {} } },
      { ...state, opponents: { ...opponents, actors: [1, 2, 3, 4] } },
    ]
  ) {
    assertThrows(() => second.game.load(damaged as StateTree));
    assertEquals(second.game.save(), before);
  }
  for (const { agent } of [first, second]) agent.close();
});
