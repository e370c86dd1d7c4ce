/// <reference lib="dom" />
/** The page: its fields, buttons and pictures. All work is done by two workers. */
import type { RgbImage } from "@bellman/types";
import { Curve } from "./curve.ts";
import { checkFileSize } from "./policy_file.ts";
import {
  MAIN_SETTINGS,
  PLAYED,
  type PlayerReport,
  type PlayerRequest,
  TRAINED,
  type TrainerReport,
  type TrainerRequest,
} from "./protocol.ts";

const element = <E extends HTMLElement>(id: string): E =>
  document.getElementById(id) as E;
const input = (id: string) => element<HTMLInputElement>(id);
const button = (id: string) => element<HTMLButtonElement>(id);
const select = (id: string) => element<HTMLSelectElement>(id);

function show(id: string, text: string): void {
  element(id).textContent = text;
}

/** Adds figures to a list: their titles by the ids of their values. */
function addFigures(list: string, titles: Record<string, string>): void {
  for (const [id, title] of Object.entries(titles)) {
    const [group, term, value] = ["div", "dt", "dd"]
      .map((it) => document.createElement(it));
    Object.assign(term, { textContent: title });
    Object.assign(value, { id, textContent: "–" });
    group.append(term, value);
    element(list).append(group);
  }
}

const TRAINED_FIGURES = {
  step: "Steps",
  speed: "Steps a second",
  return: "Mean return",
};
addFigures("trained", TRAINED_FIGURES);
addFigures("played", {
  "play-step": "Steps",
  episodes: "Episodes",
  "play-return": "Mean return",
});

const whole = (value: number) =>
  Number.isFinite(value) ? Math.round(value).toLocaleString("en-US") : "–";
const decimal = (value: number) =>
  Number.isFinite(value) ? value.toFixed(1) : "–";

/** Starts a worker next to this module, and hears it. */
function startWorker<Request, Report>(
  name: string,
  hear: (report: Report) => void,
): { post(request: Request): void; end(): void } {
  const url = new URL(`./${name}.js`, import.meta.url);
  const worker = new Worker(url, { type: "module", name });
  worker.onmessage = ({ data }) => hear(data);
  worker.onerror = ({ message }) =>
    hear({
      type: "error",
      message: `Cannot run ${name}.js: ${message ?? "it did not load"}`,
    } as Report);
  return {
    post: (request) => worker.postMessage(request),
    end: () => worker.terminate(),
  };
}

const isStill = matchMedia("(prefers-reduced-motion: reduce)");

/** Draws pictures side by side; once a second where motion is unwanted. */
class Screen {
  readonly #canvas: HTMLCanvasElement;
  #drawnAt = -Infinity;

  constructor(id: string) {
    this.#canvas = element(id);
  }

