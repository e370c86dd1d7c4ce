import {
  assert,
  assertEquals,
  assertObjectMatch,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { parse } from "@std/yaml";
import { UsageError } from "../program/errors.ts";
import { capture } from "../../../cli/testdata/capture.ts";
import { resolveConfig, resolveGiven } from "./resolve.ts";

const A2C = `
default: &default
  n_envs: 4
LunarLander-v3:
  <<: *default
  n_timesteps: !!float 2e5
  policy: 'MlpPolicy'
  gamma: 0.995
  n_steps: 5
  learning_rate: lin_0.00083
  ent_coef: 0.00001
CartPole-v1:
  n_envs: 8
  n_timesteps: !!float 5e5
  policy: 'MlpPolicy'
  normalize: "{'norm_obs': True, 'norm_reward': False}"
  use_rms_prop: False
  policy_kwargs: "dict(log_std_init=-2, ortho_init=False, net_arch=dict(pi=[32, 16], vf=[32, 16]), activation_fn=nn.ReLU)"
atari:
  policy: 'CnnPolicy'
  n_envs: 16
  env_wrapper:
    - stable_baselines3.common.atari_wrappers.AtariWrapper
  frame_stack: 4
  policy_kwargs: "dict(optimizer_class=RMSpropTFLike, optimizer_kwargs=dict(eps=1e-5))"
`;

function a2c(env: string, text: string = A2C) {
  const file = { name: "a2c.yml", text };
  return resolveConfig("a2c", { file, entries: [["env", env]] });
}

Deno.test("a section of the zoo is settings, upon stable-baselines3's", () => {
  const config = a2c("CartPole-v1");
  const wanted = {
    env: "CartPole-v1",
    numEnvs: 8,
    totalTimesteps: 500_000,
    normalizeObservation: true,
    normalizeReward: false,
    optimizer: "adam",
    initialLogStd: -2,
    orthogonalInit: false,
    hiddenSizes: [32, 16],
    activation: "relu",
    // Where the file says nothing.
    numSteps: 5,
    learningRate: 0.0007,
    learningRateSchedule: "constant",
    gaeLambda: 1,
  };
  for (const [key, value] of Object.entries(wanted)) {
    assertEquals(config[key], value, key);
  }
});

Deno.test("linear rates, Gymnasium's environments and Atari are read", () => {
  const lander = a2c("gym:LunarLander-v3");
  assertEquals(
    [lander.env, lander.learningRate, lander.learningRateSchedule],
    ["gym:LunarLander-v3", 0.00083, "linear"],
  );
  assertEquals([lander.numEnvs, lander.totalTimesteps], [4, 200_000]);
  for (const env of ["ALE/Pong-v5", "PongNoFrameskip-v4"]) {
    const { network, numEnvs, frameStack, envKwargs, optimizer } = a2c(env);
    assertEquals([network, numEnvs, frameStack], ["cnn", 16, 4]);
    assertEquals(optimizer, "rmsprop_tf1");
    assertEquals(envKwargs, { preprocessing: "baselines" });
  }
  const file = {
    name: "sac.yml",
    text: `LunarLanderContinuous-v3:
  n_timesteps: !!float 5e5
  policy: 'MlpPolicy'
  learning_rate: lin_7.3e-4
  ent_coef: 'auto_0.1'
  train_freq: 8
  policy_kwargs: "dict(log_std_init=-3, net_arch=[400, 300])"
`,
  };
  const sac = resolveConfig("sac", { file, entries: [] });
  assertEquals(sac.env, "gym:LunarLanderContinuous-v3");
  assertEquals(
    [sac.initialTemperature, sac.temperature, sac.learningRate],
    [0.1, null, 0.00073],
  );
  assertEquals([sac.trainFrequency, sac.hiddenSizes], [8, [400, 300]]);
});

Deno.test("TD3 and DDPG have the zoo's noise, critics and layers", () => {
  const read = (algorithm: string, section: string) => {
    const text = `MountainCarContinuous-v0:\n  ${section}\n`;
    const file = { name: `${algorithm}.yml`, text };
    return resolveConfig(algorithm, { file, entries: [] });
  };
  const walk = read(
    "td3",
    "{n_timesteps: 300000, policy: MlpPolicy, noise_type: ornstein-uhlenbeck, noise_std: 0.5}",
  );
  assertObjectMatch(walk, {
    totalTimesteps: 300_000,
    explorationNoiseType: "ou",
    explorationNoise: 0.5,
    // Where the file says nothing.
    learningStarts: 100,
    hiddenSizes: [400, 300],
    numCritics: 2,
  });
  const plain = read(
    "ddpg",
    "{noise_type: normal, noise_std: 0.1, train_freq: 64, gradient_steps: 64, learning_rate: lin_7e-4, policy_kwargs: 'dict(n_critics=2, net_arch=[64, 64])'}",
  );
  assertObjectMatch(plain, {
    explorationNoiseType: "gaussian",
    policyDelay: 1,
    targetNoise: 0,
    trainFrequency: 64,
    gradientSteps: 64,
    learningRate: 7e-4,
    learningRateSchedule: "linear",
    numCritics: 2,
    hiddenSizes: [64, 64],
  });
  assertEquals(read("td3", "{gamma: 0.98}").explorationNoise, 0);
  for (
    const [section, says] of [
      ["{noise_type: adaptive-param}", 'noise_type = "adaptive-param"'],
      ["{train_freq: [1, episode]}", 'train_freq = [1,"episode"]'],
      ["{noise_std_final: 0.05}", "noise_std_final"],
    ]
  ) {
    const error = assertThrows(() => read("td3", section), UsageError, says);
    assertEquals(error.message.includes("\n"), false);
  }
});

Deno.test("Python's wrappers of the zoo are those of a gym: environment", () => {
  const cases: [section: string, wrappers: unknown][] = [
    ["env_wrapper: a.b.FlatObsWrapper", ["a.b.FlatObsWrapper"]],
    ["env_wrapper: null", []],
    [
      "env_wrapper: [a.b.HistoryWrapper: {horizon: 4}, c.Skip]",
      [{ "a.b.HistoryWrapper": { horizon: 4 } }, "c.Skip"],
    ],
  ];
  for (const [line, wrappers] of cases) {
    const config = a2c("gym:mazes:Maze-v0", `Maze-v0:\n  ${line}\n`);
    assertEquals(config.wrappers, wrappers);
  }
});

Deno.test("expressions and numbers are read as Python reads them", () => {
  const read = (lines: string) => a2c("CartPole-v1", `CartPole-v1:\n${lines}`);
  for (
    const layers of [
      ...["(64, 64)", "( 64,64, )", "dict(pi=(64, 64), vf=(64, 64))"],
      ...["[dict(pi=[64, 64], vf=[64, 64])]", "(dict(pi=(64,64),vf=(64,64)),)"],
      "{'pi': (6_4, 64), 'vf': [64, 6_4]}",
    ]
  ) {
    const kwargs =
      `dict(net_arch=${layers}, ortho_init = False, activation_fn=nn.ReLU)`;
    assertObjectMatch(read(`  policy_kwargs: "${kwargs}"\n`), {
      hiddenSizes: [64, 64],
      orthogonalInit: false,
      activation: "relu",
    });
  }
  const bare = read("  policy_kwargs: dict(net_arch=(64, 64))\n");
  assertEquals(bare.hiddenSizes, [64, 64]);
  assertObjectMatch(
    read("  n_timesteps: 1_000_000\n  learning_rate: 1_0.0_5e-3\n"),
    { totalTimesteps: 1_000_000, learningRate: 0.01005 },
  );
  const tagged = read("  n_timesteps: !!float 1_00e3\n  n_steps: !!int 1_6\n");
  assertObjectMatch(tagged, { totalTimesteps: 100_000, numSteps: 16 });
  // What is computed from several.
  const file = {
    name: "ppo.yml",
    text: "CartPole-v1: {n_envs: 1_6, n_steps: 1_28, batch_size: 2_56}\n",
  };
  assertEquals(resolveConfig("ppo", { file, entries: [] }).minibatches, 8);
  for (const kwargs of ["dict(net_arch=(64, 64)", "net(8)", "dict(a=f(8))"]) {
    assertThrows(
      () => read(`  policy_kwargs: ${kwargs}\n`),
      UsageError,
      `Cannot use policy_kwargs of a2c.yml = "${kwargs}": expected a mapping`,
    );
  }
});

Deno.test("what has no like is one clear line", () => {
  const cases: Record<string, string> = {
    "Unknown key 'clip_rage' in a2c.yml: ": "clip_rage: 0.2",
    'Cannot use policy = "TransformerPolicy" of a2c.yml: expected one of MlpPolicy,':
      "policy: TransformerPolicy",
    "Cannot use policy_kwargs' features_dim of a2c.yml = 3: no setting is like it; leave it out":
      "policy_kwargs: dict(features_dim=3)",
    "expected the same layers for policy and values":
      "policy_kwargs: dict(net_arch=[dict(pi=[8], vf=[9])])",
    'Cannot use policy_kwargs of a2c.yml = "lambda x": expected a mapping':
      "policy_kwargs: lambda x",
    "Cannot use wrappers with CartPole-v1: they are Python's, for environments of gym:, such as gym:CartPole-v1; a module of envModules may wrap another":
      "env_wrapper: [a.b.HistoryWrapper]",
    'Cannot use learning_rate = "exp_3" of a2c.yml: expected a number':
      "learning_rate: exp_3",
    "Cannot use normalize of a2c.yml": "normalize: often",
  };
  for (const [says, line] of Object.entries(cases)) {
    assertThrows(
      () => a2c("CartPole-v1", `CartPole-v1:\n  ${line}\n`),
      UsageError,
      says,
    );
  }
  assertThrows(
    () => a2c("Acrobot-v1"),
    UsageError,
    "Cannot use a2c.yml: it has no settings of Acrobot-v1; expected one of LunarLander-v3, CartPole-v1, atari",
  );
  const file = { name: "a2c.yml", text: A2C };
  assertThrows(
    () => resolveConfig("a2c", { file, entries: [] }),
    UsageError,
    "Cannot choose from the 3 environments of a2c.yml: expected --env",
  );
});

Deno.test("files of other algorithms are one hint", () => {
  const ppos = "expected a file for ppo or acktr, which learn from rollouts";
  const cases: [algorithm: string, section: string, says: string][] = [
    [
      "a2c",
      "{n_steps: 32, batch_size: 256, n_epochs: 20, clip_range: lin_0.2}",
      "Cannot use zoo.yml: it is for PPO (n_epochs, clip_range); expected 'train ppo'",
    ],
    [
      "acktr",
      "{n_steps: 512, batch_size: 512, cg_damping: 1e-3, n_critic_updates: 20}",
      `Cannot use zoo.yml: it is for TRPO (cg_damping, n_critic_updates); it is not here, ${ppos}`,
    ],
    [
      "sac",
      "{buffer_size: 100000, exploration_fraction: 0.16, policy_kwargs: 'dict(net_arch=[256, 256])'}",
      "Cannot use zoo.yml: it is for DQN (exploration_fraction); expected 'train dqn'",
    ],
    [
      "sac",
      "{noise_type: 'normal', noise_std: 0.1, train_freq: 1}",
      "Cannot use zoo.yml: it is for TD3 (noise_type, noise_std); expected 'train td3'",
    ],
  ];
  for (const [algorithm, section, says] of cases) {
    const file = { name: "zoo.yml", text: `CartPole-v1: ${section}\n` };
    assertThrows(
      () => resolveConfig(algorithm, { file, entries: [] }),
      UsageError,
      says,
    );
  }
});

Deno.test("files of SAC's methods choose the method and size its critics", () => {
  const read = (name: string, section: string) => {
    const file = { name, text: `Pendulum-v1: ${section}\n` };
    return resolveConfig("sac", { file, entries: [] });
  };
  assertObjectMatch(read("tqc.yml", "{n_timesteps: 20000}"), { method: "tqc" });
  assertObjectMatch(
    read("zoo.yml", "{policy_kwargs: 'dict(n_quantiles=20, n_critics=5)'}"),
    { method: "tqc", quantiles: 20, numCritics: 5 },
  );
  assertObjectMatch(
    read(
      "crossq.yml",
      "{policy_kwargs: 'dict(net_arch=dict(pi=[256, 256], qf=[1024, 1024]))', qf_learning_rate: 0.002}",
    ),
    {
      method: "crossq",
      hiddenSizes: [256, 256],
      criticHiddenSizes: [1024, 1024],
      criticLearningRate: 0.002,
    },
  );
  assertObjectMatch(
    read(
      "zoo.yml",
      "{policy_kwargs: 'dict(dropout_rate=0.01, layer_norm=True)'}",
    ),
    { method: "sac", dropout: 0.01, normalization: "layer" },
  );
});

Deno.test("settings of a zoo file that do nothing are told, those that it leaves out are not", async () => {
  const path = await Deno.makeTempFile({ suffix: ".yml" });
  const notices = async (algorithm: string, section: string) => {
    await Deno.writeTextFile(path, `CartPole-v1: ${section}\n`);
    const { code, err } = await capture(
      ...["train", algorithm, `--config=${path}`, "--print-config"],
    );
    assertEquals(code, 0, err);
    return err;
  };
  assertStringIncludes(
    await notices("acktr", "{n_envs: 8, vf_coef: 0.7}"),
    "valueCoefficient does nothing here: ",
  );
  assertEquals(await notices("acktr", "{n_envs: 8}"), "");
  assertEquals(await notices("a2c", "{n_envs: 8, vf_coef: 0.7}"), "");
  const lstm =
    "{policy: MlpLstmPolicy, policy_kwargs: 'dict(net_arch=[32], lstm_hidden_size=32)'}";
  assertEquals(
    await notices("ppo", lstm),
    "hiddenSizes does nothing here: the network lstm has no other layers\n",
  );
  await Deno.remove(path);
});

/** Reads a section of the zoo's own file for PPO. */
async function ppo(env: string, name = "ppo") {
  const url = new URL(`./testdata/zoo/${name}.yml`, import.meta.url);
  const file = { name: `${name}.yml`, text: await Deno.readTextFile(url) };
  return resolveConfig("ppo", { file, entries: [["env", env]] });
}

Deno.test("PPO's file of the zoo counts steps of a minibatch", async () => {
  assertObjectMatch(await ppo("CartPole-v1"), {
    numEnvs: 8,
    numSteps: 32,
    minibatches: 1,
    epochs: 20,
    gaeLambda: 0.8,
    learningRate: 0.001,
    learningRateSchedule: "linear",
    clipRange: 0.2,
    clipRangeSchedule: "linear",
    totalTimesteps: 100_000,
    // Where the file says nothing.
    normalizeReward: false,
    normalizeAdvantage: true,
    objective: "shared",
    valueNetwork: "separate",
    maxGradNorm: 0.5,
  });
  // Batches of 64 steps, where it says none.
  assertObjectMatch(await ppo("Acrobot-v1"), {
    minibatches: 16 * 256 / 64,
    normalizeObservation: true,
    normalizeReward: true,
    learningRateSchedule: "constant",
  });
  assertObjectMatch(await ppo("gym:Ant-v4"), { numSteps: 2048, numEnvs: 1 });
  // Stable-baselines3 cuts batches to the steps that there are.
  assertObjectMatch(await ppo("MountainCarContinuous-v0"), {
    ...{ numEnvs: 1, numSteps: 8, minibatches: 1, maxGradNorm: 5 },
    ...{ useSde: true, initialLogStd: -3.29, orthogonalInit: false },
  });
  assertObjectMatch(await ppo("ALE/Pong-v5"), {
    ...{ network: "cnn", valueNetwork: "shared", frameStack: 4 },
    ...{ minibatches: 4, clipRange: 0.1, clipRangeSchedule: "linear" },
    envKwargs: { preprocessing: "baselines" },
  });
});

Deno.test("RecurrentPPO's file of the zoo cuts rollouts into sequences", async () => {
  const lstm = (env: string) => ppo(env, "ppo_lstm");
  assertObjectMatch(await lstm("PositionOnlyCartPole-v1"), {
    env: "PositionOnlyCartPole-v1",
    ...{ network: "lstm", lstmSize: 64, valueNetwork: "separate" },
    // 8 x 32 steps are one minibatch.
    ...{ minibatches: 1, sequenceLength: null, activation: "relu" },
  });
  assertObjectMatch(await lstm("MountainCarContinuousNoVel-v0"), {
    ...{ numEnvs: 8, numSteps: 1024, minibatches: 32, sequenceLength: 256 },
    sdeSampleFrequency: 8,
  });
  // Its defaults.
  assertObjectMatch(await lstm("gym:Ant-v4"), {
    ...{ numSteps: 128, minibatches: 1, lstmSize: 256, sequenceLength: null },
  });
  assertObjectMatch(await lstm("ALE/Pong-v5"), {
    ...{ network: "cnn_lstm", lstmSize: 128, valueNetwork: "shared" },
    envKwargs: { preprocessing: "baselines", terminalOnLifeLoss: false },
    ...{ minibatches: 4, sequenceLength: null },
  });
});

Deno.test("every section of PPO's files is read, or is one clear line", async () => {
  const refused: string[] = [];
  for (const name of ["ppo", "ppo_lstm"]) {
    const url = new URL(`./testdata/zoo/${name}.yml`, import.meta.url);
    const sections = Object.keys(parse(await Deno.readTextFile(url)) as object)
      .filter((it) => it !== "default");
    assert(sections.length > 25);
    for (const section of sections) {
      const env = section === "atari" ? "ALE/Breakout-v5" : `gym:${section}`;
      try {
        const { numEnvs, numSteps, minibatches, sequenceLength } = await ppo(
          env,
          name,
        ) as unknown as Record<string, number>;
        assertEquals(numEnvs * numSteps % minibatches, 0, section);
        assertEquals(numSteps % (sequenceLength ?? 1), 0, section);
      } catch (error) {
        assert(error instanceof UsageError, `${error}`);
        refused.push(`${name} ${section}: ${error.message}`);
      }
    }
  }
  const gelu = "of ppo.yml: expected tanh, relu, elu, selu, leaky_relu, ";
  assertEquals(refused.map((it) => it.split("sigmoid")[0]), [
    `ppo CarRacing-v3: Cannot use activation = "gelu" ${gelu}`,
    `ppo_lstm CarRacing-v3: Cannot use activation = "gelu" ${
      gelu.replace("ppo", "ppo_lstm")
    }`,
  ]);
});

Deno.test("HerReplayBuffer of a file is hindsight", () => {
  const given = (lines: string[]) => {
    const text = `FetchReach-v4:\n  ${lines.join("\n  ")}\n`;
    const env = "gym:FetchReach-v4";
    return resolveGiven("sac", {
      file: { name: "sac.yml", text },
      entries: [["env", env]],
    });
  };
  // As in rl-baselines3-zoo, there of FetchReach-v1.
  const own = [
    "n_timesteps: !!float 20000",
    "policy: 'MultiInputPolicy'",
    "buffer_size: 1000000",
    "ent_coef: 'auto'",
    "batch_size: 256",
    "gamma: 0.95",
    "normalize: True",
    "replay_buffer_class: HerReplayBuffer",
  ];
  const kwargs = (text: string) => [...own, `replay_buffer_kwargs: ${text}`];
  const zoo =
    `"dict(online_sampling=True, goal_selection_strategy='future', n_sampled_goal=4, max_episode_length=100)"`;
  const cases: [lines: string[], hindsight: object][] = [
    [own, {}],
    [kwargs(zoo), { strategy: "future", k: 4 }],
    [
      kwargs("{goal_selection_strategy: GoalSelectionStrategy.FINAL}"),
      { strategy: "final" },
    ],
  ];
  for (const [lines, hindsight] of cases) {
    const { config } = given(lines);
    assertEquals(config.hindsight, hindsight);
    assertEquals(config.gamma, 0.95);
  }
  const refused: [lines: string[], says: string][] = [
    [kwargs("dict(handle=1)"), "Cannot use handle = 1 of sac.yml: no setting"],
    [
      kwargs("dict(goal_selection_strategy='futur')"),
      "expected future, final, episode or random; did you mean 'future'?",
    ],
    [
      own.map((it) => it.replace("HerReplayBuffer", "NStepReplayBuffer")),
      'Cannot use replay_buffer_class = "NStepReplayBuffer" of sac.yml',
    ],
    [
      ["replay_buffer_kwargs: dict(n_sampled_goal=4)"],
      'Cannot use replay_buffer_kwargs = "dict(n_sampled_goal=4)" of sac.yml',
    ],
  ];
  for (const [lines, says] of refused) {
    assertThrows(() => given(lines), UsageError, says);
  }
});

/** Reads a section of the zoo's own files for DQN and QR-DQN. */
async function dqn(env: string, name = "dqn") {
  const url = new URL(`./testdata/zoo/${name}.yml`, import.meta.url);
  const file = { name: `${name}.yml`, text: await Deno.readTextFile(url) };
  return resolveGiven("dqn", { file, entries: [["env", env]] });
}

Deno.test("every section of DQN's and QR-DQN's files is read, and says how steps become updates", async () => {
  const { config, notes } = await dqn("CartPole-v1");
  assertObjectMatch(config, {
    totalTimesteps: 50_000,
    learningRate: 2.3e-3,
    trainFrequency: 256,
    gradientSteps: 128,
    targetInterval: 128,
    explorationFraction: 0.16,
    finalEpsilon: 0.04,
    hiddenSizes: [256, 256],
    // Where the file says nothing.
    learningRateSchedule: "constant",
    double: false,
    values: "mean",
    maxGradNorm: 10,
    initialEpsilon: 1,
  });
  assertEquals(notes, [
    "target_update_interval = 10 steps of dqn.yml is targetInterval = 128 updates (n_envs = 1, train_freq = 256, gradient_steps = 128)",
  ]);
  const intervals = async (env: string, name?: string) => {
    const { config } = await dqn(env, name);
    return [config.targetInterval, config.learningStarts];
  };
  assertEquals(await intervals("MountainCar-v0"), [300, 1000]);
  assertEquals(await intervals("gym:LunarLander-v3"), [250, 1]);
  assertEquals(await intervals("Acrobot-v1"), [250, 1]);
  assertEquals(await intervals("ALE/Pong-v5"), [250, 100_000]);
  const { config: atari } = await dqn("ALE/Pong-v5");
  assertObjectMatch(atari, { network: "cnn", hiddenSizes: [], frameStack: 4 });

  assertObjectMatch((await dqn("CartPole-v1", "qrdqn")).config, {
    ...{ values: "quantile", atoms: 10, targetInterval: 128 },
    ...{ maxGradNorm: null, adamEpsilon: 0.01 / 64 },
  });
  assertObjectMatch((await dqn("gym:LunarLander-v3", "qrdqn")).config, {
    ...{ learningRate: 1.5e-3, learningRateSchedule: "linear", atoms: 170 },
    targetInterval: 256,
  });
  assertEquals(await intervals("MountainCar-v0", "qrdqn"), [300, 1000]);
  assertEquals(await intervals("Acrobot-v1", "qrdqn"), [250, 1]);
  assertObjectMatch((await dqn("ALE/Pong-v5", "qrdqn")).config, {
    ...{ values: "quantile", atoms: 200, learningRate: 5e-5 },
    ...{ explorationFraction: 0.025, finalEpsilon: 0.01 },
    targetInterval: 2500,
  });
});

Deno.test("what PPO has no like for is one clear line", () => {
  const cases: Record<string, string> = {
    "Cannot use batch_size = 100 of ppo.yml: expected a divisor of the 256 steps of a rollout (n_envs = 8, n_steps = 32)":
      "batch_size: 100",
    'Cannot use batch_size = "all" of ppo.yml: expected a divisor':
      "batch_size: all",
    'Cannot use n_steps = "many" of ppo.yml: expected an integer':
      "n_steps: many",
    'Cannot use clip_range = "exp_3" of ppo.yml: expected a number':
      "clip_range: exp_3",
    'Cannot use clip_range_vf = "lin_0.2" of ppo.yml: expected a number':
      "clip_range_vf: lin_0.2",
    "Cannot use policy_kwargs' n_lstm_layers of ppo.yml = 2: no setting":
      "policy_kwargs: dict(n_lstm_layers=2)",
    "Cannot use policy_kwargs' use_expln of ppo.yml = true: no setting":
      "policy_kwargs: dict(use_expln=True)",
    "expected the same layers for policy and values":
      "policy_kwargs: dict(net_arch=dict(pi=[8], vf=[9]))",
  };
  for (const [says, line] of Object.entries(cases)) {
    const given = ["n_envs: 8", "n_steps: 32", line]
      .filter((it, i, all) =>
        !all.some((other, j) =>
          j > i && other.split(":")[0] === it.split(":")[0]
        )
      );
    const text = `CartPole-v1:\n  ${given.join("\n  ")}\n`;
    const file = { name: "ppo.yml", text };
    assertThrows(
      () => resolveConfig("ppo", { file, entries: [] }),
      UsageError,
      says,
    );
  }
  const file = {
    name: "ppo.yml",
    text: `CartPole-v1:
  target_kl: 0.02
  clip_range_vf: 0.3
  batch_size: null
  policy_kwargs: dict(optimizer_kwargs=dict(eps=1e-7), n_lstm_layers=1, squash_output=True)
`,
  };
  assertObjectMatch(resolveConfig("ppo", { file, entries: [] }), {
    ...{ targetKl: 0.02, clipRangeValue: 0.3, adamEpsilon: 1e-7 },
    ...{ minibatches: 1, actions: "squashed" },
  });
});
