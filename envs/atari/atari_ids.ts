import type { Env } from "@bellman/types";
import { checkStepLimit, givenOptions, unknownOption } from "../_checks.ts";
import {
  type EnvRegistration,
  register,
  type RegistryOptions,
} from "../registry/registry.ts";
import { TimeLimit } from "../wrappers/time_limit.ts";
import { atari } from "./atari.ts";
import { ATARI_OPTIONS, AtariEnv, type AtariEnvOptions } from "./atari_env.ts";
import { AtariVecEnv } from "./atari_vec_env.ts";
import { ATARI_GAMES, type AtariGame } from "./emulator/roms.ts";
import {
  limitedSpec,
  PREPROCESSING_OPTIONS,
  type PreprocessingPreset,
} from "./preprocessing_options.ts";

/**
 * Throws unless a game made by name has such options.
 *
 * @throws {TypeError} If it does not, with the nearest one.
 */
export function checkOptionNames(
  id: string,
  { preprocessing, ...options }: Readonly<Record<string, unknown>>,
): void {
  const isRaw = preprocessing === undefined;
  const known = isRaw ? ATARI_OPTIONS : PREPROCESSING_OPTIONS;
  const given = Object.keys(givenOptions(options));
  const unknown = given.find((it) => !Object.hasOwn(known, it));
  if (unknown === undefined) return;
  if (isRaw && Object.hasOwn(PREPROCESSING_OPTIONS, unknown)) {
    throw new TypeError(
      `Cannot make ${id} with '${unknown}': that is for preprocessed games, as with preprocessing: 'baselines'`,
    );
  }
  throw unknownOption(id, unknown, ["preprocessing", ...Object.keys(known)]);
}

/** Thirty minutes of play. */
const MAX_FRAMES = 108_000;

type Settings = Pick<AtariEnvOptions, "frameskip" | "repeatActionProbability">;

/** Lists a game's ids in Gymnasium, with the settings in which they differ. */
function settingsOf({ name, isLegacy }: AtariGame): Map<string, Settings> {
  const ids = new Map<string, Settings>([
    [`ALE/${name}-v5`, { frameskip: 4, repeatActionProbability: 0.25 }],
  ]);
  if (!isLegacy) return ids;
  const skips = [["", [2, 5]], ["NoFrameskip", 1]] as const;
  for (const [suffix, frameskip] of skips) {
    for (const [version, chance] of [["v0", 0.25], ["v4", 0]] as const) {
      const settings = { frameskip, repeatActionProbability: chance };
      ids.set(`${name}${suffix}-${version}`, settings);
    }
  }
  return ids;
}

/** Option that asks for preprocessing. */
interface Preprocessing {
  preprocessing?: PreprocessingPreset;
}

/**
 * Makes the raw game, and the preprocessed one where that is asked for;
 * limited.
 */
function forms(
  id: string,
  raw: (kwargs: AtariEnvOptions) => Env,
): Pick<EnvRegistration, "make" | "makeVec"> {
  return {
    make(kwargs, { maxEpisodeSteps = Infinity } = {}) {
      const { preprocessing: preset, ...rest } = kwargs as Preprocessing;
      checkOptionNames(id, kwargs);
      if (preset !== undefined) {
        return atari(id, { maxEpisodeSteps, preset, ...rest });
      }
      checkStepLimit(maxEpisodeSteps);
      const spec = limitedSpec(id, maxEpisodeSteps);
      return new TimeLimit(raw(rest), maxEpisodeSteps, { spec });
    },
    makeVec({ kwargs, ...limits }) {
      const { preprocessing: preset, ...rest } = kwargs as Preprocessing;
      if (preset === undefined) return undefined;
      checkOptionNames(id, kwargs);
      return new AtariVecEnv(id, { ...limits, preset, ...rest });
    },
  };
}

/**
 * Makes the Atari games known by the ids that Gymnasium has with ale-py 0.12.1:
 * `ALE/Pong-v5`, and for the games of old `Pong-v0`, `Pong-v4`,
 * `PongNoFrameskip-v0` and `PongNoFrameskip-v4`. Importing this module does so in
 * the default registry; the library is opened when an environment is made.
 *
 * With `preprocessing` among the options, the name of a preset, the game is
 * {@linkcode atari}'s, and many environments are an {@linkcode AtariVecEnv}:
 * `makeVec("ALE/Pong-v5", { numEnvs: 8, kwargs: { preprocessing: "baselines" }
 * })`. The other options are those of {@linkcode PreprocessingOptions} then.
 *
 * @param options Registry that they are kept in.
 * @example
 * ```ts
 * import { type EnvRegistry, registeredIds } from "@bellman/envs";
 * import { registerAtari } from "@bellman/envs/atari";
 * import { assert } from "@std/assert";
 *
 * const registry: EnvRegistry = new Map();
 * registerAtari({ registry });
 * assert(registeredIds({ registry }).includes("ALE/MsPacman-v5"));
 * ```
 */
export function registerAtari(options: RegistryOptions = {}): void {
  for (const game of ATARI_GAMES.values()) {
    for (const [id, settings] of settingsOf(game)) {
      const defaults = { ...settings, maxNumFramesPerEpisode: MAX_FRAMES };
      const single = (kwargs: AtariEnvOptions) =>
        new AtariEnv(game.id, { ...defaults, ...givenOptions(kwargs) });
      register({ id, limitsItself: true, ...forms(id, single) }, options);
    }
  }
}
