import type { EnvKwargs } from "../registry.ts";

/** A wrapper of Python around each environment. */
export interface PythonWrapper {
  /** Module and class, such as `gymnasium.wrappers:FlattenObservation`. */
  name: string;
  /**
   * What its constructor gets beside the environment; values of JSON.
   *
   * @default {}
   */
  kwargs?: EnvKwargs;
}

/** How Gymnasium makes an environment, and where. */
export interface GymnasiumOptions {
  /**
   * The Python that has Gymnasium and the environment.
   *
   * @default the variable BELLMAN_PYTHON, or "python3" where that is not set or
   * may not be read
   */
  python?: string;
  /**
   * What `gymnasium.make` gets beside the id; values of JSON. `render_mode` is
   * "rgb_array" unless said otherwise, where a single environment can do that.
   *
   * @default {}
   */
  kwargs?: EnvKwargs;
  /**
   * Python modules to import first, such as those that register environments.
   *
   * @default []
   */
  modules?: readonly string[];
  /**
   * Wrappers of Python around each environment, the innermost first.
   *
   * @default []
   */
  wrappers?: readonly PythonWrapper[];
  /**
   * How long Python may take to start and to make the environments, in
   * milliseconds.
   *
   * @default 120_000
   */
  startTimeoutMs?: number;
  /**
   * How long a reset or a step may take, in milliseconds; a restore may take that
   * long for each action that it plays again.
   *
   * @default 60_000
   */
  stepTimeoutMs?: number;
  /**
   * Whether what the environments print is shown on stderr; errors show the
   * last of it in any case.
   *
   * @default false
   */
  showOutput?: boolean;
}

/** Throws unless a value comes out of JSON as it went in. */
export function checkPlain(value: unknown, name: string): void {
  const isPlain = value === null || typeof value === "string" ||
    typeof value === "boolean" || Number.isFinite(value);
  if (isPlain) return;
  const isRecord = typeof value === "object" &&
    (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype);
  if (!isRecord) {
    throw new TypeError(
      `Cannot give ${name} to Python as it is ${
        typeof value === "object" ? value!.constructor?.name : String(value)
      }: expected a value of JSON`,
    );
  }
  for (const [key, inner] of Object.entries(value)) {
    checkPlain(inner, `${name}.${key}`);
  }
}
