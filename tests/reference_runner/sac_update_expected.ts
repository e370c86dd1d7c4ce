import type { TensorData } from "@bellman/compute";
import { type Comparison, type Expected, flat } from "./comparison.ts";
import { compareNetwork } from "./sac_networks.ts";
import type { After, Networks } from "./sac_update_case.ts";

const TOLERANCE = 1e-5;

/** Numbers by name, in nested records. */
type Numbers = { readonly [name: string]: TensorData | Numbers };

/** Compares numbers by the fixture's names, in records as there. */
export function compareNumbers(
  comparison: Comparison,
  numbers: Numbers,
  expected: Record<string, unknown>,
): void {
  for (const [name, values] of Object.entries(numbers)) {
    if (ArrayBuffer.isView(values)) {
      comparison.numbers(name, values as TensorData, {
        expected: expected[name] as Expected,
        tolerance: TOLERANCE,
      });
    } else {
      const inside = expected[name] as typeof expected;
      compareNumbers(comparison, values as Numbers, inside);
    }
  }
}

/** Mean and standard deviation of some numbers of a fixture. */
function momentsOf(expected: Expected): [mean: number, deviation: number] {
  const numbers = flat(expected);
  const mean = numbers.reduce((sum, it) => sum + it, 0) / numbers.length;
  const square = numbers.reduce((sum, it) => sum + (it - mean) ** 2, 0);
  return [mean, Math.sqrt(square / numbers.length)];
}

/** Computes the statistics of the update, by the names of the original. */
export function expectedStats(expected: After): Record<string, number> {
  const [q1, q2] = [flat(expected.q1), flat(expected.q2)];
  const differences = q1.map((it, i) => Math.abs(it - q2[i]));
  const [[a, b], [c, d], [e, f]] = [q1, q2, expected.v].map(momentsOf);
  return {
    "qf1-avg": a,
    "qf1-std": b,
    "qf2-avg": c,
    "qf2-std": d,
    "mean-qf-diff": momentsOf(differences)[0],
    "vf-avg": e,
    "vf-std": f,
    "mean-sq-bellman-error1": Number(expected.td_loss1),
    "mean-sq-bellman-error2": Number(expected.td_loss2),
    vf_loss: Number(expected.vf_loss),
    policy_loss: Number(expected.policy_loss),
    policy_kl_loss: Number(expected.policy_kl_loss),
    policy_reg_loss: Number(expected.policy_reg_loss),
    entropy: -momentsOf(expected.log_pi)[0],
  };
}

type Arrays = Parameters<typeof compareNetwork>[2]["actual"];

/** Parameters, or gradients, of those networks that the fixture has. */
export function compareNetworks(
  comparison: Comparison,
  what: string,
  { actual, expected }: {
    actual: Record<"policy" | "critics" | "value", Arrays> & {
      targets?: Arrays;
    };
    expected: Partial<Networks>;
  },
): void {
  const places = {
    policy: [actual.policy, ""],
    qf1: [actual.critics, "qf1/"],
    qf2: [actual.critics, "qf2/"],
    vf: [actual.value, ""],
    target_vf: [actual.targets ?? {}, ""],
  } as const;
  for (const name of Object.keys(expected) as (keyof Networks)[]) {
    const [arrays, prefix] = places[name];
    compareNetwork(comparison, `${what} ${name}`, {
      actual: arrays,
      prefix,
      expected: expected[name]!,
      tolerance: TOLERANCE,
    });
  }
}
