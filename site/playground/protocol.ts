/** Messages between the page and the worker that plays. */
import type { RgbImage } from "@bellman/types";
import { TASKS } from "./tasks.ts";

/** Environments that the page plays a policy in. */
export const PLAYED: readonly string[] = [
  ...Object.keys(TASKS),
  ...["MountainCar-v0", "CartPole-v0", "PositionOnlyCartPole-v1"],
];

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
