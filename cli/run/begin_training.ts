import { checkCluster } from "../config/cluster.ts";
import { findAlgorithm } from "../config/algorithms.ts";
import type { ResolvedConfig } from "../config/resolve.ts";
import { messageOf } from "../terminal/errors.ts";
import { onStrayError } from "../terminal/process.ts";
import { plottedAgent } from "./evaluation.ts";
import { checkMemory } from "./memory.ts";
import { notices, type RunSetup, setUpRun } from "./run_setup.ts";
import { runTraining, type TrainingRun } from "./training_run.ts";

/** Streams that a run prints to; only its result if it is quiet. */
export type Output =
  & Pick<TrainingRun, "io" | "progress" | "quiet" | "signal" | "cluster">
  & {
    /** Describes the speed of the run; set where its setup is open. */
    speed?: () => string;
  };

/** Opens a setup that can be trained, for as long as `act` trains it. */
export async function withTraining(
  config: ResolvedConfig,
  output: Output,
  act: (setup: RunSetup) => Promise<number>,
): Promise<number> {
  // One of a module is not known yet, and starts none.
  const startsWorkers = findAlgorithm(config.algorithm)?.startWorkers !==
    undefined;
  if (startsWorkers && !output.quiet) {
    output.io.out(`Starting the workers of ${config.algorithm}\n`);
  }
  const onNotice = notices(output.io);
  const { cluster } = output;
  checkCluster(config, cluster);
  const setup = await setUpRun(config, onNotice, { cluster });
  try {
    checkMemory(onNotice);
    output.speed = setup.speed;
    // Before anything is written.
    if (config.policyPlots) plottedAgent(setup);
    return await act(setup);
  } finally {
    setup.close();
  }
}

/** Writes a number of things, in the singular where it is one. */
function counted(count: number, name: string): string {
  return `${count.toLocaleString("en-US")} ${name}${count === 1 ? "" : "s"}`;
}

/** Trains an open setup. */
export async function carryOut(
  run: Omit<TrainingRun, "strayError">,
  settings?: string,
): Promise<number> {
  const { setup: { config, engine }, folder, io, quiet } = run;
  if (!quiet) {
    const source = settings === undefined ? "" : `\nSettings: ${settings}`;
    io.out(
      `${
        run.resumeFrom === undefined ? "Training" : "Resuming"
      } ${config.algorithm} on ${config.env}: ${
        counted(config.totalTimesteps, "step")
      }, ${counted(config.numEnvs, "environment")}, seed ${config.seed}${source}
Engine: ${engine}
Run folder: ${folder.dir}
`,
    );
  }
  const stray = new AbortController();
  const releaseStray = onStrayError((thrown) =>
    // Without a reason, an abort has one of its own.
    stray.abort(thrown ?? new Error(messageOf(thrown)))
  );
  try {
    return await runTraining({ ...run, strayError: stray.signal });
  } finally {
    releaseStray();
  }
}
