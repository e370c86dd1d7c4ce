import type { Engine } from "@bellman/compute";
import { factoredDamping, kfacSchedule } from "@bellman/kfac";
import type { Comparison, Expected, FixtureRunner } from "./comparison.ts";
import {
  type Arrays,
  compareRelative,
  compareScaled,
  compileCase,
  type Factors,
  type Inputs,
  placesOf,
} from "./kfac.ts";

interface TfCase {
  name: string;
  inputs: Inputs;
  expected: {
    grads_batch2: Arrays;
    factors_per_update: (Factors & { A_new: Expected; G_new: Expected })[][];
    inverses: {
      damping_A: number;
      damping_G: number;
      A_inv: Expected;
      G_inv: Expected;
    }[];
    natural_gradient: Arrays;
    inner_product: number;
    norm_constraint_cases: Record<string, {
      norm_constraint: number;
      coeff: number;
      params_after_one: Arrays;
      params_after_two_same_gradient: Arrays;
      momentum_adam_variant: {
        coeff_second_step: number;
        params_after_two_same_gradient: Arrays;
      };
    }>;
  };
}

async function runTf(
  it: TfCase,
  comparison: Comparison,
  engine: Engine,
): Promise<void> {
  const { inputs, expected } = it;
  const { hparams, batches } = inputs;
  compareRelative(comparison);
  for (const limits of Object.values(expected.norm_constraint_cases)) {
    for (const momentumKind of ["regular", "adam"] as const) {
      const { layers, learner, gather, update } = compileCase(inputs, {
        form: "inverse",
        damping: hparams.damping,
        average: { decay: hparams.cov_ema_decay },
        trustRegion: {
          kind: "norm_constraint",
          limit: limits.norm_constraint,
        },
        momentum: hparams.momentum,
        momentumKind,
        untilInverse: "wait",
        invertEvery: batches.length - 1,
      }, engine);
      const places = placesOf(inputs);
      const name =
        `${it.name}, norm constraint ${limits.norm_constraint}, ${momentumKind}`;
      await comparison.check(name, () => {
        const gradients = gather((made, k) => {
          const { slots } = learner.read();
          layers.forEach(({ kernel }, i) => {
            const scale = 1 / places[i];
            const input = `input/${kernel}`, output = `output/${kernel}`;
            compareScaled(comparison, kernel, {
              actual: {
                A_new: [made.factors[input], scale],
                G_new: [made.factors[output], 1],
                A: [slots[input].data, scale],
                G: [slots[output].data, 1],
              },
              expected: expected.factors_per_update[k][i],
            });
          });
        });
        comparison.arrays("gradient", gradients, expected.grads_batch2);
        const { slots } = learner.read();
        layers.forEach(({ kernel }, i) => {
          const of = (name: string) =>
            slots[`${name}/${kernel}`].data as Float32Array;
          const damping = factoredDamping({
            input: of("input"),
            output: of("output"),
          }, hparams.damping);
          const T = places[i];
          compareScaled(comparison, kernel, {
            actual: {
              damping_A: [damping.input, 1 / T],
              damping_G: [damping.output, 1],
              A_inv: [of("inverse_input"), T],
              G_inv: [of("inverse_output"), 1],
            },
            expected: expected.inverses[i],
          });
        });
        const made = update(gradients);
        comparison.arrays(
          "natural gradient",
          made.natural,
          expected.natural_gradient,
        );
        comparison.numbers(
          "inner product",
          made.quadratic[0],
          expected.inner_product,
        );
        comparison.numbers("coefficient", made.coefficient[0], limits.coeff);
        comparison.arrays(
          "parameter",
          learner.read().params,
          limits.params_after_one,
        );
        const second = update(gradients);
        const adam = limits.momentum_adam_variant;
        if (momentumKind === "adam") {
          comparison.numbers(
            "second coefficient",
            second.coefficient[0],
            adam.coeff_second_step,
          );
        }
        comparison.arrays(
          "parameter after the second step",
          learner.read().params,
          momentumKind === "adam"
            ? adam.params_after_two_same_gradient
            : limits.params_after_two_same_gradient,
        );
      });
      learner.close();
    }
  }
}

interface ScheduleCase {
  inputs: { num_cold_updates: number; invert_every: number };
  observed_original_trace: Trace[];
  intended_trace: Trace[];
}

interface Trace {
  call: number;
  cold: number;
  cov_update: number;
  inv_update: number;
}

async function runSchedule(
  it: ScheduleCase,
  comparison: Comparison,
): Promise<void> {
  const traces = {
    original: it.observed_original_trace,
    documented: it.intended_trace,
  } as const;
  for (const [counting, trace] of Object.entries(traces)) {
    const name = `${it.inputs.num_cold_updates} cold updates, ${counting}`;
    await comparison.check(name, () => {
      for (const { call, ...wanted } of trace) {
        const { cold, covariance, inverse } = kfacSchedule(call, {
          coldUpdates: it.inputs.num_cold_updates,
          invertEvery: it.inputs.invert_every,
          coldCounting: counting as keyof typeof traces,
          untilInverse: "wait",
        });
        comparison.that(
          `call ${call}`,
          cold === (wanted.cold === 1) &&
            covariance === (wanted.cov_update === 1) &&
            inverse === (wanted.inv_update === 1),
        );
      }
    });
  }
}

/** tensorflow/kfac, and the cold start of jrobine/actor-critic. */
export const runner: FixtureRunner = async (fixture, comparison, engine) => {
  for (const it of fixture.cases as TfCase[]) {
    await runTf(it, comparison, engine);
  }
  for (const it of fixture.cold_start_schedule as ScheduleCase[]) {
    await runSchedule(it, comparison);
  }
};
