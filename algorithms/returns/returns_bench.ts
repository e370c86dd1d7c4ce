import {
  generalizedAdvantageEstimation,
  nStepReturns,
  retrace,
  vtrace,
} from "./returns.ts";

const [numEnvs, numSteps] = [16, 128];
const size = numEnvs * numSteps;
const numbers = (scale: number) =>
  Float32Array.from({ length: size }, (_, i) => scale * Math.sin(i));
const trajectory = {
  rewards: numbers(1),
  values: numbers(5),
  qValues: numbers(4),
  ratios: numbers(1).map((it) => 1 + it),
  finalValues: numbers(3),
  terminated: Uint8Array.from({ length: size }, (_, i) => +(i % 100 === 99)),
  truncated: Uint8Array.from({ length: size }, (_, i) => +(i % 70 === 69)),
  lastValues: new Float32Array(numEnvs).fill(1),
};
const one = new Float32Array(size);
const two = new Float32Array(size);
const layout = { numEnvs, numSteps };
const group = `${numEnvs} environments, ${numSteps} steps`;

Deno.bench("n-step returns", { group, baseline: true }, () => {
  nStepReturns(trajectory, { ...layout, out: one });
});

const advantages = { advantages: one, returns: two };
Deno.bench("generalized advantage estimation", { group }, () => {
  generalizedAdvantageEstimation(trajectory, { ...layout, out: advantages });
});

const result = { targets: one, advantages: two };
Deno.bench("V-trace", { group }, () => {
  vtrace(trajectory, { ...layout, out: result });
});

Deno.bench("Retrace", { group }, () => {
  retrace(trajectory, { ...layout, out: one });
});
