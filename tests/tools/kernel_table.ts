/**
 * The table of kernels and lowerings in the package's README, made from the
 * code: `deno task kernels` writes it.
 */
import * as tf from "@tensorflow/tfjs";
import { CONSTANT } from "../../compute/graph/graph.ts";
import type { Kernel } from "../../compute/kernels/kernel.ts";
import { FAMILIES } from "../../compute/kernels/mod.ts";
import { lowerGraph } from "../../compute/lowering/lower.ts";
import { trace } from "../../compute/tracing/trace.ts";
import { sampleOf } from "./kernel_samples.ts";

const BEGIN = "<!-- kernels -->";
const END = "<!-- /kernels -->";

/** ONNX operators that a kernel becomes, in order, each once. */
function operatorsOf(name: string, kernel: Kernel): string[] {
  const count = kernel.inputs === "list" ? 2 : kernel.inputs.length;
  const { inputs, attributes } = sampleOf(name, count);
  const names = kernel.inputs === "list" ? Object.keys(inputs) : kernel.inputs;
  const types = inputs.map((type, i) => [names[i], type]);
  const graph = trace((given) => {
    const tensors = kernel.inputs === "list" ? Object.values(given) : given;
    const made = tf.engine().runKernel<tf.Tensor | tf.Tensor[]>(
      name,
      tensors as unknown as tf.NamedTensorMap,
      attributes as tf.NamedAttrMap,
    );
    return { ...[made].flat() };
  }, Object.fromEntries(types));
  if (graph.nodes.every(({ op }) => op === CONSTANT)) return ["a constant"];
  return [...new Set(lowerGraph(graph).nodes.map(({ op }) => op))];
}

/** The table in Markdown, a row for each kernel. */
export function kernelTable(): string {
  const lines = ["| kernel | ONNX operators |", "| --- | --- |"];
  for (const [family, kernels] of Object.entries(FAMILIES)) {
    lines.push(`| **${family}** | |`);
    for (const [name, kernel] of Object.entries(kernels)) {
      lines.push(`| \`${name}\` | ${operatorsOf(name, kernel).join(", ")} |`);
    }
  }
  return lines.join("\n");
}

/** A text with the table between its marks. */
export function withTable(text: string): string {
  const begin = text.indexOf(BEGIN), end = text.indexOf(END);
  if (begin < 0 || end < begin) {
    throw new Error(`Cannot find ${BEGIN} and ${END} in the README`);
  }
  return `${text.slice(0, begin + BEGIN.length)}\n\n${kernelTable()}\n\n${
    text.slice(end)
  }`;
}

if (import.meta.main) {
  const path = new URL("../../compute/README.md", import.meta.url);
  await Deno.writeTextFile(path, withTable(await Deno.readTextFile(path)));
}
