import {
  type Network,
  networkFor,
  networkNames,
  observationEncoder,
  type PartNetworks,
} from "@bellman/policies";
import type { Space } from "@bellman/types";
import type { AgentContext, Meta } from "./algorithm.ts";
import { defaultsOf } from "./schema.ts";

/** Reasons why settings have no effect, by setting. */
export type UnusedSettings = Readonly<Record<string, string>>;

/** Spaces of an environment, as far as they are known. */
export type KnownSpaces = Partial<
  Pick<AgentContext, "observationSpace" | "actionSpace">
>;

/**
 * Lists settings that differ from their defaults and have no effect given the others, a
 * line each.
 *
 * @param meta The algorithm's.
 * @param config All of its settings.
 * @param spaces Spaces of the environment, if known.
 *
 * @example
 * ```ts
 * import { unusedLines } from "@bellman/agent";
 * import { defaultSacConfig, sac } from "@bellman/sac";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(
 *   unusedLines(sac.meta, { ...defaultSacConfig, priorityAlpha: 0.1 }),
 *   ["priorityAlpha does nothing here: uniform replay has no priorities"],
 * );
 * ```
 */
export function unusedLines<Config extends object>(
  meta: Pick<Meta<Config>, "schema" | "unusedSettings">,
  config: Config,
  spaces: KnownSpaces = {},
): string[] {
  const all = config as Readonly<Record<string, unknown>>;
  const defaults = defaultsOf<Record<string, unknown>>(meta.schema);
  return Object.entries(meta.unusedSettings?.(config, spaces) ?? {})
    .filter(([key]) =>
      all[key] !== undefined && all[key] !== null &&
      JSON.stringify(all[key]) !== JSON.stringify(defaults[key])
    )
    .map(([key, why]) => `${key} does nothing here: ${why}`);
}

/** Settings of {@link unusedLayers}. */
export interface UnusedLayersSettings {
  /** Network before the heads. */
  readonly network: string | Network;
  /** Units of each hidden layer. */
  readonly hiddenSizes: readonly number[];
  /** Networks of a dict observation's parts. */
  readonly partNetworks: PartNetworks;
}

/** Options of {@link unusedLayers}. */
export interface UnusedLayersOptions extends KnownSpaces {
  /**
   * True if hidden layers follow any network, as in off-policy algorithms.
   *
   * @default false
   */
  readonly endsInLayers?: boolean;
}

/**
 * Lists layer settings that a network does not use, with reasons.
 *
 * @param settings Network and its settings.
 * @param options Observation space, and whether layers follow the network.
 * @returns Reasons by setting, for the `idle` of an algorithm.
 *
 * @example
 * ```ts
 * import { unusedLayers } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * const settings = { hiddenSizes: [64], partNetworks: {} };
 * assertEquals(
 *   unusedLayers({ ...settings, network: "lstm" }).hiddenSizes,
 *   "the network lstm has no other layers",
 * );
 * assertEquals(
 *   unusedLayers({ ...settings, network: "mlp" }).lstmSize,
 *   "the network mlp has no memory",
 * );
 * ```
 */
export function unusedLayers(
  { network, hiddenSizes, partNetworks }: UnusedLayersSettings,
  { observationSpace, endsInLayers = false }: UnusedLayersOptions = {},
): UnusedSettings {
  const name = network === "auto" && observationSpace !== undefined
    ? automatic(observationSpace, partNetworks)
    : network;
  if (typeof name === "string" && !networkNames.some((it) => it === name)) {
    return {}; // A registered one may take any of them.
  }
  const isNamed = typeof name === "string";
  const what = isNamed ? `the network ${name}` : "a network that is given";
  const isAlone = name === "lstm" || name === "lnlstm";
  const own = `${what} has ${isAlone ? "no other" : "its own"} layers`;
  const hasLayers = endsInLayers || name === "auto" || name === "mlp" ||
    name === "parts";
  return {
    ...(!hasLayers && { hiddenSizes: own, activation: own }),
    ...(hasLayers && hiddenSizes.length === 0 && name !== "parts" &&
      { activation: "there are no hidden layers" }),
    ...(!(isNamed && name.includes("lstm")) && {
      lstmSize: isNamed ? `${what} has no memory` : own,
    }),
    ...(isNamed && !/auto|parts|c(nn|onv)/.test(name) &&
      { convolutionExamples: `${what} has no convolutions` }),
    ...(name !== "auto" && name !== "parts" &&
      { partNetworks: `${what} takes observations as a whole` }),
  };
}

/** Returns the network that `auto` is. */
function automatic(space: Space, partNetworks: PartNetworks): string {
  const { observationShape, observationParts: inputParts } = observationEncoder(
    space,
  );
  return networkFor(observationShape, { inputParts, partNetworks });
}

/**
 * Lists optimizer settings that the named optimizer does not have.
 *
 * @param settings Name of the optimizer, as `createOptimizer` takes it.
 * @returns Reasons by setting, for the `idle` of an algorithm.
 *
 * @example
 * ```ts
 * import { unusedOptimizer } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(unusedOptimizer({ optimizer: "adam" }), {
 *   rmspropDecay: "the optimizer adam is not RMSProp",
 * });
 * ```
 */
export function unusedOptimizer(
  { optimizer }: { readonly optimizer: string },
): UnusedSettings {
  const what = `the optimizer ${optimizer}`;
  return {
    ...(!optimizer.startsWith("rmsprop") &&
      { rmspropDecay: `${what} is not RMSProp` }),
    ...(optimizer === "sgd" &&
      { rmspropEpsilon: `${what} divides by nothing` }),
  };
}

/**
 * Lists settings of Gaussian exploration that have no effect given the action space or
 * other settings.
 *
 * @param settings True for state-dependent noise (gSDE).
 * @param spaces Action space, if known.
 * @returns Reasons by setting, for the `idle` of an algorithm.
 *
 * @example
 * ```ts
 * import { unusedNoise } from "@bellman/agent";
 * import { assert } from "@std/assert";
 *
 * const actionSpace = { type: "discrete", n: 2 } as const;
 * assert("initialLogStd" in unusedNoise({ useSde: false }, { actionSpace }));
 * ```
 */
export function unusedNoise(
  { useSde }: { readonly useSde: boolean },
  { actionSpace }: KnownSpaces = {},
): UnusedSettings {
  const isBox = actionSpace === undefined || actionSpace.type === "box";
  const noSde = "useSde is false";
  return {
    ...(!isBox &&
      { initialLogStd: "only box actions have a log standard deviation" }),
    ...(!useSde && { sdeSampleFrequency: noSde, sdeInitialLogStd: noSde }),
  };
}
