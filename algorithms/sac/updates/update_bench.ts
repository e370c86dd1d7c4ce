/**
 * Speed of the compiled updates: observations of 17 numbers, actions of 6,
 * networks 256-256, 256 rows, one thread. Run with `deno bench`.
 */
import {
  compileStep,
  type Params,
  RandomStream,
  selectBackend,
  type TensorType,
} from "@bellman/compute";
import {
  discreteQFunction,
  qFunction,
  stochasticPolicy,
  valueFunction,
} from "@bellman/policies";
import { discreteSacUpdate } from "./discrete_update.ts";
import {
  initSacValueState,
  sacValueUpdate,
} from "../haarnoja2018/value_update.ts";
import { initSacState, sacUpdate } from "./update.ts";

const OBSERVATION = 17, ACTION = 6, ROWS = 256;

await selectBackend("cpu");
const random = new RandomStream(0);
const box = { type: "box", low: -1, high: 1, dtype: "float32" } as const;
const observationSpace = { ...box, shape: [OBSERVATION] };
const actionSpace = { ...box, shape: [ACTION] };
const spaces = { observationSpace, actionSpace };
const discreteSpaces = {
  observationSpace,
  actionSpace: { type: "discrete", n: ACTION },
} as const;

const matrix = (columns: number) => ({
  shape: [ROWS, columns],
  dtype: "float32" as const,
});
const rows = { shape: [ROWS], dtype: "float32" } as const;
const scalar = { shape: [], dtype: "float32" } as const;
const transition = {
  observations: matrix(OBSERVATION),
  actions: matrix(ACTION),
  rewards: rows,
  terminated: rows,
  nextObservations: matrix(OBSERVATION),
};

type Types = Record<string, TensorType>;

/** A compiled update with a batch of random numbers. */
function learner(
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

const qf = qFunction(spaces);
const gaussian = { policy: stochasticPolicy(spaces), qf };
const noise = matrix(ACTION), noises = { noise, nextNoise: noise };
const modern = learner(
  sacUpdate(gaussian),
  initSacState(gaussian, random),
  { batch: transition, noises },
);
const prioritized = learner(
  sacUpdate(gaussian),
  initSacState(gaussian, random),
  { batch: { ...transition, weights: rows, discounts: rows }, noises },
);
const vf = valueFunction(spaces);
const withValue = learner(
  sacValueUpdate({ ...gaussian, vf }),
  initSacValueState({ ...gaussian, vf }, random),
  { batch: transition, noises: { noise } },
);
const mixture = {
  policy: stochasticPolicy({ ...spaces, distribution: "mixture" }),
  qf,
  vf,
};
const withMixture = learner(
  sacValueUpdate(mixture),
  initSacValueState(mixture, random),
  { batch: transition, noises: { noise: matrix(ACTION + 1) } },
);
const choices = {
  policy: stochasticPolicy(discreteSpaces),
  qf: discreteQFunction(discreteSpaces),
};
const discrete = learner(
  discreteSacUpdate(choices),
  initSacState(choices, random),
  { batch: { ...transition, actions: { shape: [ROWS], dtype: "int32" } } },
);

Deno.bench("update, learned temperature", modern);
Deno.bench("update, prioritized n-step replay", prioritized);
Deno.bench("update with a V function, Gaussian", withValue);
Deno.bench("update with a V function, mixture of 4", withMixture);
Deno.bench("update, 6 discrete actions", discrete);
