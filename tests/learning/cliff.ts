import { discrete, register, ToyEnv } from "@bellman/envs";

/** Rows and columns; the way starts at the bottom left and ends at the bottom right. */
const ROWS = 4, COLUMNS = 12;

/** Rows and columns that each action moves by: up, right, down, left. */
const MOVES = [[-1, 0], [0, 1], [1, 0], [0, -1]] as const;

function within(at: number, size: number): number {
  return Math.min(Math.max(at, 0), size - 1);
}

/**
 * Walking along a cliff: a step costs 1; one off the cliff, which is the bottom row
 * between start and end, costs 100 and leads back to the start. The best return is -13.
 *
 * Source: Sutton and Barto, Reinforcement Learning, example 6.6.
 */
class CliffEnv extends ToyEnv<number, number> {
  observationSpace = discrete(ROWS * COLUMNS);
  actionSpace = discrete(MOVES.length);
  private row = ROWS - 1;
  private column = 0;

  protected override begin(): number {
    [this.row, this.column] = [ROWS - 1, 0];
    return this.row * COLUMNS + this.column;
  }

  protected override advance(action: number) {
    const [down, right] = MOVES[action];
    this.row = within(this.row + down, ROWS);
    this.column = within(this.column + right, COLUMNS);
    const isLow = this.row === ROWS - 1 && this.column > 0;
    const terminated = isLow && this.column === COLUMNS - 1;
    const falls = isLow && !terminated;
    return {
      observation: falls ? this.begin() : this.row * COLUMNS + this.column,
      reward: falls ? -100 : -1,
      terminated,
      truncated: false,
    };
  }
}

register({ id: "Cliff-v0", maxEpisodeSteps: 200, make: () => new CliffEnv() });
