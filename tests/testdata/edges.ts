import { discrete, Env, register } from "@bellman/envs";

const { MAX_VALUE, MIN_VALUE } = Number;
/** Numbers at the edges of the types that hold them, and neighbours. */
const EDGES = [
  ...[MAX_VALUE, -MAX_VALUE, MIN_VALUE, 1e-320, 2 ** 128, -20.000000000000004],
  ...[-20.000000000000007, 3.4e38, 1e-102, 0.1 + 0.2, 2 ** 53 + 2, 1e300],
];

/** Episodes whose returns differ by rounding alone, and whose `info` has numbers of every size. */
class Edges extends Env<number, number> {
  observationSpace = discrete(1);
  actionSpace = discrete(2);
  private steps = 0;

  reset() {
    return 0;
  }

  step() {
    const value = EDGES[this.steps++ % EDGES.length];
    return {
      observation: 0,
      reward: this.steps % 2 ? -0.1 : -0.30000000000000004,
      terminated: false,
      truncated: false,
      info: { value, tiny: 1e-320 * this.steps },
    };
  }
}

register({ id: "Edges-v0", maxEpisodeSteps: 5, make: () => new Edges() });
