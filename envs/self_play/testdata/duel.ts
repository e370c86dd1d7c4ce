/** A program whose two agents get what they take, less what the other one takes. */
import { connect } from "@bellman/client";

connect(() => {
  let steps = 0, taken = [0, 0], first = 0;
  const see = () => [0, 1].map((seat) => [seat, steps, taken[1 - seat], first]);
  return {
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
  };
});
