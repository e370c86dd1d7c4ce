import * as tf from "@tensorflow/tfjs";
import {
  CELL_PIXELS,
  GRID_SIZE,
  GRID_WORLD_SPACES,
} from "../toy/grid_world.ts";
import type { TensorEnv, TensorState } from "./episodes.ts";

const CELLS = GRID_SIZE ** 2;
const SIDE = GRID_SIZE * CELL_PIXELS;

/** Row or column of each pixel along one side of the picture. */
const PLACES: Int32Array = Int32Array.from(
  { length: SIDE },
  (_, i) => Math.floor(i / CELL_PIXELS),
);

const int = (value: number) => tf.scalar(value, "int32");

/** Splits numbers of cells into rows and columns. */
function placesOf(cells: tf.Tensor): [row: tf.Tensor, column: tf.Tensor] {
  // In the middle of a cell, as quotients are rounded.
  const rows = tf.floor(tf.div(tf.add(cells, 0.5), GRID_SIZE));
  const columns = tf.sub(cells, tf.mul(rows, GRID_SIZE));
  return [tf.cast(rows, "int32"), tf.cast(columns, "int32")];
}

/** Shows a cell of each environment `[numEnvs, SIDE, SIDE]`. */
function squareOf(row: tf.Tensor, column: tf.Tensor): tf.Tensor {
  const places = tf.tensor1d(PLACES, "int32");
  const isRow = tf.equal(tf.reshape(row, [-1, 1]), places);
  const isColumn = tf.equal(tf.reshape(column, [-1, 1]), places);
  const both = tf.logicalAnd(
    tf.reshape(isRow, [-1, SIDE, 1]),
    tf.reshape(isColumn, [-1, 1, SIDE]),
  );
  return tf.mul(tf.cast(both, "int32"), int(255));
}

/** Both cells are the same. */
function isAtGoal({ row, column, goalRow, goalColumn }: TensorState) {
  return tf.logicalAnd(tf.equal(row, goalRow), tf.equal(column, goalColumn));
}

/** The grid with a goal, seen in pictures. */
export const GRID_WORLD: TensorEnv = {
  ...GRID_WORLD_SPACES,
  id: "GridWorld-v0",
  maxEpisodeSteps: 50,
  startSize: 2,
  start(uniform) {
    const [first, second] = tf.unstack(uniform);
    const draw = (x: tf.Tensor, n: number) =>
      tf.minimum(tf.floor(tf.mul(x, n)), n - 1);
    const cell = draw(first, CELLS), other = draw(second, CELLS - 1);
    // Any cell but that of the agent.
    const goal = tf.add(
      other,
      tf.cast(tf.greaterEqual(other, cell), "float32"),
    );
    const [row, column] = placesOf(cell);
    const [goalRow, goalColumn] = placesOf(goal);
    return { row, column, goalRow, goalColumn };
  },
  step({ row, column, goalRow, goalColumn }, actions) {
    const went = (action: number) =>
      tf.cast(tf.equal(actions, int(action)), "int32");
    const moved = (at: tf.Tensor, up: number, down: number) =>
      tf.minimum(
        tf.maximum(tf.add(at, tf.sub(went(up), went(down))), int(0)),
        int(GRID_SIZE - 1),
      );
    const state = {
      row: moved(row, 2, 0),
      column: moved(column, 1, 3),
      goalRow,
      goalColumn,
    };
    const terminated = isAtGoal(state);
    return { state, rewards: tf.cast(terminated, "float32"), terminated };
  },
  observe({ row, column, goalRow, goalColumn }) {
    const agent = squareOf(row, column);
    const goal = squareOf(goalRow, goalColumn);
    return tf.stack([agent, goal, tf.zerosLike(agent)], 3);
  },
};
