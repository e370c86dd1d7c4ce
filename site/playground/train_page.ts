/// <reference lib="dom" />
/** The upper half of the page: it trains, in a worker. */
import type { TrainResult } from "@bellman/training";
import {
  trainInWorker,
  type WorkerProgress,
  type WorkerTraining,
} from "@bellman/training/worker";
import { Curve } from "./curve.ts";
import {
  addFigures,
  button,
  decimal,
  download,
  element,
  input,
  Screen,
  select,
  show,
  whole,
} from "./dom.ts";
import type { RunCalls } from "./run.ts";
import type { Wanted } from "./settings.ts";
import { ALGORITHMS, MAIN_SETTINGS, type Preset, TASKS } from "./tasks.ts";
import { watch } from "./watch.ts";

/** Milliseconds between two reports of the worker. */
const INTERVAL = 33;

const FIGURES = {
  step: "Steps",
  speed: "Steps a second",
  return: "Return in training",
  best: "Best evaluation",
};

/** A run in the page: its worker, and how long it has trained. */
interface Run {
  readonly training: WorkerTraining<RunCalls>;
  readonly goal: number;
  state: "training" | "paused" | "ended";
  /** Milliseconds before the last pause, and the time of its end. */
  elapsed: number;
  since: number;
  step: number;
  /** Mean return of the best evaluation. */
  best: number;
  /** True where an end told that the goal is reached. */
  isReached: boolean;
  /** Steps to the present end. */
  total: number;
  /** Step and time of the last report, for the speed. */
  reported?: { step: number; time: number };
}

let run: Run | undefined;
const curve = new Curve(element("curve"));
const screen = new Screen("training-picture");

const task = () => TASKS[select("env").value];
const preset = (): Preset => task().presets[select("algorithm").value];
const runName = () =>
  `${select("algorithm").value.toUpperCase()} on ${select("env").value}`;

const stepsPerSecond = () => Number(select("run-pace").value);
const goalText = () =>
  `${task().about} Goal: a mean return of ${task().goal}, by ${
    ALGORITHMS[select("algorithm").value]
  }.`;

/** Reads a field: a number where it is one, or else the text, which is refused. */
function valueOf(id: string): unknown {
  const text = input(id).value.trim();
  return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
}

/** Shows what may be done now. */
function enable(): void {
  const state = run?.state;
  const action = { training: "Pause", paused: "Resume", ended: "Train on" };
  show("start", state === undefined ? "Train" : action[state]);
  button("start").disabled = false;
  for (const id of ["env", "algorithm"]) {
    select(id).disabled = run !== undefined;
  }
  element<HTMLFieldSetElement>("settings").disabled = run !== undefined;
  for (const id of ["save-policy", "save-checkpoint"]) {
    button(id).disabled = run?.reported === undefined;
  }
  button("reset").disabled = run === undefined;
}

/** Offers the algorithms of the environment, and shows it as it is before a run. */
function chooseEnv(): void {
  const { presets } = task(), before = select("algorithm").value;
  const offered = Object.keys(ALGORITHMS).filter((it) => it in presets);
  select("algorithm").replaceChildren(
    ...offered.map((it) => new Option(it.toUpperCase(), it)),
  );
  if (offered.includes(before)) select("algorithm").value = before;
  const still = new Image();
  still.src = new URL(`${select("env").value}.png`, import.meta.url).href;
  still.onload = () => {
    const canvas = element<HTMLCanvasElement>("training-picture");
    if (run !== undefined) return;
    canvas.getContext("2d")!.drawImage(
      still,
      0,
      0,
      canvas.width,
      canvas.height,
    );
  };
  choosePreset();
}

/** Fills the fields with the preset's settings. */
function choosePreset(): void {
  for (const key of MAIN_SETTINGS) input(key).value = String(preset()[key]);
  show("train-state", goalText());
  curve.clear(task());
}

/** Seconds of training so far. */
function secondsOf({ state, elapsed, since }: Run): number {
  const running = state === "training" ? performance.now() - since : 0;
  return (elapsed + running) / 1000;
}

function setState(run: Run, state: Run["state"]): void {
  run.elapsed = 1000 * secondsOf(run);
  run.since = performance.now();
  run.state = state;
  run.reported &&= { step: run.step, time: run.since };
  enable();
}

function hearProgress(run: Run, progress: WorkerProgress): void {
  const { step, totalTimesteps, meanReturn } = progress;
  const now = performance.now();
  const isFirst = run.reported === undefined;
  const { step: before, time } = run.reported ??= { step, time: now };
  if (isFirst) {
    // Without the time to load.
    run.since = now;
    enable();
  } else if (now - time > 500) {
    show("speed", whole(1000 * (step - before) / (now - time)));
    run.reported = { step, time: now };
  }
  run.step = step;
  show("step", `${whole(step)} of ${whole(totalTimesteps)}`);
  show("return", decimal(meanReturn));
  curve.addTraining(step, meanReturn);
}

