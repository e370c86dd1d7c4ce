import type {
  ActionsOf,
  BatchOf,
  Env,
  ObservationsOf,
  SpaceOf,
  SpaceValue,
  VecEnv,
} from "@bellman/types";

/** Numbers in, whole numbers out: the form of most classic environments. */
type Classic = Env<Float32Array, number>;

/** Environment whose observations have goals. */
type Goals<T extends SpaceValue, A extends SpaceValue> = Env<
  { observation: T; achieved_goal: T; desired_goal: T },
  A
>;

type Mujoco = Env<Float64Array, Float32Array>;

type Atari = Env<Uint8Array, number>;

/**
 * Types of environments by id: {@linkcode make} and {@linkcode makeVec} return them.
 * Ids of your own are added where they are registered:
 *
 * ```ts ignore
 * declare module "@bellman/envs" {
 *   interface RegisteredEnvs {
 *     "Room-v0": Room;
 *   }
 * }
 * ```
 */
export interface RegisteredEnvs {
  "CartPole-v0": Classic;
  "CartPole-v1": Classic;
  "PositionOnlyCartPole-v1": Classic;
  "MountainCar-v0": Classic;
  "MountainCarContinuous-v0": Env<Float32Array, Float32Array>;
  "Acrobot-v1": Classic;
  "Pendulum-v1": Env<Float32Array, Float32Array>;
  "Bandit-v0": Env<number, number>;
  "Chain-v0": Env<number, number>;
  "Identity-v0": Env;
  "BitFlip-v0": Goals<Uint8Array, number>;
  "Reach-v0": Goals<Float32Array, Float32Array>;
  "GridWorld-v0": Env<Uint8Array, number>;
  "Reacher-v5": Mujoco;
  "Pusher-v5": Mujoco;
  "InvertedPendulum-v5": Mujoco;
  "InvertedDoublePendulum-v5": Mujoco;
  "HalfCheetah-v5": Mujoco;
  "Hopper-v5": Mujoco;
  "Swimmer-v5": Mujoco;
  "Walker2d-v5": Mujoco;
  "Ant-v5": Mujoco;
  "Humanoid-v5": Mujoco;
  "HumanoidStandup-v5": Mujoco;
  [id: `ALE/${string}-v5`]: Atari;
  [id: `${string}NoFrameskip-v4`]: Atari;
}

/** Id of an environment: one that is known by its type, or any other. */
export type EnvId = keyof RegisteredEnvs | (string & Record<never, never>);

/**
 * Environment whose type tells its spaces.
 *
 * @typeParam O An observation.
 * @typeParam A An action.
 */
export interface TypedEnv<O extends SpaceValue, A extends SpaceValue>
  extends Env<O, A> {
  /** Space of observations. */
  readonly observationSpace: SpaceOf<O>;
  /** Space of actions. */
  readonly actionSpace: SpaceOf<A>;
}

/**
 * Vector environment whose type tells the spaces of each of its environments.
 *
 * @typeParam O An observation of one environment.
 * @typeParam A An action of one environment.
 */
export interface TypedVecEnv<O extends SpaceValue, A extends SpaceValue>
  extends VecEnv<BatchOf<O>, BatchOf<A>> {
  /** Space of one environment's observations. */
  readonly observationSpace: SpaceOf<O>;
  /** Space of one environment's actions. */
  readonly actionSpace: SpaceOf<A>;
}

/**
 * Environment that {@linkcode make} returns for an id.
 *
 * @typeParam Id The id; one without a known type gives a general `Env`.
 */
export type EnvOf<Id> = [Id] extends [keyof RegisteredEnvs]
  ? TypedEnv<ObservationsOf<RegisteredEnvs[Id]>, ActionsOf<RegisteredEnvs[Id]>>
  : Env;

/**
 * Environments that {@linkcode makeVec} returns for an id.
 *
 * @typeParam Id The id; one without a known type gives a general `VecEnv`.
 */
export type VecEnvOf<Id> = [Id] extends [keyof RegisteredEnvs] ? TypedVecEnv<
    ObservationsOf<RegisteredEnvs[Id]>,
    ActionsOf<RegisteredEnvs[Id]>
  >
  : VecEnv;
