import { RUN_CLUSTER_OPTIONS } from "../options/cluster.ts";
import {
  commandLineEntries,
  folderWords,
  sourcesOf,
} from "../options/options.ts";
import { resolveWithModules, settingKey } from "@bellman/runs/settings";
import { folderOf } from "@bellman/experiments";
import {
  integerOf,
  type ParsedOptions,
  taskLine,
  valueOf,
} from "../terminal/command.ts";
import { type CommandIo, UsageError } from "@bellman/runs/program";
import { carryOutExperiment } from "./experiment.ts";

/** Options of `train` that are for one run. */
const OF_ONE = [
  "resume",
  "init-from",
  "print-config",
  "unchecked",
  "trust",
  "cluster-listen",
  "cluster-start-timeout",
];
/** Options of `train` that are for several runs. */
const OF_SEVERAL = ["jobs", "cpus-per-run"];
/** Options of `train` that an experiment has, too. */
const OF_EXPERIMENT = ["jobs", ...RUN_CLUSTER_OPTIONS.map(({ name }) => name)];
/** Keys that a plan has a place of its own for. */
const OF_PLAN = ["algorithm", "env", "seed", "totalTimesteps"];

/** Episodes of the final evaluations. */
const EPISODES = 100;

/** True where `train` has several seeds. */
export function isOfSeeds({ values, switches }: ParsedOptions): boolean {
  if (!values.has("seeds")) {
    const several = OF_SEVERAL.find((it) => values.has(it));
    if (several === undefined) return false;
    throw new UsageError(
      `Cannot use --${several} without --seeds: one run is one job`,
    );
  }
  const other = OF_ONE.find((it) => values.has(it) || switches.has(it));
  if (other === undefined) return true;
  throw new UsageError(
    `Cannot use both --seeds and --${other}: give one of them`,
  );
}

/**
 * Trains with several seeds: the short form of an experiment of one variant.
 *
 * @param algorithm Algorithm that the command names, if any.
 * @param options Options of `train`.
 * @param io Streams to print to.
 * @returns The exit code.
 */
export async function trainSeeds(
  algorithm: string | undefined,
  options: ParsedOptions,
  io: CommandIo,
): Promise<number> {
  const count = integerOf(options, "seeds", {
    maximum: 1_000_000,
    fallback: 1,
  });
  const first = integerOf(options, "seed", { minimum: 0, fallback: 0 });
  const config = await resolveWithModules(algorithm, sourcesOf(options));
  const set = commandLineEntries(options).filter(([name]) =>
    !OF_PLAN.includes(settingKey(config.algorithm, name))
  );
  const variant = {
    name: config.algorithm,
    algorithm: config.algorithm,
    preset: valueOf(options, "preset"),
    config: valueOf(options, "config"),
    environments: [config.env],
    seeds: Array.from({ length: count }, (_, i) => first + i),
    steps: config.totalTimesteps,
    set: Object.fromEntries(set),
  };
  const name = folderWords(options) ??
    `${config.algorithm}-${folderOf(config.env)}`;
  const plan = {
    name,
    episodes: EPISODES,
    variants: [variant],
    scores: {},
    compare: [],
  };
  const dir = valueOf(options, "out") ?? `experiments/${name}`;
  const values = new Map(
    [...options.values].filter(([name]) => OF_EXPERIMENT.includes(name)),
  );
  // What the command line names is the user's own, as with one run.
  const switches = new Set(["trust"]);
  return await carryOutExperiment(
    { plan, dir },
    { positionals: [], values, switches },
    { io, command: taskLine("train", options) },
  );
}
