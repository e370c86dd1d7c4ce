import {
  Hindsight,
  type HindsightStrategy,
  ReplayBuffer,
} from "@bellman/buffers";
import {
  checkEach,
  type Comparison,
  type FixtureRunner,
} from "./comparison.ts";

interface Episode {
  achieved: number[][];
  next_achieved: number[][];
  desired: number[];
  rewards: number[];
  terminated: number[];
  truncated: number[];
}

interface RelabelCase {
  name: string;
  inputs: {
    strategy: HindsightStrategy;
    k: number;
    threshold: number;
    reward: "sparse" | "dense";
    terminated_where_reached: boolean;
    episodes: Episode[];
    rows: {
      episode: number[];
      step: number[];
      draw_relabel: number[];
      draw_goal: number[];
    };
  };
  expected: {
    rows: { desired: number[]; reward: number; terminated: number }[];
  };
}

/** Goals are float32, as are rewards. */
const FLOAT32 = { tolerance: 1e-6 };
const EXACTLY = { tolerance: 0 };

/** Stores the episodes; returns the first row of each. */
function fill(buffer: ReplayBuffer, episodes: readonly Episode[]): number[] {
  let rows = 0;
  return episodes.map((it) => {
    it.achieved.forEach((achievedGoal, step) => {
      buffer.add({
        achievedGoal,
        nextAchievedGoal: it.next_achieved[step],
        desiredGoal: it.desired,
        reward: [it.rewards[step]],
        terminated: [it.terminated[step]],
        truncated: [it.truncated[step]],
      });
    });
    return (rows += it.achieved.length) - it.achieved.length;
  });
}

function runRelabel({ inputs, expected }: RelabelCase, comparison: Comparison) {
  const { episodes, rows, threshold, reward, strategy, k } = inputs;
  const size = episodes[0].desired.length;
  const goal = { shape: [size], dtype: "float32" } as const;
  const flag = { shape: [], dtype: "uint8" } as const;
  const buffer = new ReplayBuffer({
    capacity: episodes.reduce((sum, it) => sum + it.achieved.length, 0),
    fields: {
      achievedGoal: goal,
      desiredGoal: goal,
      reward: { shape: [], dtype: "float64" },
      terminated: flag,
      truncated: flag,
    },
    episodes: { next: { nextAchievedGoal: "achievedGoal" } },
  });
  const starts = fill(buffer, episodes);
  const distances = (a: ArrayLike<number>, b: ArrayLike<number>) =>
    Array.from({ length: a.length / size }, (_, row) => {
      let square = 0;
      for (let i = row * size; i < (row + 1) * size; i++) {
        square += (a[i] - b[i]) ** 2;
      }
      return Math.sqrt(square);
    });
  const hindsight = new Hindsight(buffer, {
    strategy,
    k,
    reward: (achieved, desired) =>
      distances(achieved, desired).map((it) =>
        reward === "dense" ? -it : it <= threshold ? 0 : -1
      ),
    ...(inputs.terminated_where_reached && {
      terminated: (achieved, desired) =>
        distances(achieved, desired).map((it) => +(it <= threshold)),
    }),
  });
  // A draw of each row says whether it gets another goal, a second one which.
  let row = -1;
  const random = {
    uniform: () => rows.draw_relabel[++row],
    integer: (n: number) => Math.floor(rows.draw_goal[row] * n),
  };
  const slots = rows.step.map((step, i) => starts[rows.episode[i]] + step);
  const batch = hindsight.relabel(buffer.gather(slots), random);
  const wanted = expected.rows;
  comparison.numbers(
    "desired",
    batch.desiredGoal as Float32Array,
    wanted.flatMap((it) => it.desired),
    FLOAT32,
  );
  comparison.numbers(
    "reward",
    batch.reward as Float64Array,
    wanted.map((it) => it.reward),
    FLOAT32,
  );
  comparison.numbers(
    "terminated",
    batch.terminated as Uint8Array,
    wanted.map((it) => it.terminated),
    EXACTLY,
  );
}

export const runner: FixtureRunner = checkEach({ cases: runRelabel });
