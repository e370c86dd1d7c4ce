import type { ReplaySchema } from "./_replay_schema.ts";
import { type Leaf, makeSchema, unknownField } from "./_schema.ts";
import type { HindsightOptions } from "./hindsight_options.ts";

/** Which drawn leaves have to do with goals. */
export interface GoalLeaves {
  readonly achieved: number;
  readonly desired: readonly number[];
  readonly reward: number;
  readonly terminated: number;
}

/** Finds them; throws where there is none, or they do not fit each other. */
export function goalLeaves(
  schema: ReplaySchema,
  options: HindsightOptions,
): GoalLeaves {
  const { achieved = "nextAchievedGoal", desired = ["desiredGoal"] } = options;
  const { rewardField = "reward" } = options;
  const goal = findLeaf(schema, achieved);
  const reward = findLeaf(schema, rewardField);
  checkSize(reward, 1);
  const terminated = schema.drawnLeaves.find(({ stored }) =>
    stored === schema.episodes?.terminated
  );
  return {
    achieved: goal.index,
    desired: desired.map((path) => {
      const leaf = findLeaf(schema, path);
      checkSize(leaf, goal.size);
      return leaf.index;
    }),
    reward: reward.index,
    terminated: terminated!.leaf.index,
  };
}

function findLeaf({ drawn: { root, leaves } }: ReplaySchema, path: string) {
  const leaf = leaves.find(({ name }) => name === path);
  if (leaf !== undefined) return leaf;
  const keys = leaves.map(({ name }) => name);
  throw unknownField("relabel", { ...root, keys }, path);
}

function checkSize({ name, size }: Leaf, wanted: number): void {
  if (size === wanted) return;
  throw new RangeError(
    `Cannot relabel '${name}' of ${size} numbers: expected ${wanted}`,
  );
}

/** To draw nothing but one leaf, as `goal`. */
export function goalSchema(schema: ReplaySchema, index: number): ReplaySchema {
  const achieved = schema.drawnLeaves[index];
  const { shape, dtype } = achieved.leaf;
  const drawn = makeSchema({ goal: { shape, dtype } });
  return {
    ...schema,
    drawn,
    drawnLeaves: [{ ...achieved, leaf: drawn.leaves[0] }],
    maxFrames: achieved.frames,
  };
}
