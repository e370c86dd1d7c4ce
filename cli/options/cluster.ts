/** Options of a command line that choose a cluster. */
import {
  type ClusterOptions,
  type RunCluster,
  settingKey,
} from "@bellman/runs/settings";
import { shellWord, UsageError } from "@bellman/runs/program";
import {
  integerOf,
  option,
  type OptionSpec,
  type ParsedOptions,
  valueOf,
} from "../terminal/command.ts";
import { commandLineEntries } from "./options.ts";

/** Option for the size of a run's place. */
export const CPUS_OPTION: OptionSpec = option(
  "cpus-per-run N",
  "CPUs of the cluster that each run takes, 1 by default.",
);

/** Options that choose a cluster. */
export const CLUSTER_OPTIONS: readonly OptionSpec[] = [
  option(
    "cluster ADDRESS",
    "Step or learn on a Ray cluster: HOST:PORT, auto (RAY_ADDRESS) or local.",
  ),
  option(
    "cluster-start-timeout SECONDS",
    "Time for a host to get a CPU and to start, 120 by default.",
  ),
  option(
    "cluster-listen HOST[:PORT]",
    "Address that hosts connect to; by default the one that Ray knows.",
  ),
  option(
    "cluster-code ship|here",
    "Ship this code to the nodes (ship), or use what is at its path there (here).",
  ),
];

/** Options that choose a cluster for whole runs. */
export const RUN_CLUSTER_OPTIONS: readonly OptionSpec[] = [
  option(
    "cluster ADDRESS",
    "Make the runs on a Ray cluster: HOST:PORT, auto (RAY_ADDRESS) or local.",
  ),
  CLUSTER_OPTIONS.find(({ name }) => name === "cluster-code")!,
  CPUS_OPTION,
];

/**
 * Reads the cluster of several runs.
 *
 * @returns The cluster; none where the command names none.
 * @throws {UsageError} If a value cannot be used, or there is no cluster for it.
 */
export function runClusterOf(options: ParsedOptions): RunCluster | undefined {
  const cluster = valueOf(options, "cluster");
  if (cluster === undefined) {
    checkAlone(options, RUN_CLUSTER_OPTIONS);
    return undefined;
  }
  return {
    cluster,
    code: readCode(valueOf(options, "cluster-code") ?? "ship"),
    cpusPerRun: integerOf(options, "cpus-per-run", {
      maximum: 1024,
      fallback: 1,
    }),
  };
}

/** Throws where a command has options of a cluster, and names none. */
function checkAlone(
  { values }: ParsedOptions,
  options: readonly OptionSpec[],
): void {
  const other = options.find(({ name }) => values.has(name));
  if (other === undefined) return;
  throw new UsageError(
    `Cannot use --${other.name} without --cluster: expected an address, auto or local`,
  );
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (seconds > 0 && seconds <= 1e6) return seconds;
  throw new UsageError(
    `Cannot use --cluster-start-timeout ${text}: expected seconds above 0, at most 1000000`,
  );
}

function readCode(text: string): "ship" | "here" {
  if (text === "ship" || text === "here") return text;
  throw new UsageError(
    `Cannot use --cluster-code ${text}: expected ship or here`,
  );
}

/**
 * Reads the cluster of a command line.
 *
 * @returns The cluster; none where the command names none.
 * @throws {UsageError} If a value cannot be used, or there is no cluster for it.
 */
export function clusterOf(options: ParsedOptions): ClusterOptions | undefined {
  const cluster = valueOf(options, "cluster");
  if (cluster === undefined) {
    checkAlone(options, CLUSTER_OPTIONS);
    return undefined;
  }
  const listen = valueOf(options, "cluster-listen");
  const timeout = readSeconds(
    valueOf(options, "cluster-start-timeout") ?? "120",
  );
  return {
    cluster,
    listen,
    code: readCode(valueOf(options, "cluster-code") ?? "ship"),
    startTimeoutMs: 1000 * timeout,
  };
}

/**
 * Returns options of a new run whose environments a cluster steps: those that the
 * command names, unless it says where they are.
 */
export function onCluster(
  algorithm: string | undefined,
  options: ParsedOptions,
): ParsedOptions {
  if (!options.values.has("cluster")) return options;
  const isNamed = commandLineEntries(options).some(([name]) =>
    settingKey(algorithm ?? "a2c", name) === "vectorization"
  );
  if (isNamed) return options;
  const set = [...options.values.get("set") ?? [], "vectorization=ray"];
  return { ...options, values: new Map([...options.values, ["set", set]]) };
}

/** Returns the task that trains: with a cluster it is one that has the network. */
export function trainTask(hasCluster: boolean): string {
  return hasCluster ? "train:cluster" : "train";
}

/** Returns the words of a command line that name a cluster again. */
export function clusterWords(cluster: ClusterOptions | undefined): string {
  if (cluster === undefined) return "";
  const { listen, code, startTimeoutMs } = cluster;
  const words = [
    `--cluster ${shellWord(cluster.cluster)}`,
    ...listen === undefined ? [] : [`--cluster-listen ${shellWord(listen)}`],
    ...code === "here" ? ["--cluster-code here"] : [],
    ...startTimeoutMs === 120_000
      ? []
      : [`--cluster-start-timeout ${startTimeoutMs / 1000}`],
  ];
  return ` ${words.join(" ")}`;
}
