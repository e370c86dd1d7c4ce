/** Networks, parameters and variables of baselines as ours. */
import type { TensorData } from "@bellman/compute";
import type { Comparison } from "./comparison.ts";

/** Relative difference that updates of baselines may have. */
export const TOLERANCE = 1e-5;

/** Numbers of the original's variables by name. */
export type Arrays = Record<string, number[] | number[][]>;

/** Network of the original: kind, sizes of inputs, layers and actions. */
export interface Arch {
  kind: string;
  no: number;
  nh: number;
  na: number;
  nlayers: number;
}

/** Options of our models with that network. */
export function modelOptions({ kind, no, nh, na, nlayers }: Arch) {
  return {
    observationSpace: {
      type: "box",
      shape: [no],
      low: -Infinity,
      high: Infinity,
      dtype: "float32",
    },
    actionSpace: { type: "discrete", n: na },
    network: kind as "mlp" | "lstm" | "lnlstm",
    networkOptions: {
      hiddenSizes: new Array(nlayers ?? 0).fill(nh),
      lstmSize: nh,
    },
  } as const;
}

/** Our path of a variable, of one trunk for all heads or of one for each. */
export function pathOf(name: string, separate = false): string {
  const head = name.match(/^(pi|vf|q)\/(w|b)$/);
  if (head) return `${head[1]}/head/${head[2] === "w" ? "kernel" : "bias"}`;
  const [tower, ...rest] = name.split("/");
  const inside = rest.join("/")
    .replace(/^lnlstm\//, "lstm/")
    .replace(/^mlp_fc(\d+)\/w$/, "dense$1/kernel")
    .replace(/^mlp_fc(\d+)\/b$/, "dense$1/bias");
  return `${separate ? tower : "shared"}/${inside}`;
}

/** Compares numbers by our paths with those of the original's variables. */
export function compareParams(
  comparison: Comparison,
  what: string,
  { actual, expected, path = pathOf }: {
    actual: Readonly<Record<string, TensorData>>;
    expected: Arrays;
    path?: (name: string) => string;
  },
): void {
  for (const [name, values] of Object.entries(expected)) {
    const numbers = actual[path(name)];
    comparison.that(`${what} ${name} exists`, numbers !== undefined);
    if (numbers === undefined) continue;
    comparison.numbers(`${what} ${name}`, numbers, {
      expected: values,
      tolerance: TOLERANCE,
    });
  }
}

/** Numbers of saved arrays, without their shapes. */
export function dataOf(
  arrays: Readonly<Record<string, { data: TensorData }>>,
): Record<string, TensorData> {
  return Object.fromEntries(
    Object.entries(arrays).map(([path, { data }]) => [path, data]),
  );
}
