/** Games whose roles learn at the same time, each with a policy of its own. */
import { a2c } from "@bellman/a2c";
import { Agent, type Algorithm } from "@bellman/agent";
import { selectBackend } from "@bellman/compute";
import { dqn } from "@bellman/dqn";
import { NormalizeObservation, RecordEpisodeStatistics } from "@bellman/envs";
import {
  actorPlayer,
  checkWorld,
  playMatch,
  randomPlayer,
  RoleAgents,
  RolesVecEnv,
  SelfPlayVecEnv,
} from "@bellman/envs/games";
import { ppo } from "@bellman/ppo";
import { evaluate, train } from "@bellman/training";
import type { VecEnv } from "@bellman/types";
import {
  assert,
  assertEquals,
  assertNotEquals,
  assertThrows,
} from "@std/assert";
import { Chase } from "./testdata/chase.ts";

await selectBackend("cpu");

const OPTIONS = { window: 3, snapshotEvery: 64, swapEvery: 32, groups: 2 };

// deno-lint-ignore no-explicit-any -- algorithms of any settings
type AnyAlgorithm = Algorithm<any>;

/** Makes agents of both roles in `numEnvs` worlds each. */
function setUp(
  algorithm: AnyAlgorithm,
  config: object,
  { numEnvs = 8, wrap = (it: VecEnv) => it } = {},
) {
  const of = (role: string) =>
    wrap(
      new RecordEpisodeStatistics(
        new SelfPlayVecEnv(new Chase(numEnvs), { ...OPTIONS, role }),
      ),
    );
  const env = new RolesVecEnv({ cat: of("cat"), mouse: of("mouse") });
  const agentOf = (role: string, seed: number) =>
    new Agent(algorithm, env.roles[role], {
      config: { hiddenSizes: [16], ...config },
      totalTimesteps: 6000,
      seed,
      engine: "eager",
    });
  const agents = new RoleAgents(env, {
    cat: agentOf("cat", 1),
    mouse: agentOf("mouse", 2),
  });
  env.play(agents);
  return { agents, env };
}

Deno.test("the world of the tests is right", () => {
  checkWorld(new Chase(3));
});

Deno.test("rows, masks and ends of roles lie one after the other", () => {
  const { agents, env } = setUp(a2c, {});
  assertEquals(env.numEnvs, 16);
  const seen = env.reset({ seed: 4 });
  const rows = env.roles.mouse.observations() as Float32Array;
  assertEquals(seen.mouse, rows);
  assertEquals((seen.cat as Float32Array).length, 16);
  assertEquals((seen.mouse as Float32Array).length, 24);
  // Three choices of each cat, then two of each mouse.
  assertEquals(env.actionMasks!.length, 8 * 3 + 8 * 2);
  assertEquals(env.actionMasks!.slice(24), env.roles.mouse.actionMasks);
  const actions = agents.act(seen, env.actionMasks) as Record<
    string,
    Int32Array
  >;
  const step = env.step(actions);
  assertEquals(step.rewards.length, 16);
  agents.observe(step);
  agents.close();
});

const LEARNERS: Record<string, [AnyAlgorithm, object]> = {
  PPO: [ppo, { numSteps: 8, minibatches: 2, epochs: 2 }],
  DQN: [dqn, { learningStarts: 40, batchSize: 8, bufferSize: 400 }],
};

for (const [name, [algorithm, config]] of Object.entries(LEARNERS)) {
  Deno.test(`restored agents of two roles go on as before: ${name}`, () => {
    const wrap = (it: VecEnv) => new NormalizeObservation(it);
    const whole = setUp(algorithm, config, { wrap });
    const steps = (setup: typeof whole, count: number) => {
      for (let i = 0; i < count; i++) {
        const seen = setup.env.observations();
        const actions = setup.agents.act(seen, setup.env.actionMasks);
        setup.agents.observe(setup.env.step(actions as never));
        setup.agents.update();
      }
    };
    whole.env.reset({ seed: 5 });
    steps(whole, 30);
    const state = structuredClone({
      agents: whole.agents.save(),
      env: whole.env.save(),
    });
    steps(whole, 30);
    const other = setUp(algorithm, config, { wrap });
    other.agents.load(state.agents);
    other.env.load(state.env);
    steps(other, 30);
    assertEquals(other.agents.save(), whole.agents.save());
    assertEquals(other.env.save(), whole.env.save());
    assertEquals(other.env.statistics(), whole.env.statistics());
    whole.agents.close();
    other.agents.close();
  });
}

