/// <reference lib="dom" />
/** The front page's agent: it learns CartPole in a worker, where it can be seen. */
import { trainInWorker, type WorkerTraining } from "@bellman/training/worker";
import type { RgbImage } from "@bellman/types";
import { button, element, Screen, show, whole } from "../playground/dom.ts";
import type { RunCalls } from "../playground/run.ts";
import type { Wanted } from "../playground/settings.ts";
import { watch } from "../playground/watch.ts";

/** Highest return of an episode of CartPole-v1. */
const GOAL = 500;
/** Most environment steps: three times those that are needed. */
const STEPS = 20_000;
/** Environment steps a second: at full speed it would be over in one. */
const STEPS_PER_SECOND = 500;
/** Milliseconds after which an agent that learns slowly is hurried, and its speed then. */
const HURRY = { after: 10_000, stepsPerSecond: 4000 };

const figure = element("live");
const screen = new Screen("live-picture");
let seed = 0;
let training: WorkerTraining<RunCalls> | undefined;
/** True where a run has taken steps. */
let hasBegun = false;
/** True where the figure is seen. */
let isShown = false;
/** True where a visitor has stopped it. */
let isPaused = false;

/** Draws evaluations as a line below that of the goal. */
class Line {
  readonly #element = document.querySelector<SVGPolylineElement>("#live-line")!;
  #points: [step: number, value: number][] = [[0, 0]];

  add(step: number, value: number): void {
    this.#points.push([step, value]);
    // The picture is 100 wide and high; the goal is at 10.
    this.#element.setAttribute(
      "points",
      this.#points.map(([x, y]) => `${100 * x / step},${100 - 90 * y / GOAL}`)
        .join(" "),
    );
  }
}

/** Trains with the next seed. */
async function begin(): Promise<void> {
  hasBegun = false;
  const line = new Line(), began = performance.now();
  const wanted: Wanted = {
    ...{ env: "CartPole-v1", algorithm: "ppo", settings: { seed: seed++ } },
    ...{ goal: GOAL, stepsPerSecond: STEPS_PER_SECOND },
    further: "evaluationInterval: 256",
  };
  let best = 0;
  const current = training = trainInWorker<RunCalls>(
    new URL("./playground/trainer.js", import.meta.url),
    {
      totalTimesteps: STEPS,
      settings: wanted,
      progressIntervalMs: 16,
      onProgress({ step }) {
        hasBegun = true;
        show("live-step", `${whole(step)} steps`);
      },
      onEvaluation({ step, meanReturn }) {
        line.add(step, meanReturn);
        best = Math.max(best, meanReturn);
        show(
          "live-return",
          `Balances for ${whole(meanReturn)} of ${GOAL} steps`,
        );
      },
    },
  );
  show("live-state", "PPO is learning, in a worker of this page.");
  setPaused(false);
  const draw = (picture: RgbImage) => {
    screen.draw([picture]);
    figure.dataset.state = "drawn";
  };
  setTimeout(
    () => current.call("pace", HURRY.stepsPerSecond).catch(() => {}),
    HURRY.after,
  );
  // It ends with the worker.
  watch(current, draw, () => isShown && !isPaused && hasBegun).catch(() => {});
  const { step } = await current.result;
  const seconds = whole((performance.now() - began) / 1000);
  show(
    "live-state",
    best >= GOAL
      ? `Learned in ${
        whole(step)
      } steps, ${seconds} s, slowed down to be watched.`
      : `Ended after ${whole(step)} steps at ${whole(best)}.`,
  );
  button("live-again").hidden = false;
}

/** Stops picture and training, or lets them go on. */
function setPaused(pauses: boolean): void {
  isPaused = pauses;
  show("live-pause", pauses ? "Go on" : "Pause");
  button("live-pause").hidden = false;
  const asked = pauses ? training?.pause() : training?.resume();
  asked?.catch(() => {});
}

function start(): void {
  button("live-again").hidden = true;
  begin().catch((error) => show("live-state", error.message));
}

button("live-pause").addEventListener("click", () => {
  if (training === undefined) start();
  else setPaused(!isPaused);
});
button("live-again").addEventListener("click", () => {
  training?.close();
  start();
});

const { connection } = navigator as {
  connection?: { readonly saveData: boolean };
};
const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches ||
  connection?.saveData === true;
if (isStill) {
  show("live-state", "An agent learns here when you want it to: 0.5 MB.");
  show("live-pause", "Learn");
  button("live-pause").hidden = false;
}

new IntersectionObserver(([{ isIntersecting }]) => {
  isShown = isIntersecting;
  if (isShown && training === undefined && !isStill) start();
}, { threshold: 0.5 }).observe(figure);
