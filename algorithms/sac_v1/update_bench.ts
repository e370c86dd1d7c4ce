/**
 * Speed of the compiled update: observations of 17 numbers, actions of 6, networks
 * 256-256, 256 rows, one thread. Run with `deno bench`.
 */
import { qFunction, stochasticPolicy, valueFunction } from "@bellman/policies";
import {
  ACTION,
  learner,
  matrix,
  random,
  spaces,
  transition,
} from "../sac/testdata/compiled_updates.ts";
import { initSacV1State, sacV1Update } from "./update.ts";

const functions = { qf: qFunction(spaces), vf: valueFunction(spaces) };
const gaussian = { ...functions, policy: stochasticPolicy(spaces) };
const mixture = {
  ...functions,
  policy: stochasticPolicy({ ...spaces, distribution: "mixture" }),
};

Deno.bench(
  "update, Gaussian",
  learner(
    sacV1Update(gaussian),
    initSacV1State(gaussian, random),
    { batch: transition, noises: { noise: matrix(ACTION) } },
  ),
);
Deno.bench(
  "update, mixture of 4",
  learner(
    sacV1Update(mixture),
    initSacV1State(mixture, random),
    { batch: transition, noises: { noise: matrix(ACTION + 1) } },
  ),
);