Deno.test("both roles learn, and statistics have their names", async () => {
  const { agents, env } = setUp(ppo, {
    numSteps: 32,
    minibatches: 4,
    epochs: 4,
    gamma: 1,
    learningRate: 0.003,
  }, { numEnvs: 16 });
  const names = new Set<string>();
  const scores = async () => {
    const returns: Record<string, number> = {};
    for (const role of ["cat", "mouse"]) {
      const games = new RolesVecEnv({
        [role]: new RecordEpisodeStatistics(
          new SelfPlayVecEnv(new Chase(20), { opponent: randomPlayer, role }),
        ),
      });
      const actor = agents.policy({ deterministic: true, numEnvs: 20 });
      const bounds = { episodes: 100, seed: 9 };
      returns[role] = (await evaluate(actor, games, bounds)).meanReturn;
    }
    return returns;
  };
  const before = await scores();
  await train(agents, env, {
    totalTimesteps: 20_000,
    callbacks: [{
      onUpdate: (_, statistics) =>
        Object.keys(statistics).forEach((it) => names.add(it)),
    }],
  });
  const after = await scores();
  assert(after.cat > 0.9, `cat ${before.cat} -> ${after.cat}`);
  assert(
    after.mouse > 0.8 && after.mouse > before.mouse,
    `mouse ${before.mouse} -> ${after.mouse}`,
  );
  assert(names.has("cat/policy_loss") && names.has("mouse/policy_loss"));
  assertEquals(
    Object.keys(env.statistics()).filter((it) => it.includes("elo")),
    ["cat/self_play/elo", "mouse/self_play/elo"],
  );
  // In a match the agents take both seats in turn.
  const player = actorPlayer(agents.policy({ frozen: true, numEnvs: 20 }));
  const { won, lost } = playMatch(new Chase(20), [player, randomPlayer], {
    games: 200,
  });
  assert(won > 180 && lost < 20, `${won} won, ${lost} lost`);
  agents.close();
});

Deno.test("snapshots of each role are its own", () => {
  const { agents, env } = setUp(a2c, {});
  const actor = agents.policy({ frozen: true, numEnvs: 8 });
  const state = actor.save!() as Record<string, unknown>;
  assertEquals(Object.keys(state), ["cat", "mouse"]);
  env.reset({ seed: 0 });
  const [first] = [env.save()].map((it) => structuredClone(it));
  for (let i = 0; i < 20; i++) {
    const actions = agents.act(env.observations(), env.actionMasks);
    agents.observe(env.step(actions as never));
    agents.update();
  }
  assertNotEquals(env.save(), first);
  agents.close();
});

Deno.test("an agent of one role is no opponent in another", () => {
  const world = new Chase(4);
  assertThrows(
    () => new SelfPlayVecEnv(world),
    TypeError,
    "as cat and mouse have other spaces: expected a role, a seat, or an agent for each role",
  );
  assertThrows(
    () => new SelfPlayVecEnv(world, { role: "dog" }),
    RangeError,
    "Unknown role 'dog' of Chase",
  );
  assertThrows(
    () => new SelfPlayVecEnv(world, { role: "cat", seat: "mouse" }),
    RangeError,
    "mouse has not the role cat",
  );
  const env = new SelfPlayVecEnv(world, { role: "cat" });
  const agent = new Agent(a2c, env, { config: { hiddenSizes: [4] } });
  assertThrows(
    () => env.play(agent),
    TypeError,
    "Cannot play the role mouse of Chase with snapshots of an agent of cat",
  );
  const roles = { cat: env, mouse: env };
  assertThrows(
    () => new RoleAgents({ roles }, { cat: agent }),
    TypeError,
    "expected an agent of mouse",
  );
  assertThrows(
    () =>
      new RolesVecEnv({
        ...roles,
        mouse: new SelfPlayVecEnv(new Chase(2), { role: "mouse" }),
      }),
    RangeError,
    "Cannot join roles of 4 and 2 rows",
  );
  agent.close();
});
