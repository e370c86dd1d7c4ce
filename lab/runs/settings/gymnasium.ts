import type { PythonWrapper } from "@bellman/envs/gymnasium";
import { UsageError } from "../program/errors.ts";
import { pythonModule } from "./modules.ts";
import type { RunConfig } from "./run_config.ts";

/** Prefix of the ids of environments that Python's Gymnasium hosts. */
export const GYMNASIUM = "gym:";

/** Prefix of the ids of games that Python's PettingZoo hosts. */
export const PETTING_ZOO = "pz:";

/** Environments of Gymnasium that Bellman does not have, without versions. */
const NAMES: ReadonlySet<string> = new Set([
  "BipedalWalker",
  "BipedalWalkerHardcore",
  "Blackjack",
  "CarRacing",
  "CliffWalking",
  "FrozenLake",
  "FrozenLake8x8",
  "LunarLander",
  "LunarLanderContinuous",
  "Taxi",
]);

/** Adds the prefix to an id that is known to be one of Gymnasium's own. */
export function gymnasiumId(id: string): string | undefined {
  return NAMES.has(id.replace(/-v\d*$/, "")) ? GYMNASIUM + id : undefined;
}

/** Returns true for the id of an environment of Gymnasium. */
export function isGymnasium(id: string): boolean {
  return id.startsWith(GYMNASIUM);
}

/** Returns true for the id of an environment that Python hosts, or of a game. */
export function isPython(id: string): boolean {
  return isGymnasium(id) || id.startsWith(PETTING_ZOO);
}

/** Makes the file path in a wrapper's name absolute, if it has one. */
function absolute(name: string): string {
  const [, file, rest] = /^(.+\.py)(:[^:]+)$/.exec(name) ?? [];
  return file === undefined ? name : pythonModule(file) + rest;
}

/**
 * Reads the Python wrappers of a configuration without importing them. Files of
 * rl-baselines3-zoo use the same form.
 *
 * @throws {UsageError} If an entry is not a name with arguments, or the environment is
 * not Python's.
 */
export function wrappersOf(
  { env, wrappers }: Pick<RunConfig, "env" | "wrappers">,
): PythonWrapper[] {
  if (wrappers.length > 0 && !isGymnasium(env)) {
    throw new UsageError(
      `Cannot use wrappers with ${env}: they are Python's, for environments of gym:, such as ${
        gymnasiumId(env) ?? `${GYMNASIUM}CartPole-v1`
      }; a module of envModules may wrap another`,
    );
  }
  return wrappers.map((wrapper): PythonWrapper => {
    if (typeof wrapper === "string") return { name: absolute(wrapper) };
    const [[name, kwargs] = ["", null], ...others] = Object.entries(wrapper);
    // In YAML a mapping without entries is null.
    const isMapping = typeof kwargs === "object" && !Array.isArray(kwargs);
    if (others.length === 0 && isMapping && name !== "") {
      return { name: absolute(name), kwargs: { ...kwargs } };
    }
    throw new UsageError(
      `Cannot use the wrapper ${
        JSON.stringify(wrapper)
      }: expected module:Class, or one with its arguments, as {'gymnasium.wrappers:TimeAwareObservation': {flatten: true}}`,
    );
  });
}

/** Returns the wrappers of a configuration with absolute paths. */
export function absoluteWrappers(
  config: Pick<RunConfig, "env" | "wrappers">,
): RunConfig["wrappers"] {
  return wrappersOf(config)
    .map(({ name, kwargs }) => kwargs ? { [name]: kwargs } : name);
}
