import { isStateRecord } from "@bellman/files";
import type {
  AgentSettings,
  Algorithm,
  AnyParts,
  BuildContext,
} from "./algorithm.ts";
import type { Policy } from "@bellman/policies";
import { checkParts } from "./_check_parts.ts";
import { unusedLines } from "./unused_settings.ts";
import { checkSettings, defaultsOf, ownSchema } from "./schema.ts";

/** Range of the counts of a run. */
const COUNT = { type: "integer", minimum: 1 };

/**
 * Completes the settings of an algorithm, checks them and the counts of its run,
 * and builds its parts.
 *
 * @param algorithm The algorithm.
 * @param context Spaces, length of the run, stream of the first parameters.
 * @param given Settings that differ from the defaults, more counts by name, and what
 * takes a line for each setting without effect.
 * @throws {RangeError} If a setting or a count is out of its range.
 * @throws {TypeError} If there is no such setting, it is of another type, settings
 * exclude each other, or the algorithm cannot use a space.
 */
export function buildParts<Config extends object, P extends Policy>(
  algorithm: Algorithm<Config, P>,
  context: BuildContext,
  given: {
    readonly config?: AgentSettings<Config>;
    readonly counts?: Readonly<Record<string, number>>;
    readonly onNotice?: (line: string) => void;
  },
): { config: Config; parts: AnyParts<P> } {
  const { schema, name, title = name } = algorithm.meta;
  const { numEnvs, totalTimesteps, stackedFrames = 1 } = context;
  const run = { numEnvs, totalTimesteps, stackedFrames, ...given.counts };
  const ranges = Object.keys(run).map((key) => [key, COUNT]);
  checkSettings(run, {
    of: title,
    schema: { properties: Object.fromEntries(ranges) },
  });
  if (given.config !== undefined && !isStateRecord(given.config)) {
    throw new TypeError(
      `Cannot run ${title} with the config ${given.config}: expected an object of settings`,
    );
  }
  const settings = Object.fromEntries(
    Object.entries(given.config ?? {}).filter(([, it]) => it !== undefined),
  );
  const { network, ...others } = settings;
  // One of the caller's own is no name.
  const isNetwork = typeof network === "object" && network !== null;
  checkSettings(isNetwork ? others : settings, {
    of: title,
    schema: ownSchema(algorithm.meta),
  });
  // Settings of earlier versions are dropped.
  const current = Object.entries(settings)
    .filter(([key]) => Object.hasOwn(schema.properties, key));
  const config = Object.assign(
    defaultsOf<Config>(schema),
    Object.fromEntries(current),
  );
  algorithm.check?.(config, context);
  const parts = algorithm.build(config, context);
  checkParts(parts, title);
  // deno-lint-ignore no-console -- by default notices go there
  const { onNotice = (line: string) => console.warn(line) } = given;
  unusedLines(algorithm.meta, config, context).forEach((it) => onNotice(it));
  return { config, parts };
}
