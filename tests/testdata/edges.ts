import { box, discrete, Env, register } from "@bellman/envs";

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

/** Time stamps, of which float32 has every 128th. */
class Stamps extends Env<Float64Array, number> {
  observationSpace = box({
    low: 0,
    high: Infinity,
    shape: [1],
    dtype: "float64",
  });
  actionSpace = discrete(2);
  private time = 0;

  reset() {
    this.time = 1.7e9;
    return Float64Array.of(this.time);
  }

  step() {
    return {
      observation: Float64Array.of(++this.time),
      reward: 1,
      terminated: false,
      truncated: false,
      info: {},
    };
  }
}

register({ id: "Stamps-v0", maxEpisodeSteps: 20, make: () => new Stamps() });