  draw(pictures: readonly RgbImage[]): void {
    const now = performance.now();
    if (isStill.matches && now - this.#drawnAt < 1000) return;
    this.#drawnAt = now;
    const columns = Math.ceil(Math.sqrt(pictures.length));
    const [{ width, height }] = pictures;
    const canvas = this.#canvas;
    // Setting a size clears the canvas.
    if (canvas.width !== columns * width) canvas.width = columns * width;
    if (canvas.height !== columns * height) canvas.height = columns * height;
    const context = canvas.getContext("2d")!;
    pictures.forEach(({ data }, i) => {
      const image = new ImageData(width, height);
      const pixels = new Uint32Array(image.data.buffer);
      for (let pixel = 0, at = 0; pixel < pixels.length; pixel++, at += 3) {
        pixels[pixel] = 0xff000000 | data[at + 2] << 16 | data[at + 1] << 8 |
          data[at];
      }
      const [row, column] = [Math.floor(i / columns), i % columns];
      context.putImageData(image, column * width, row * height);
    });
  }
}

/** Offers bytes as a download. */
function download(name: string, bytes: Uint8Array<ArrayBuffer>): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

const STATES = {
  training: "Training",
  paused: "Paused",
  completed: "Training is complete",
};

const curve = new Curve(element("curve"));
const trainingScreen = new Screen("training-picture");
let trainer = startTrainer();
let isTraining = false;

function startTrainer() {
  return startWorker<TrainerRequest, TrainerReport>("trainer", hearTrainer);
}

function hearTrainer(report: TrainerReport): void {
  switch (report.type) {
    case "described":
      for (const key of MAIN_SETTINGS) {
        input(key).value = String(report.settings[key]);
      }
      enableStart();
      break;
    case "state":
      isTraining = report.state === "training";
      show("train-state", STATES[report.state]);
      show("pause", report.state === "paused" ? "Resume" : "Pause");
      button("pause").disabled = report.state === "completed";
      for (const id of ["reset", "save-policy", "save-checkpoint"]) {
        button(id).disabled = false;
      }
      break;
    case "progress":
      show("step", `${whole(report.step)} of ${whole(report.totalTimesteps)}`);
      show("speed", whole(report.stepsPerSecond));
      show("return", decimal(report.meanReturn));
      curve.add(report.step, report.meanReturn);
      trainingScreen.draw([report.picture]);
      break;
    case "file":
      download(report.name, report.bytes);
      break;
    case "error":
      show("train-error", report.message);
      if (!isTraining) enableStart();
  }
}

/** Lets the settings be changed and a run be started, as there is none. */
function enableStart(isEnabled = true): void {
  button("start").disabled = !isEnabled;
  element<HTMLFieldSetElement>("settings").disabled = !isEnabled;
}

/** Reads a field: a number where it is one, or else the text, which is refused. */
function valueOf(id: string): unknown {
  const text = input(id).value.trim();
  return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
}

/** Fills the fields with the preset's settings, with which training may start. */
function describe(): void {
  trainer.post({ type: "describe", env: select("env").value });
}

element("train").addEventListener("submit", (event) => {
  event.preventDefault();
  show("train-error", "");
  enableStart(false);
  const settings = ["seed", ...MAIN_SETTINGS].map((key) => [key, valueOf(key)]);
  trainer.post({
    type: "start",
    env: select("env").value,
    settings: Object.fromEntries(settings),
    further: element<HTMLTextAreaElement>("further").value,
  });
});

element("pause").addEventListener(
  "click",
  () => trainer.post({ type: isTraining ? "pause" : "resume" }),
);

element("reset").addEventListener("click", () => {
  trainer.end();
  trainer = startTrainer();
  isTraining = false;
  curve.clear();
  for (const id of ["train-state", "train-error"]) show(id, "");
  for (const id in TRAINED_FIGURES) show(id, "–");
  show("pause", "Pause");
  for (const id of ["pause", "reset", "save-policy", "save-checkpoint"]) {
    button(id).disabled = true;
  }
  enableStart();
  element("start").focus();
});

element("save-policy").addEventListener(
  "click",
  () => trainer.post({ type: "savePolicy" }),
);
element("save-checkpoint").addEventListener(
  "click",
  () => trainer.post({ type: "saveCheckpoint" }),
);

const playingScreen = new Screen("playing-picture");
let player: ReturnType<typeof startWorker<PlayerRequest, PlayerReport>>;
let isPlaying = false;
/** True until the policy that the address names has been opened. */
let playsWhenOpened = false;

/** Shows whether the policy plays. */
function setPlaying(plays: boolean): void {
  isPlaying = plays;
  show("play-pause", plays ? "Pause" : "Resume");
}

function failPlaying(message: string): void {
  playsWhenOpened = false;
  show("play-error", message);
  show("play-state", "");
  setPlaying(false);
  button("play-pause").disabled = true;
}

function hearPlayer(report: PlayerReport): void {
  switch (report.type) {
    case "opened": {
      const { environment, algorithm, version } = report.metadata;
      const found = [...PLAYED as readonly string[]].includes(environment);
      if (found) select("play-env").value = environment;
      const origin = [algorithm, environment, version].filter(Boolean);
      show("play-state", ["Opened", ...origin].join(" · "));
      button("play-start").disabled = false;
      if (playsWhenOpened) element<HTMLFormElement>("play").requestSubmit();
      playsWhenOpened = false;
      break;
    }
    case "played":
      show("play-step", whole(report.step));
      show("episodes", whole(report.episodes));
      show("play-return", decimal(report.meanReturn));
      playingScreen.draw(report.pictures);
      break;
    case "error":
      failPlaying(report.message);
  }
}

async function openFile(file: File): Promise<void> {
  show("play-error", "");
  show("play-state", `Opening ${file.name}`);
  button("play-start").disabled = true;
  button("play-pause").disabled = true;
  try {
    checkFileSize(file);
    const bytes = new Uint8Array(await file.arrayBuffer());
    player ??= startWorker("player", hearPlayer);
    player.post({ type: "open", name: file.name, bytes });
  } catch (error) {
    failPlaying((error as Error).message);
  }
}

/** Opens and plays the policy that the address names: `?policy=FILE`, of this site. */
async function openAddress(): Promise<void> {
  const given = new URLSearchParams(location.search).get("policy");
  if (given === null) return;
  element("playing-picture").scrollIntoView({ block: "end" });
  show("play-state", `Opening ${given}`);
  try {
    const response = await fetch(new URL(given, location.href));
    if (!response.ok) throw new Error(`the server answers ${response.status}`);
    playsWhenOpened = true;
    await openFile(new File([await response.blob()], given));
  } catch (error) {
    failPlaying(`Cannot load ${given}: ${(error as Error).message}`);
  }
}

element("file").addEventListener("change", () => {
  const [file] = input("file").files ?? [];
  if (file) openFile(file);
});

// The same file may have changed.
element("file").addEventListener("click", () => input("file").value = "");

const drop = element("drop");
for (const kind of ["dragover", "dragleave", "drop"] as const) {
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
    const [file] = event.dataTransfer?.files ?? [];
    if (kind === "drop" && file) openFile(file);
  });
}

element("play").addEventListener("submit", (event) => {
  event.preventDefault();
  const seed = Number(input("play-seed").value || NaN);
  show("play-error", "");
  if (!Number.isSafeInteger(seed) || seed < 0) {
    failPlaying(
      `Cannot use seed = ${
        input("play-seed").value
      }: expected an integer of at least 0`,
    );
    return;
  }
  button("play-pause").disabled = false;
  setPlaying(true);
  player.post({
    type: "play",
    env: select("play-env").value,
    copies: Number(select("copies").value),
    seed,
    isPaced: select("pace").value === "real",
  });
});

element("play-pause").addEventListener("click", () => {
  player.post({ type: isPlaying ? "pause" : "resume" });
  setPlaying(!isPlaying);
});

select("env").replaceChildren(...TRAINED.map((id) => new Option(id)));
select("play-env").replaceChildren(...PLAYED.map((id) => new Option(id)));
select("env").addEventListener("change", describe);
show("train-state", "");
describe();
openAddress();
