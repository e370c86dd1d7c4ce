/** A worker whose windows are sleep: in a thread or in a process, it pulls and pushes. */
import {
  serveProcess,
  serveWorker,
  type WorkerProgram,
} from "@bellman/envs/workers";
import {
  type ParameterMemory,
  type ParameterServer,
  SharedParameters,
  type SharedParametersOptions,
} from "../parameter_server.ts";
import { RemoteServer } from "../remote_server.ts";

/** What it gets: in a thread the memory, too. */
export interface Sleeper {
  readonly worker: number;
  readonly size: number;
  readonly windowMs: number;
  readonly options: SharedParametersOptions;
  readonly memory?: ParameterMemory;
}

function programOf(
  { size, windowMs }: Sleeper,
  server: ParameterServer,
): WorkerProgram {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const params = new Float32Array(size);
  const gradient = new Float32Array(size).fill(1e-3);
  return {
    run({ type }) {
      while (type === "step" && server.claim()) {
        server.pull(params, "params");
        Atomics.wait(cell, 0, 0, windowMs);
        server.step();
        server.push(gradient, 1e-4);
      }
      return {};
    },
    close() {},
  };
}

export function main(): void {
  serveWorker<Sleeper>((data, guard) => {
    const shared = new SharedParameters(data.memory!, data.options);
    return programOf(data, shared.connect(data.worker, guard));
  });
}

if (import.meta.main) {
  serveProcess<Sleeper>((data, ask) => {
    const { size } = data;
    return programOf(data, new RemoteServer({ size, ask, claim: 1 }));
  });
}
