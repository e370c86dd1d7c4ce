/** Compiled updates for benches: observations of 17 numbers, actions of 6, 256 rows. */
import {
  compileStep,
  type Params,
  RandomStream,
  selectBackend,
  type TensorType,
} from "@bellman/compute";

const OBSERVATION = 17, ROWS = 256;
/** Numbers of an action, and discrete actions. */
export const ACTION = 6;

await selectBackend("cpu");
/** Source of parameters and batches. */
export const random = new RandomStream(0);
const box = { type: "box", low: -1, high: 1, dtype: "float32" } as const;
const observationSpace = { ...box, shape: [OBSERVATION] };
const actionSpace = { ...box, shape: [ACTION] };
/** Spaces of box actions. */
export const spaces = { observationSpace, actionSpace };
/** Spaces of discrete actions. */
export const discreteSpaces = {
  observationSpace,
  actionSpace: { type: "discrete", n: ACTION },
} as const;

/** Type of rows of so many numbers. */
export const matrix = (columns: number) => ({
  shape: [ROWS, columns],
  dtype: "float32" as const,
});
/** Type of one number a row. */
export const rows = { shape: [ROWS], dtype: "float32" } as const;
const scalar = { shape: [], dtype: "float32" } as const;
/** Types of a batch. */
export const transition = {
  observations: matrix(OBSERVATION),
  actions: matrix(ACTION),
  rewards: rows,
  terminated: rows,
  nextObservations: matrix(OBSERVATION),
};

type Types = Record<string, TensorType>;

/** A compiled update with a batch of random numbers. */
export function learner(
  update: (state: never, batch: never, inputs: never) => unknown,
  state: object,
  { batch, noises = {} }: { batch: Types; noises?: Types },
): () => void {
  const compiled = compileStep(
    (state: Record<string, Params>, given: Record<string, Params>) =>
      update(
        state as never,
        given.batch as never,
        { ...given.numbers, ...given.noises } as never,
      ) as { state: Record<string, Params>; results: Params },
    {
      state: state as Record<string, Params>,
      inputs: {
        batch,
        noises,
        numbers: { learningRate: scalar, tau: scalar },
      },
      threads: 1,
    },
  );
  const drawn = { batch: drawnOf(batch), noises: drawnOf(noises) };
  const numbers = { learningRate: 3e-4, tau: 0.005 };
  return () => void compiled.run({ ...drawn, numbers });
}

/** Draws random numbers of each type. */
function drawnOf(types: Types) {
  return Object.fromEntries(
    Object.entries(types).map(([name, { shape, dtype }]) => {
      const size = shape.reduce((product, it) => product * it, 1);
      return [
        name,
        dtype === "int32"
          ? Int32Array.from({ length: size }, (_, i) => i % ACTION)
          : random.fillNormal(new Float32Array(size)),
      ];
    }),
  );
}
