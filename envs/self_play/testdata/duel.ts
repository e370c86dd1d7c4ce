/** A program whose two agents get what they take, less what the other one takes. */
import { connect, type GameWorld } from "@bellman/client";

connect(() => {
  let steps = 0, taken = [0, 0], first = 0;
  let watched = 0;
  const see = () => [0, 1].map((seat) => [seat, steps, taken[1 - seat], first]);
  const world: GameWorld = {
    agents: 2,
    observationSpace: {
      type: "box",
      shape: [4],
      low: -Infinity,
      high: Infinity,
      dtype: "float32",
    },
    actionSpace: { type: "discrete", n: 3 },
    reset({ random }) {
      steps = 0;
      taken = [0, 0];
      first = random.integer(1000);
      return see();
    },
    step(actions: number[]) {
      taken = actions;
      const isOver = ++steps === 3, [a, b] = taken;
      return {
        observation: see(),
        reward: [a - b, b - a],
        terminated: [isOver, isOver],
        truncated: [false, false],
      };
    },
    // Two people, of whom the first takes as much as there were steps.
    async watch() {
      const action = [steps, 2 - watched++ % 2];
      await new Promise((resolve) => setTimeout(resolve, 5));
      return { ...await world.step(action), action };
    },
  };
  return world;
});
