import type { Graph, Value } from "../graph/graph.ts";
import type { Loop } from "./loop.ts";
import type { Stage, Staged } from "./stages.ts";

/** A vector of a state, with the tensors that it consists of. */
export interface Unit {
  readonly name: string;
  readonly members: readonly string[];
}

/**
 * Finds the vectors of a state that may be written over the old ones: those
 * that a loop makes number by number, after all else has read the old ones.
 * Half of the memory that an optimizer goes through is enough then.
 */
export function findInPlace(
  graph: Graph,
  { staged, units }: { staged: Staged; units: readonly Unit[] },
): Set<string> {
  const inputs = new Map(graph.inputs.map(({ name, value }) => [name, value]));
  const outputs = new Map(
    graph.outputs.map(({ name, value }) => [name, value]),
  );
  const fit = units.filter(({ name, members }) => {
    const made = outputs.get(name);
    if (made === undefined) return false;
    const at = staged.stages.findIndex((stage) =>
      stage.kind === "loop" && stage.loop.outputs.includes(made)
    );
    if (at === -1) return false;
    const whole = inputs.get(name);
    const parts = members.flatMap((member) => inputs.get(member) ?? []);
    return staged.stages.every((stage, i) => {
      if (i < at) return true;
      if (stage.kind === "loop") {
        return !readsLate(stage.loop, { whole, parts, isMaker: i === at });
      }
      return !readBy(stage).some((value) =>
        value === whole || parts.includes(value)
      );
    });
  });
  return new Set(fit.map(({ name }) => name));
}

/** Returns the values that a stage other than a loop reads. */
function readBy(stage: Exclude<Stage, { kind: "loop" }>): readonly Value[] {
  return stage.kind === "graph"
    ? stage.graph.inputs.map(({ value }) => value)
    : stage.nodes.flatMap(({ inputs }) => inputs);
}

/** True where a loop reads numbers that may have been written over by then. */
function readsLate(
  { inputs, scalars }: Loop,
  { whole, parts, isMaker }: {
    whole: Value | undefined;
    parts: readonly Value[];
    /** The loop that writes: it reads each number before it writes it. */
    isMaker: boolean;
  },
): boolean {
  const isOld = (value: Value) => value === whole || parts.includes(value);
  if (!isMaker) return inputs.some(isOld) || scalars.some(isOld);
  return inputs.some((value) => value !== whole && parts.includes(value));
}
