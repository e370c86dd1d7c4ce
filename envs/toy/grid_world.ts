import type {
  BoxSpace,
  DiscreteSpace,
  RenderOptions,
  RgbImage,
  StepResult,
} from "@bellman/types";
import { checkOptions } from "@bellman/files/options";
import { register } from "../registry/registry.ts";
import { Canvas, rectangle } from "../render/canvas.ts";
import { box, discrete } from "../spaces/constructors.ts";
import { ToyEnv } from "./environments.ts";

/** Cells along each side of the grid. */
export const GRID_SIZE = 5;
/** Pixels along each side of a cell. */
export const CELL_PIXELS = 8;

const SIDE = GRID_SIZE * CELL_PIXELS;

/** Spaces of the grid: pictures in bytes, and four directions. */
export const GRID_WORLD_SPACES: {
  readonly observationSpace: BoxSpace<"uint8">;
  readonly actionSpace: DiscreteSpace;
} = {
  observationSpace: box({
    low: 0,
    high: 255,
    shape: [SIDE, SIDE, 3],
    dtype: "uint8",
  }),
  actionSpace: discrete(4),
};

/** Rows and columns that each action moves by: up, right, down, left. */
const MOVES = [[-1, 0], [0, 1], [1, 0], [0, -1]] as const;

function within(place: number): number {
  return Math.min(Math.max(place, 0), GRID_SIZE - 1);
}

/**
 * A small grid, seen in pictures, with a goal to walk to: up (0), right (1), down
 * (2) or left (3); walls stop the agent. Agent and goal start in any two cells.
 * The reward is 1 at the goal, which ends the episode, else 0. The picture is 40
 * by 40 pixels of three bytes: the agent's cell is red, the goal's green.
 *
 * @example
 * ```ts
 * import { GridWorldEnv } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new GridWorldEnv();
 * assertEquals(env.reset({ seed: 0 }).length, 40 * 40 * 3);
 * ```
 */
export class GridWorldEnv extends ToyEnv<Uint8Array, number> {
  /** Space of observations. */
  readonly observationSpace: BoxSpace<"uint8"> =
    GRID_WORLD_SPACES.observationSpace;
  /** Space of actions. */
  readonly actionSpace: DiscreteSpace = GRID_WORLD_SPACES.actionSpace;
  /** Row and column of the agent, and of the goal. */
  private places = [0, 0, 0, 1];

  #picture(): Uint8Array {
    const picture = new Uint8Array(SIDE * SIDE * 3);
    for (const channel of [0, 1]) {
      const [row, column] = this.places.slice(2 * channel);
      for (let i = 0; i < CELL_PIXELS ** 2; i++) {
        const y = row * CELL_PIXELS + Math.floor(i / CELL_PIXELS);
        const x = column * CELL_PIXELS + i % CELL_PIXELS;
        picture[(y * SIDE + x) * 3 + channel] = 255;
      }
    }
    return picture;
  }

  /** Starts an episode. */
  protected override begin(): Uint8Array {
    const cell = this.random.integer(GRID_SIZE ** 2);
    const other = this.random.integer(GRID_SIZE ** 2 - 1);
    const goal = other >= cell ? other + 1 : other;
    this.places = [cell, goal].flatMap((it) => [
      Math.floor(it / GRID_SIZE),
      it % GRID_SIZE,
    ]);
    return this.#picture();
  }

  /** Takes one step. */
  protected override advance(action: number): StepResult<Uint8Array> {
    const [down, right] = MOVES[action];
    const [row, column, goalRow, goalColumn] = this.places;
    const [toRow, toColumn] = [within(row + down), within(column + right)];
    this.places = [toRow, toColumn, goalRow, goalColumn];
    const terminated = toRow === goalRow && toColumn === goalColumn;
    return {
      observation: this.#picture(),
      reward: Number(terminated),
      terminated,
      truncated: false,
    };
  }

  /**
   * Draws the current picture in any size.
   *
   * @param options Size; 200 by 200 by default.
   * @returns The picture.
   */
  override render(
    { width = 200, height = 200 }: RenderOptions = {},
  ): RgbImage {
    const canvas = new Canvas({ width, height, view: [SIDE, SIDE] });
    for (const channel of [1, 0]) {
      const [row, column] = this.places.slice(2 * channel);
      canvas.fillPolygon(
        rectangle({
          at: [column * CELL_PIXELS, (GRID_SIZE - row) * CELL_PIXELS],
          x: [0, CELL_PIXELS],
          y: [-CELL_PIXELS, 0],
        }),
        channel === 0 ? [204, 77, 77] : [77, 204, 77],
      );
    }
    return canvas.image();
  }
}

register({
  id: "GridWorld-v0",
  maxEpisodeSteps: 50,
  make(kwargs) {
    checkOptions("GridWorld-v0", kwargs, {});
    return new GridWorldEnv();
  },
});
