/// <reference lib="dom" />
/** The lower half of the page: it plays policies out of files. */
import type { RgbImage } from "@bellman/types";
import {
  addFigures,
  button,
  decimal,
  element,
  input,
  Screen,
  select,
  show,
  whole,
} from "./dom.ts";
import { checkFileSize } from "./policy_file.ts";
import { PLAYED, type PlayerReport, type PlayerRequest } from "./protocol.ts";

/** Starts the worker that plays, and hears it. */
function startPlayer() {
  const url = new URL("./player.js", import.meta.url);
  const worker = new Worker(url, { type: "module", name: "player" });
  worker.onmessage = ({ data }) => hearPlayer(data);
  worker.onerror = ({ message }) =>
    failPlaying(`Cannot run player.js: ${message ?? "it did not load"}`);
  return { post: (request: PlayerRequest) => worker.postMessage(request) };
}

const screen = new Screen("playing-picture");
let player: ReturnType<typeof startPlayer> | undefined;
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

/** Draws the environments, below all that is said of them: at first it comes into view. */
function showPictures(pictures: readonly RgbImage[]): void {
  const picture = element("playing-picture"), wasHidden = picture.hidden;
  picture.hidden = false;
  screen.draw(pictures);
  if (wasHidden) picture.scrollIntoView({ block: "nearest" });
}

function hearPlayer(report: PlayerReport): void {
  switch (report.type) {
    case "opened": {
      const { environment, algorithm, version } = report.metadata;
      const found = PLAYED.includes(environment);
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
      showPictures(report.pictures);
      break;
    case "error":
      failPlaying(report.message);
  }
}

async function openFile(file: File): Promise<void> {
  show("play-error", "");
  const first = player === undefined ? ": ONNX Runtime, 14 MB, is loaded" : "";
  show("play-state", `Opening ${file.name}${first}`);
  button("play-start").disabled = true;
  button("play-pause").disabled = true;
  try {
    checkFileSize(file);
    const bytes = new Uint8Array(await file.arrayBuffer());
    player ??= startPlayer();
    player.post({ type: "open", name: file.name, bytes });
  } catch (error) {
    failPlaying((error as Error).message);
  }
}

/** Opens and plays the policy that the address names: `?policy=FILE`, of this site. */
async function openAddress(): Promise<void> {
  const given = new URLSearchParams(location.search).get("policy");
  if (given === null) return;
  element("play-title").scrollIntoView();
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

/** Makes the lower half of the page work. */
export function setUpPlaying(): void {
  addFigures("played", {
    "play-step": "Steps",
    episodes: "Episodes",
    "play-return": "Mean return",
  });
  select("play-env").replaceChildren(...PLAYED.map((id) => new Option(id)));
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
    player!.post({
      type: "play",
      env: select("play-env").value,
      copies: Number(select("copies").value),
      seed,
      isPaced: select("pace").value === "real",
    });
  });

  element("play-pause").addEventListener("click", () => {
    player!.post({ type: isPlaying ? "pause" : "resume" });
    setPlaying(!isPlaying);
  });
  openAddress();
}
