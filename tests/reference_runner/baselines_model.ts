/** Networks, parameters and variables of baselines as ours. */
import type { Params } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";

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

/** Parameters of our models from the original's variables. */
export function paramsOf(
  arrays: Arrays,
  path = (name: string): string => pathOf(name),
): Params {
  return Object.fromEntries(
    Object.entries(arrays).map(([name, values]) => [
      path(name),
      tf.tensor(values, undefined, "float32"),
    ]),
  );
}
