import type { EnvSpec } from "@bellman/types";
import { type EnvKwargs, register } from "../registry/registry.ts";
import { MujocoEnv, MujocoVecEnv } from "./mujoco_env.ts";
import type * as arms from "./tasks/arms.ts";
import type * as humanoids from "./tasks/humanoids.ts";
import type * as pendulums from "./tasks/pendulums.ts";
import type * as runners from "./tasks/runners.ts";
import type { MujocoTaskName } from "./tasks/tasks.ts";

/**
 * A planar runner of two legs that is to run forward. The reward is its speed along
 * `x` in metres a second less 0.1 times the sum of squared actions; no episode ends.
 * Six actions from -1 to 1 are torques on the joints; observations are the eight
 * positions without `x` and the nine velocities.
 *
 * @example
 * ```ts
 * import { HalfCheetahEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new HalfCheetahEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(6));
 *   assertEquals(observation.length, 17);
 *   env.close();
 * }
 * ```
 */
export class HalfCheetahEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options Options that differ from Gymnasium's.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: runners.HalfCheetahOptions = {}) {
    super("HalfCheetah", options);
  }
}

/**
 * A planar leg that is to hop forward. The reward is 1 for each step that ends
 * healthy, and its speed along `x` less 0.001 times the sum of squared actions. An
 * episode ends when it falls. Three torques from -1 to 1; eleven observations.
 *
 * @example
 * ```ts
 * import { HopperEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new HopperEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(3));
 *   assertEquals(observation.length, 11);
 *   env.close();
 * }
 * ```
 */
export class HopperEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options Options that differ from Gymnasium's.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: runners.HopperOptions = {}) {
    super("Hopper", options);
  }
}

/**
 * A planar body on two legs that is to walk forward. The reward is 1 for each step
 * that ends healthy, and its speed along `x` less 0.001 times the sum of squared
 * actions. An episode ends when it falls. Six torques from -1 to 1; 17
 * observations.
 *
 * @example
 * ```ts
 * import { Walker2dEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new Walker2dEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(6));
 *   assertEquals(observation.length, 17);
 *   env.close();
 * }
 * ```
 */
export class Walker2dEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options Options that differ from Gymnasium's.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: runners.Walker2dOptions = {}) {
    super("Walker2d", options);
  }
}

/**
 * A body on four legs that is to run along `x`. The reward is 1 for each step that
 * ends healthy, and its speed less the costs of actions and contacts. An episode
 * ends when it jumps or falls. Eight torques from -1 to 1; 105 observations:
 * positions, velocities and contact forces.
 *
 * @example
 * ```ts
 * import { AntEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new AntEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(8));
 *   assertEquals(observation.length, 105);
 *   env.close();
 * }
 * ```
 */
export class AntEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options Options that differ from Gymnasium's.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: runners.AntOptions = {}) {
    super("Ant", options);
  }
}

/**
 * A human figure that is to walk along `x`. The reward is 5 for each step that ends
 * healthy, and 1.25 times its speed less the costs of controls and contacts. An
 * episode ends when it falls. 17 torques from -0.4 to 0.4; 348 observations:
 * positions, velocities, inertias, the bodies' velocities, and forces.
 *
 * @example
 * ```ts
 * import { HumanoidEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new HumanoidEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(17));
 *   assertEquals(observation.length, 348);
 *   env.close();
 * }
 * ```
 */
export class HumanoidEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options Options that differ from Gymnasium's.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: humanoids.HumanoidOptions = {}) {
    super("Humanoid", options);
  }
}

/**
 * A human figure on its back that is to stand up. The reward is its height over the
 * seconds of a step of the simulation, less the costs of controls and contacts, and
 * 1; no episode ends. 17 torques from -0.4 to 0.4; 348 observations.
 *
 * @example
 * ```ts
 * import { HumanoidStandupEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new HumanoidStandupEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(17));
 *   assertEquals(observation.length, 348);
 *   env.close();
 * }
 * ```
 */
export class HumanoidStandupEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options Options that differ from Gymnasium's.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: humanoids.HumanoidStandupOptions = {}) {
    super("HumanoidStandup", options);
  }
}

/**
 * A chain of three links in a fluid that is to swim along `x`. The reward is its
 * speed less 0.0001 times the sum of squared actions; no episode ends. Two torques
 * from -1 to 1; eight observations.
 *
 * @example
 * ```ts
 * import { SwimmerEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new SwimmerEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(2));
 *   assertEquals(observation.length, 8);
 *   env.close();
 * }
 * ```
 */
