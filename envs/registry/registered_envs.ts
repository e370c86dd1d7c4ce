import type {
  ActionsOf,
  BatchOf,
  Env,
  ObservationsOf,
  SpaceOf,
  SpaceValue,
  VecEnv,
} from "@bellman/types";
import type { AtariId } from "./atari_ids.ts";

/** Types of this package's environments by id. */
export type BuiltInEnvs =
  & Record<
    | "CartPole-v0"
    | "CartPole-v1"
    | "PositionOnlyCartPole-v1"
    | "MountainCar-v0"
    | "Acrobot-v1",
    Env<Float32Array, number>
  >
  & Record<
    "MountainCarContinuous-v0" | "Pendulum-v1",
    Env<Float32Array, Float32Array>
  >
  & Record<"Bandit-v0" | "Chain-v0", Env<number, number>>
  & Record<"Identity-v0", Env>
  & Record<
    "GridWorld-v0" | "ConnectFour-v0" | "TicTacToe-v0",
    Env<Uint8Array, number>
  >
  & Record<"PaddleBall-v0" | "Soccer-v0", Env<Float32Array, number>>
  & Record<
    "BitFlip-v0",
    Env<
      {
        observation: Uint8Array;
        achieved_goal: Uint8Array;
        desired_goal: Uint8Array;
      },
      number
    >
  >
  & Record<
    "Reach-v0",
    Env<
      {
        observation: Float32Array;
        achieved_goal: Float32Array;
        desired_goal: Float32Array;
      },
      Float32Array
    >
  >
  & Record<
    | "Reacher-v5"
    | "Pusher-v5"
    | "InvertedPendulum-v5"
    | "InvertedDoublePendulum-v5"
    | "HalfCheetah-v5"
    | "Hopper-v5"
    | "Swimmer-v5"
    | "Walker2d-v5"
    | "Ant-v5"
    | "Humanoid-v5"
    | "HumanoidStandup-v5",
    Env<Float64Array, Float32Array>
  >
  & Record<AtariId, Env<Uint8Array, number>>;

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
export interface RegisteredEnvs extends BuiltInEnvs {}

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
 * @typeParam Each The same: of several ids, each has its own, and an action must fit all.
 */
export type EnvOf<Id, Each = Id> = [Id] extends [keyof RegisteredEnvs]
  ? Each extends keyof RegisteredEnvs ? TypedEnv<
      ObservationsOf<RegisteredEnvs[Each]>,
      ActionsOf<RegisteredEnvs[Each]>
    >
  : never
  : Env;

/**
 * Environments that {@linkcode makeVec} returns for an id.
 *
 * @typeParam Id The id; one without a known type gives a general `VecEnv`.
 * @typeParam Each The same: of several ids, each has its own, and an action must fit all.
 */
export type VecEnvOf<Id, Each = Id> = [Id] extends [keyof RegisteredEnvs]
  ? Each extends keyof RegisteredEnvs ? TypedVecEnv<
      ObservationsOf<RegisteredEnvs[Each]>,
      ActionsOf<RegisteredEnvs[Each]>
    >
  : never
  : VecEnv;
