import type {
  AgentSettings,
  AlgorithmDefinition,
  AnyParts,
  BuildContext,
} from "./definition.ts";
import type { Policy } from "@bellman/policies";
import { checkRanges, defaultsOf } from "./schema.ts";

/** Range of the counts of a run. */
const COUNT = { type: "integer", minimum: 1 };

/**
 * Completes the settings of an algorithm, checks them and the counts of its run,
 * and builds its parts.
 *
 * @param definition The algorithm.
 * @param context Spaces, length of the run, stream of the first parameters.
 * @param given Settings that differ from the defaults, and more counts by name.
 * @throws {RangeError} If a setting or a count is out of its range.
 * @throws {TypeError} If settings exclude each other, or the algorithm cannot use
 * a space.
 */
export function buildParts<Config extends object, P extends Policy>(
  definition: AlgorithmDefinition<Config, P>,
  context: BuildContext,
  given: {
    readonly config?: AgentSettings<Config>;
    readonly counts?: Readonly<Record<string, number>>;
  },
): { config: Config; parts: AnyParts<P> } {
  const { schema, name, title = name } = definition;
  const config = Object.assign(defaultsOf<Config>(schema), given.config);
  const { numEnvs, totalTimesteps, stackedFrames = 1 } = context;
  const run = { numEnvs, totalTimesteps, stackedFrames, ...given.counts };
  const ranges = Object.keys(run).map((key) => [key, COUNT]);
  checkRanges(run, {
    of: title,
    schema: { properties: Object.fromEntries(ranges) },
  });
  checkRanges(config, { of: title, schema });
  definition.check?.(config, context);
  return { config, parts: definition.build(config, context) };
}
