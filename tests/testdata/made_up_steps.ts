import type { VecStep } from "@bellman/types";

/** Made-up observations of three numbers for each environment. */
export function observationsAt(time: number, numEnvs: number): Float32Array {
  return Float32Array.from(
    { length: 3 * numEnvs },
    (_, i) => Math.sin(7 * time + 1.3 * i),
  );
}

/** The made-up step at a time, with ends of both kinds. */
export function stepAt(time: number, numEnvs: number): VecStep {
  const ends = (every: number) =>
    Uint8Array.from({ length: numEnvs }, (_, i) => +((time + i) % every === 0));
  return {
    observations: observationsAt(time + 1, numEnvs),
    finalObservations: observationsAt(time + 0.5, numEnvs),
    rewards: Float64Array.from(
      { length: numEnvs },
      (_, i) => Math.cos(time + i),
    ),
    terminated: ends(5),
    truncated: ends(3),
  };
}

/** An agent, as {@link takeSteps} needs it. */
interface Steps {
  act(observations: Float32Array): ArrayLike<number>;
  observe(step: VecStep): void;
  update(): unknown;
}

/** Takes made-up steps and gives back all that was decided and learned. */
export function takeSteps(
  agent: Steps,
  { from, count, numEnvs }: { from: number; count: number; numEnvs: number },
): unknown[] {
  const seen: unknown[] = [];
  for (let time = from; time < from + count; time++) {
    seen.push(Array.from(agent.act(observationsAt(time, numEnvs))));
    agent.observe(stepAt(time, numEnvs));
    seen.push(agent.update());
  }
  return seen;
}
