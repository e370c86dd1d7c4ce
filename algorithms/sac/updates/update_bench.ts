/**
 * Speed of the compiled updates: observations of 17 numbers, actions of 6,
 * networks 256-256, 256 rows, one thread. Run with `deno bench`.
 */
import {
  discreteQFunction,
  qFunction,
  stochasticPolicy,
} from "@bellman/policies";
import {
  ACTION,
  discreteSpaces,
  learner,
  matrix,
  random,
  rows,
  spaces,
  transition,
} from "../testdata/compiled_updates.ts";
import { discreteSacUpdate } from "./discrete_update.ts";
import { initSacState, sacUpdate } from "./update.ts";

const qf = qFunction(spaces);
const gaussian = { policy: stochasticPolicy(spaces), qf };
const noise = matrix(ACTION), noises = { noise, nextNoise: noise };
const modern = learner(
  sacUpdate(gaussian).learn,
  initSacState(gaussian, random),
  { batch: transition, noises },
);
const prioritized = learner(
  sacUpdate(gaussian).learn,
  initSacState(gaussian, random),
  { batch: { ...transition, weights: rows, discounts: rows }, noises },
);
const choices = {
  policy: stochasticPolicy(discreteSpaces),
  qf: discreteQFunction(discreteSpaces),
};
const discrete = learner(
  discreteSacUpdate(choices).learn,
  initSacState(choices, random),
  { batch: { ...transition, actions: { ...rows, dtype: "int32" } } },
);

Deno.bench("update, learned temperature", modern);
Deno.bench("update, prioritized n-step replay", prioritized);
Deno.bench("update, 6 discrete actions", discrete);