export class SwimmerEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options Options that differ from Gymnasium's.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: runners.SwimmerOptions = {}) {
    super("Swimmer", options);
  }
}

/**
 * An arm of two joints whose fingertip is to reach a goal. The reward is minus the
 * distance in metres and the sum of squared actions; no episode ends. Two torques
 * from -1 to 1; ten observations.
 *
 * @example
 * ```ts
 * import { ReacherEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new ReacherEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(2));
 *   assertEquals(observation.length, 10);
 *   env.close();
 * }
 * ```
 */
export class ReacherEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options Options that differ from Gymnasium's.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: arms.ReacherOptions = {}) {
    super("Reacher", options);
  }
}

/**
 * An arm of seven joints that is to push an object to a goal. The reward is minus
 * the distances of the fingertip from the object and of the object from the goal,
 * and the cost of actions; no episode ends. Seven torques from -2 to 2; 23
 * observations.
 *
 * @example
 * ```ts
 * import { PusherEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new PusherEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(7));
 *   assertEquals(observation.length, 23);
 *   env.close();
 * }
 * ```
 */
export class PusherEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options Options that differ from Gymnasium's.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: arms.PusherOptions = {}) {
    super("Pusher", options);
  }
}

/**
 * A cart that is to keep a pole upright. The reward is 1 for each step until the
 * pole leans by more than 0.2 radians. One force from -3 to 3; four observations.
 *
 * @example
 * ```ts
 * import { InvertedPendulumEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new InvertedPendulumEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(1));
 *   assertEquals(observation.length, 4);
 *   env.close();
 * }
 * ```
 */
export class InvertedPendulumEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options Options that differ from Gymnasium's.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: pendulums.InvertedPendulumOptions = {}) {
    super("InvertedPendulum", options);
  }
}

/**
 * A cart that is to keep a pole of two links upright. The reward is 10 for each step
 * until the tip falls below a metre, less what it is away from the top and its
 * speeds. One force from -1 to 1; nine observations.
 *
 * @example
 * ```ts
 * import { InvertedDoublePendulumEnv, isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new InvertedDoublePendulumEnv();
 *   env.reset({ seed: 0 });
 *   const { observation } = env.step(new Float32Array(1));
 *   assertEquals(observation.length, 9);
 *   env.close();
 * }
 * ```
 */
export class InvertedDoublePendulumEnv extends MujocoEnv {
  /**
   * Loads the model.
   *
   * @param options Options that differ from Gymnasium's.
   * @throws {TypeError} If an option is unknown, with the nearest one.
   * @throws {RangeError} If an option cannot be.
   * @throws {Error} If there is no engine or no model, or it cannot be loaded.
   */
  constructor(options: pendulums.InvertedDoublePendulumOptions = {}) {
    super("InvertedDoublePendulum", options);
  }
}

/** A kind of environment with its limits in Gymnasium: 1000 steps, unless it says. */
interface Entry extends Omit<EnvSpec, "id"> {
  readonly single: new (options: EnvKwargs) => MujocoEnv;
}

const ENTRIES: Readonly<Record<MujocoTaskName, Entry>> = {
  Reacher: { single: ReacherEnv, maxEpisodeSteps: 50, rewardThreshold: -3.75 },
  Pusher: { single: PusherEnv, maxEpisodeSteps: 100, rewardThreshold: 0 },
  InvertedPendulum: { single: InvertedPendulumEnv, rewardThreshold: 950 },
  InvertedDoublePendulum: {
    single: InvertedDoublePendulumEnv,
    rewardThreshold: 9100,
  },
  HalfCheetah: { single: HalfCheetahEnv, rewardThreshold: 4800 },
  Hopper: { single: HopperEnv, rewardThreshold: 3800 },
  Swimmer: { single: SwimmerEnv, rewardThreshold: 360 },
  Walker2d: { single: Walker2dEnv },
  Ant: { single: AntEnv, rewardThreshold: 6000 },
  Humanoid: { single: HumanoidEnv },
  HumanoidStandup: { single: HumanoidStandupEnv },
};

for (const [name, { single, ...limits }] of Object.entries(ENTRIES)) {
  const spec = { id: `${name}-v5`, maxEpisodeSteps: 1000, ...limits };
  register({
    ...spec,
    make: (kwargs) => new single(kwargs),
    makeVec: ({ numEnvs, maxEpisodeSteps, kwargs }) =>
      new MujocoVecEnv(name as MujocoTaskName, {
        numEnvs,
        maxEpisodeSteps,
        kwargs,
        spec: { ...spec, maxEpisodeSteps },
      }),
  });
}
