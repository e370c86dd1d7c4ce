import { RandomStream } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { testForm } from "../sac/testdata/form_tests.ts";
import { type Form, RATES, withNoises } from "../sac/testdata/forms.ts";
import { ACTION_SIZE, continuousBatch } from "../sac/testdata/models.ts";
import { valueModel } from "./testdata/models.ts";
import {
  initSacV1State,
  sacV1Update,
  type SacV1UpdateOptions,
} from "./update.ts";

await tf.setBackend("cpu");

function formOf(
  distribution: "gaussian" | "mixture",
  options: SacV1UpdateOptions,
): Form {
  const model = valueModel(distribution);
  const noiseSize = distribution === "mixture" ? ACTION_SIZE + 1 : ACTION_SIZE;
  return {
    name: `${distribution}, ${JSON.stringify(options)}`,
    state: { ...initSacV1State(model, new RandomStream(1)) },
    hyperparameters: { ...RATES, rewardScale: 2 },
    batch: (seed) => {
      const { nextNoise: _, ...batch } = continuousBatch(seed, { noiseSize });
      return batch;
    },
    update: withNoises(sacV1Update(model, options)),
  };
}

const FORMS: readonly Form[] = [
  formOf("gaussian", {}),
  formOf("gaussian", { reparameterize: false, actionPrior: "normal" }),
  formOf("gaussian", { haarnojaPolicyLoss: true, actionPrior: "normal" }),
  formOf("mixture", { actionPrior: "normal" }),
  formOf("mixture", { haarnojaMixtureGradient: true }),
];

FORMS.forEach(testForm);
