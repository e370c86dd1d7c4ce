import { discrete, register, ToyEnv } from "@bellman/envs";

/** Rows and columns; the way starts at the bottom left and ends at the bottom right. */
const ROWS = 4, COLUMNS = 12;

/** Rows and columns that each action moves by: up, right, down, left. */
const MOVES = [[-1, 0], [0, 1], [1, 0], [0, -1]] as const;

/**
 * Walking along a cliff: a step costs 1; one off the cliff, which is the bottom row
 * between start and end, costs 100 and leads back to the start. The best return is -13.
 *
 * Source: Sutton and Barto, Reinforcement Learning, example 6.6.
 */
class CliffEnv extends ToyEnv<number, number> {
  constructor() {
    let row = ROWS - 1, column = 0;
    const within = (at: number, size: number) =>
      Math.min(Math.max(at, 0), size - 1);
    const start = () => {
      [row, column] = [ROWS - 1, 0];
      return row * COLUMNS + column;
    };
    super({
      observationSpace: discrete(ROWS * COLUMNS),
      actionSpace: discrete(MOVES.length),
      begin: start,
      advance(action) {
        const [down, right] = MOVES[action];
        row = within(row + down, ROWS);
        column = within(column + right, COLUMNS);
        const isLow = row === ROWS - 1 && column > 0;
        const terminated = isLow && column === COLUMNS - 1;
        const falls = isLow && !terminated;
        return {
          observation: falls ? start() : row * COLUMNS + column,
          reward: falls ? -100 : -1,
          terminated,
          truncated: false,
        };
      },
      saveRules: () => [row, column],
      loadRules: (state) => [row, column] = state as [number, number],
      draw: () => {
        throw new Error("Cannot draw a cliff");
      },
    });
  }
}

register({ id: "Cliff-v0", maxEpisodeSteps: 200, make: () => new CliffEnv() });
