/** Messages between the page and its workers. */
import type { RgbImage } from "@bellman/types";

/** Environments that the page trains on. */
export const TRAINED = [
  "CartPole-v1",
  "Acrobot-v1",
  "MountainCarContinuous-v0",
  "Pendulum-v1",
] as const;

/** Environments that the page plays a policy in. */
export const PLAYED = [
  ...TRAINED,
  "MountainCar-v0",
  "CartPole-v0",
  "PositionOnlyCartPole-v1",
] as const;

/** Settings with a field of their own, besides the seed. */
export const MAIN_SETTINGS = ["learningRate", "gamma", "totalTimesteps"];

/** Requests to the worker that trains. */
export type TrainerRequest =
  /** Asks for the settings of an environment's preset. */
  | { type: "describe"; env: string }
  /** Begins a run with settings that are given, and further ones as YAML. */
  | {
    type: "start";
    env: string;
    settings: Readonly<Record<string, unknown>>;
    further: string;
  }
  | { type: "pause" | "resume" | "savePolicy" | "saveCheckpoint" };

/** Reports of the worker that trains. */
export type TrainerReport =
  | { type: "described"; settings: Readonly<Record<string, unknown>> }
  | { type: "state"; state: "training" | "paused" | "completed" }
  | {
    type: "progress";
    step: number;
    totalTimesteps: number;
    /** NaN before the first episode ended. */
    meanReturn: number;
    stepsPerSecond: number;
    picture: RgbImage;
  }
  | { type: "file"; name: string; bytes: Uint8Array<ArrayBuffer> }
  | { type: "error"; message: string };

/** Requests to the worker that plays. */
export type PlayerRequest =
  | { type: "open"; name: string; bytes: Uint8Array<ArrayBuffer> }
  | {
    type: "play";
    env: string;
    copies: number;
    seed: number;
    /** True for the environment's own pace, else as fast as it goes. */
    isPaced: boolean;
  }
  | { type: "pause" | "resume" };

/** Reports of the worker that plays. */
export type PlayerReport =
  | { type: "opened"; metadata: Readonly<Record<string, string>> }
  | {
    type: "played";
    step: number;
    episodes: number;
    /** Mean return of all episodes, NaN before the first one ended. */
    meanReturn: number;
    /** Actions since the last report, those of all copies side by side. */
    actions: number[];
    pictures: RgbImage[];
  }
  | { type: "error"; message: string };
