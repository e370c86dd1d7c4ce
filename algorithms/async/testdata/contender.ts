/** A thread that pushes gradients to parameters that others also push to. */
import {
  type ParameterMemory,
  SharedParameters,
  type SharedParametersOptions,
} from "../parameter_server.ts";

/** Work of a contender. */
export interface Contention {
  readonly memory: ParameterMemory;
  readonly options: SharedParametersOptions;
  readonly worker: number;
  readonly pushes: number;
  /** Lock of all pushes; none for updates without. */
  readonly lock?: Int32Array;
  /** Parameters to learn; a gradient of 1 without. */
  readonly goal?: Float32Array;
}

const scope = self as unknown as {
  onmessage: (event: MessageEvent<Contention>) => void;
  postMessage(message: unknown): void;
};

scope.onmessage = ({ data }) => {
  const { memory, options, worker, pushes, lock, goal } = data;
  const server = new SharedParameters(memory, options).connect(
    worker,
    lock && ((change) => {
      while (Atomics.compareExchange(lock, 0, 0, 1) !== 0);
      change();
      Atomics.store(lock, 0, 0);
    }),
  );
  const params = new Float32Array(server.size);
  const gradient = new Float32Array(server.size).fill(1);
  let least = Infinity, most = -Infinity;
  for (let i = 0; i < pushes; i++) {
    server.pull(params, "params");
    for (let k = 0; goal && k < params.length; k++) {
      gradient[k] = params[k] - goal[k];
      least = Math.min(least, params[k]);
      most = Math.max(most, params[k]);
    }
    server.step();
    server.push(gradient, goal ? 0.01 * (1 - i / pushes) : 1);
  }
  scope.postMessage({ least, most });
};
