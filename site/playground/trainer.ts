/** Module worker that trains: the page stays free. */
import { selectBackend } from "@bellman/compute";
import {
  MAIN_SETTINGS,
  type TrainerReport,
  type TrainerRequest,
} from "./protocol.ts";
import { resolveTask } from "./settings.ts";
import { Training } from "./training.ts";

/** Milliseconds between two reports. */
const INTERVAL = 50;
/** Steps of the watched environment in a report: together about real time. */
const WATCHED_STEPS = 2;

let training: Training | undefined;
let pausing = new AbortController();
/** Ends with the present stretch of training. */
let running: Promise<void> = Promise.resolve();
let isRunning = false;

function report(message: TrainerReport): void {
  postMessage(message);
}

/** Returns a callback that reports now and then. */
function reporter(training: Training) {
  let reportedAt = performance.now(), reportedStep: number | undefined;
  let stepsPerSecond = NaN;
  return async (
    { step, totalTimesteps, meanReturn }: {
      step: number;
      totalTimesteps: number;
      meanReturn: number;
    },
  ): Promise<void> => {
    reportedStep ??= step;
    const elapsed = performance.now() - reportedAt;
    if (elapsed >= INTERVAL) {
      stepsPerSecond = (step - reportedStep) / elapsed * 1000;
    } else if (step < totalTimesteps) return;
    const picture = await training.watch(WATCHED_STEPS);
    report({
      type: "progress",
      step,
      totalTimesteps,
      meanReturn,
      stepsPerSecond,
      picture,
    });
    reportedAt = performance.now();
    reportedStep = step;
  };
}

/** Trains until the end or a pause. */
async function stretch(training: Training): Promise<void> {
  pausing = new AbortController();
  isRunning = true;
  report({ type: "state", state: "training" });
  try {
    const { stopReason } = await training.run({
      signal: pausing.signal,
      onStep: reporter(training),
    });
    const hasEnded = stopReason === "completed";
    report({ type: "state", state: hasEnded ? "completed" : "paused" });
  } finally {
    isRunning = false;
  }
}

function begin(training: Training): void {
  running = stretch(training).catch(reportError);
}

async function pause(): Promise<void> {
  pausing.abort();
  await running;
}

function reportError(error: unknown): void {
  report({
    type: "error",
    message: error instanceof Error ? error.message : String(error),
  });
}

async function answer(request: TrainerRequest): Promise<void> {
  if (request.type === "describe") {
    const { settings } = resolveTask(request.env);
    const main = MAIN_SETTINGS.map((key) => [key, settings[key]]);
    report({ type: "described", settings: Object.fromEntries(main) });
    return;
  }
  if (request.type === "start") {
    const { env, settings, further } = request;
    const task = resolveTask(env, settings, further);
    await selectBackend("wasm", { wasmPaths: new URL("./", import.meta.url) });
    begin(training = new Training(task));
    return;
  }
  if (training === undefined) return;
  if (request.type === "pause") await pause();
  if (request.type === "resume" && !isRunning) begin(training);
  if (request.type === "savePolicy") {
    const bytes = training.policyFile();
    report({ type: "file", name: "policy.onnx", bytes });
  }
  if (request.type === "saveCheckpoint") {
    const wasRunning = isRunning;
    await pause();
    const bytes = await training.checkpointFile();
    const step = String(training.savedStep).padStart(9, "0");
    report({ type: "file", name: `step_${step}.safetensors`, bytes });
    if (wasRunning) begin(training);
  }
}

addEventListener("message", ({ data }: MessageEvent<TrainerRequest>) => {
  answer(data).catch(reportError);
});
