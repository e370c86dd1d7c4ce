/**
 * The table of kernels and lowerings in the package's README, made from the
 * code: `deno task kernels` writes it.
 */
import { makeGraph } from "../../compute/graph/graph.ts";
import { lowerGraph } from "../../compute/lowering/lower.ts";
import { Recorder } from "../../compute/tracing/tracing_backend.ts";
import type { Kernel } from "../../compute/kernels/kernel.ts";
import { sampleOf } from "./kernel_samples.ts";
import { FAMILIES } from "../../compute/kernels/mod.ts";

const BEGIN = "<!-- kernels -->";
const END = "<!-- /kernels -->";

/** ONNX operators that a kernel becomes, in order, each once. */
function operatorsOf(name: string, kernel: Kernel): string[] {
  if ("constant" in kernel) return ["a constant"];
  const count = kernel.inputs === "list" ? 2 : kernel.inputs.length;
  const { inputs, attributes } = sampleOf(name, count);
  const values = inputs.map((type) => ({ ...type }));
  const recorder = new Recorder();
  const made = recorder.record(name, values, attributes);
  const { nodes } = lowerGraph(makeGraph({
    inputs: values.map((value, i) => ({ name: `input${i}`, value })),
    nodes: recorder.nodes,
    outputs: made.map((value, i) => ({ name: `output${i}`, value })),
  }));
  return [...new Set(nodes.map(({ op }) => op))];
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
