import type { WorkerService } from "@bellman/envs/ray";
import {
  decodeQuestion,
  encodeTold,
  PART,
  type Part,
  PARTS,
  SYNC,
} from "./_exchange.ts";
import type { SharedParameters } from "./parameter_server.ts";

/**
 * Makes the function that answers requests of `RemoteServer`s in other processes. Steps
 * that a lost worker had claimed are given back.
 *
 * @param shared Shared parameters.
 * @returns A function that connects the worker of a number.
 */
export function serveParameters(
  shared: SharedParameters,
): (worker: number) => WorkerService {
  // Of all workers, as what it holds is sent at once.
  const memory: Partial<Record<Part, Float32Array>> = {};
  return (worker) => {
    const server = shared.connect(worker), { size } = server;
    let held = 0;
    const pull = (part: Part) => {
      const into = memory[part] ??= new Float32Array(size);
      return server.pull(into, part) ? into : undefined;
    };
    return {
      answer(question) {
        const asked = decodeQuestion(question, size);
        const { steps, sync, gradient, rate, statistics } = asked;
        server.step(steps);
        held -= steps;
        if (sync === SYNC.before) server.syncTarget();
        if (gradient) server.push(gradient, rate);
        if (sync === SYNC.after) server.syncTarget();
        if (statistics.length > 0) server.report(statistics);
        const granted = shared.grant(asked.claim);
        held += granted;
        const goesOn = granted > 0 || asked.pulls;
        const sent = PARTS.filter((it) => goesOn && asked.parts & PART[it]);
        return encodeTold({
          steps: server.steps,
          targets: shared.targets,
          granted,
          arrays: Object.fromEntries(sent.map((it) => [it, pull(it)])),
        });
      },
      close() {
        shared.giveBack(held);
        held = 0;
      },
    };
  };
}