function tellEnd(run: Run, { step }: TrainResult): void {
  const steps = `after ${whole(step)} steps`;
  const wasReached = run.isReached;
  run.isReached = run.best >= run.goal;
  show(
    "train-state",
    !run.isReached
      ? `${runName()} has ended ${steps} without reaching ${run.goal}: train on, or start over with other settings.`
      : wasReached
      ? `${runName()} has ended ${steps}.`
      : `Goal reached ${steps}, in ${
        decimal(secondsOf(run))
      } s. Now it plays as it has learned.`,
  );
}

/** Waits for the end of a run, at first or after going on. */
async function follow(followed: Run, result: Promise<TrainResult>) {
  try {
    const ended = await result;
    setState(followed, "ended");
    tellEnd(followed, ended);
  } catch (error) {
    // A run that was closed has no error to show.
    if (run !== followed) return;
    showError(error);
    if (followed.reported !== undefined) return setState(followed, "ended");
    // Settings were refused: they can be changed.
    close();
    show("train-state", goalText());
    element("more").setAttribute("open", "");
  }
}

function showError(error: unknown): void {
  show("train-error", (error as Error).message);
}

/** Ends the worker of the run. */
function close(): void {
  run?.training.close();
  run = undefined;
  enable();
}

function start(): void {
  const goal = task().goal;
  const settings = ["seed", ...MAIN_SETTINGS].map((key) => [key, valueOf(key)]);
  const wanted: Wanted = {
    env: select("env").value,
    algorithm: select("algorithm").value,
    settings: Object.fromEntries(settings),
    further: element<HTMLTextAreaElement>("further").value,
    stepsPerSecond: stepsPerSecond(),
  };
  const total = Number(valueOf("totalTimesteps"));
  const url = new URL("./trainer.js", import.meta.url);
  const training = trainInWorker<RunCalls>(url, {
    totalTimesteps: valueOf("totalTimesteps") as number,
    settings: wanted,
    progressIntervalMs: INTERVAL,
    onProgress: (progress) => hearProgress(begun, progress),
    onEvaluation({ step, meanReturn }) {
      curve.addEvaluation(step, meanReturn);
      begun.best = Math.max(begun.best, meanReturn);
      show("best", decimal(begun.best));
    },
  });
  const begun: Run = {
    ...{ training, goal, state: "training", total },
    ...{ elapsed: 0, since: performance.now(), step: 0 },
    ...{ best: -Infinity, isReached: false },
  };
  run = begun;
  show("train-state", `Training ${runName()}; goal: ${goal}.`);
  enable();
  follow(begun, training.result);
  const isShown = () =>
    begun.reported !== undefined && begun.state !== "paused";
  // It ends with the worker.
  watch(training, (it) => screen.draw([it]), isShown).catch(() => {});
}

async function pause(run: Run): Promise<void> {
  await run.training.pause();
  if (run.state !== "training") return;
  setState(run, "paused");
  show("train-state", "Paused.");
}

async function resume(run: Run): Promise<void> {
  await run.training.resume();
  setState(run, "training");
  show("train-state", `Training ${runName()}; goal: ${run.goal}.`);
}

/** Goes on to the run's end, or, beyond it, as long again. */
function trainOn(run: Run): void {
  const length = Number(valueOf("totalTimesteps"));
  if (run.step >= run.total) run.total += length;
  setState(run, "training");
  show(
    "train-state",
    `Training on ${runName()}, to ${whole(run.total)} steps.`,
  );
  follow(run, run.training.trainOn(run.total));
}

/** Shows the page as before any run. */
function reset(): void {
  close();
  for (const id of ["train-error", ...Object.keys(FIGURES)]) {
    show(id, id in FIGURES ? "–" : "");
  }
  chooseEnv();
}

/** Does what a button says; errors are shown. */
function act(action: (run: Run) => Promise<void>): void {
  if (run !== undefined) action(run).catch(showError);
}

async function pace({ training }: Run): Promise<void> {
  await training.call("pace", stepsPerSecond());
}

async function savePolicy({ training }: Run): Promise<void> {
  download("policy.onnx", await training.policy());
}

async function saveCheckpoint({ training }: Run): Promise<void> {
  const { step, bytes } = await training.checkpoint();
  download(`step_${String(step).padStart(9, "0")}.safetensors`, bytes);
}

/** Makes the upper half of the page work. */
export function setUpTraining(): void {
  addFigures("trained", FIGURES);
  select("env").replaceChildren(
    ...Object.keys(TASKS).map((it) => new Option(it)),
  );
  element("train").addEventListener("submit", (event) => {
    event.preventDefault();
    show("train-error", "");
    if (run === undefined) start();
    else if (run.state === "ended") trainOn(run);
    else act(run.state === "training" ? pause : resume);
  });
  select("env").addEventListener("change", chooseEnv);
  select("algorithm").addEventListener("change", choosePreset);
  select("run-pace").addEventListener("change", () => act(pace));
  button("reset").addEventListener("click", () => {
    reset();
    button("start").focus();
  });
  button("save-policy").addEventListener("click", () => act(savePolicy));
  button("save-checkpoint").addEventListener(
    "click",
    () => act(saveCheckpoint),
  );
  reset();
}
