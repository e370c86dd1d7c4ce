import type { Engine, TensorData } from "@bellman/compute";
import type { Comparison, Expected, FixtureRunner } from "./comparison.ts";
import {
  type Arrays,
  compareRelative,
  compareScaled,
  compileCase,
  type Factors,
  type Inputs,
  patchesOf,
  placesOf,
} from "./kfac.ts";

interface AcktrCase {
  name: string;
  inputs: Inputs;
  expected: {
    per_batch: {
      loss: number;
      logits: Expected;
      grads: Arrays;
      factors: Factors[];
    }[];
    conv_patches_batch0: Expected;
    running_factors: Factors[][];
    result: Record<string, {
      natural_gradient: Arrays;
      vFv: number;
      kl_clip: Record<string, {
        clip_kl: number;
        scaling: number;
        updates: Arrays;
        params_after_one_momentum_step: Arrays;
        params_after_second_step_with_same_update: Arrays;
        eta_paper: number;
      }>;
    }>;
  };
}

async function runAcktr(
  it: AcktrCase,
  comparison: Comparison,
  engine: Engine,
): Promise<void> {
  const { inputs, expected } = it;
  const { hparams, batches } = inputs;
  compareRelative(comparison);
  for (const [kind, result] of Object.entries(expected.result)) {
    for (const clip of Object.values(result.kl_clip)) {
      const { layers, learner, gather, update } = compileCase(inputs, {
        form: "eigenbasis",
        damping: hparams.epsilon,
        dampingKind: kind === "plain_damping" ? "plain" : "factored",
        average: {
          kind: "accumulated",
          accumulated: hparams.stats_accum_iter,
          decay: hparams.stats_decay,
        },
        trustRegion: { kind: "norm_constraint", limit: clip.clip_kl },
        momentum: hparams.momentum,
        momentumKind: "averaged",
        untilInverse: "wait",
        invertEvery: batches.length - 1,
      }, engine);
      const places = placesOf(inputs);
      // The original's factors are means of patches, and sums of gradients.
      const compareFactors = (
        name: string,
        expected: Factors[],
        actual: (name: string) => TensorData,
      ) =>
        layers.forEach(({ kernel }, i) => {
          const T = places[i];
          compareScaled(comparison, `${kernel}, ${name}`, {
            actual: {
              A: [actual(`input/${kernel}`), 1 / T ** 2],
              G: [actual(`output/${kernel}`), T ** 2],
            },
            expected: expected[i],
          });
        });
      await comparison.check(`${it.name}, statistics, ${kind}`, () => {
        const patches = patchesOf(inputs);
        if (patches !== undefined) {
          comparison.numbers(
            "patches",
            patches.dataSync(),
            expected.conv_patches_batch0,
          );
        }
      });
      let gradients: Record<string, TensorData> = {};
      await comparison.check(`${it.name}, factors, ${kind}`, () => {
        gradients = gather((made, k) => {
          const wanted = expected.per_batch[k];
          comparison.numbers("loss", made.loss[0], wanted.loss);
          comparison.numbers("logits", made.logits, wanted.logits);
          comparison.arrays("gradient", made.gradients, wanted.grads);
          compareFactors("batch", wanted.factors, (name) => made.factors[name]);
          const { slots } = learner.read();
          compareFactors(
            "running",
            expected.running_factors[k],
            (name) => slots[name].data,
          );
        });
      });
      const name = `${it.name}, ${kind}, KL clip ${clip.clip_kl}`;
      await comparison.check(name, () => {
        const made = update(gradients);
        const coefficient = made.coefficient[0];
        comparison.arrays(
          "natural gradient",
          made.natural,
          result.natural_gradient,
        );
        for (const path in clip.updates) {
          comparison.numbers(
            `update of ${path}`,
            made.natural[path],
            clip.updates[path],
            { scale: coefficient },
          );
        }
        const numbers = {
          vFv: [hparams.lr ** 2 * made.quadratic[0], result.vFv],
          scaling: [coefficient, clip.scaling],
          eta: [hparams.lr * made.ofPaper[0], clip.eta_paper],
        };
        for (const [name, [actual, expected]] of Object.entries(numbers)) {
          comparison.numbers(name, actual, expected);
        }
        comparison.arrays(
          "parameter",
          learner.read().params,
          clip.params_after_one_momentum_step,
        );
        update(gradients);
        comparison.arrays(
          "parameter after the second step",
          learner.read().params,
          clip.params_after_second_step_with_same_update,
        );
      });
      learner.close();
    }
  }
}

/** baselines/acktr/kfac.py: factors, damping, KL clip and momentum. */
export const runner: FixtureRunner = async (fixture, comparison, engine) => {
  for (const it of fixture.cases as AcktrCase[]) {
    await runAcktr(it, comparison, engine);
  }
};
