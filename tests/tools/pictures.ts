// deno-lint-ignore-file no-console -- a program that prints
/**
 * Draws the pictures of the READMEs and docs out of what is kept: `deno task pictures`.
 * Curves come from `algorithms/NAME/results/curves/*.json`, moving pictures from
 * the episodes in `docs/pictures/episodes`, which hold the environment, its seed and
 * the actions of a trained agent: they are played again. An environment that is
 * not installed keeps the picture that it has. `--check` only compares curves.
 */
import { make } from "@bellman/envs";
import { isAtariInstalled } from "@bellman/envs/atari";
import { hasGymnasium, registerGymnasium } from "@bellman/envs/gymnasium";
import type { RgbImage } from "@bellman/types";
import { captionOf, withCaption } from "../../lab/runs/play/caption.ts";
import { frameRateOf } from "../../lab/runs/play/episodes.ts";
import { GifWriter } from "../../lab/runs/play/gif.ts";
import { drawCurves, type Program } from "../learning/keep_curves.ts";
import { ROOT } from "./packages.ts";

/** Episode of a trained agent, to be played again. */
export interface KeptEpisode {
  env: string;
  kwargs: Record<string, unknown>;
  seed: number;
  /** Package and command that trained the agent, and their commit. */
  agent: string;
  command: string;
  commit: string;
  /** Environment steps after which the agent was saved. */
  checkpoint: number;
  /** Size of the picture, as a part of the environment's own. */
  scale: number;
  /** Steps from one picture to the next. */
  every: number;
  /** First and last step that is shown. */
  start: number;
  end: number;
  return: number;
  /** One digit an action. */
  actions: string;
}

/** Curves of an environment, as they are kept beside an algorithm. */
interface KeptCurves {
  env: string;
  programs: Program[];
}

const FOLDER = `${ROOT}docs/pictures`;

/** Size of the curves on the page of results. */
const SMALL = { width: 460, height: 290 };

function readJson<T>(path: string): T {
  return JSON.parse(Deno.readTextFileSync(path));
}

function filesIn(folder: string, ending: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name)
      .filter((name) => name.endsWith(ending)).sort();
  } catch {
    return [];
  }
}

/** Draws all kept curves, by the path of their picture. */
export function curvePictures(): Map<string, string> {
  const pictures = new Map<string, string>();
  for (const { name } of Deno.readDirSync(`${ROOT}algorithms`)) {
    const folder = `${ROOT}algorithms/${name}/results/curves`;
    for (const file of filesIn(folder, ".json")) {
      const path = `${folder}/${file.replace(/json$/, "svg")}`;
      pictures.set(path, drawCurves(readJson<KeptCurves>(`${folder}/${file}`)));
    }
  }
  const halfCheetah = readJson<KeptCurves>(
    `${ROOT}algorithms/sac/results/curves/HalfCheetah-v5.json`,
  );
  const title = "SAC on HalfCheetah-v5";
  pictures.set(
    `${FOLDER}/half_cheetah.svg`,
    drawCurves(halfCheetah, { ...SMALL, title }),
  );
  return pictures;
}

/** True where an environment can be made here. */
export function isInstalled({ env }: KeptEpisode): boolean {
  return env.startsWith("gym:") ? hasGymnasium() : isAtariInstalled();
}

/** Plays an episode again and gives its pictures to `show`; returns its return. */
export async function replay(
  episode: KeptEpisode,
  show: (image: RgbImage, framesPerSecond: number) => Promise<void> | void,
): Promise<number> {
  const { env: id, kwargs, scale, every, start, end } = episode;
  if (id.startsWith("gym:")) registerGymnasium(id.slice(4));
  const env = make(id, { kwargs });
  try {
    env.reset({ seed: episode.seed });
    const own = env.render();
    const size = { width: own.width * scale, height: own.height * scale };
    const rate = frameRateOf(env) / every;
    let sum = 0;
    for (const [step, action] of [...episode.actions].entries()) {
      const isShown = step >= start && step <= end && step % every === 0;
      const moment = { episode: 1, step, return: sum };
      if (isShown) {
        await show(withCaption(env.render(size), captionOf(moment)), rate);
      }
      sum += env.step(Number(action)).reward;
    }
    return sum;
  } finally {
    env.close();
  }
}

/** Writes the moving picture of an episode. */
async function writeEpisode(name: string): Promise<void> {
  const episode = readJson<KeptEpisode>(`${FOLDER}/episodes/${name}.json`);
  if (!isInstalled(episode)) {
    console.log(
      `kept docs/pictures/${name}.gif: ${episode.env} is not installed`,
    );
    return;
  }
  let gif: GifWriter | undefined;
  const sum = await replay(episode, (image, rate) => {
    gif ??= new GifWriter(`${FOLDER}/${name}.gif`, rate);
    return gif.show(image);
  });
  if (Math.abs(sum - episode.return) > 1e-6) {
    await gif?.abort();
    throw new Error(
      `Cannot draw docs/pictures/${name}.gif: the return is ${sum}, expected ${episode.return}`,
    );
  }
  await gif?.finish();
  console.log(`wrote docs/pictures/${name}.gif`);
}

if (import.meta.main) {
  const isCheck = Deno.args.includes("--check");
  for (const [path, svg] of curvePictures()) {
    if (!isCheck) Deno.writeTextFileSync(path, svg);
    else if (Deno.readTextFileSync(path) !== svg) {
      console.error(`${path} is not what 'deno task pictures' draws`);
      Deno.exit(1);
    }
  }
  if (!isCheck) {
    const files = filesIn(`${FOLDER}/episodes`, ".json");
    for (const file of files) await writeEpisode(file.replace(/\.json$/, ""));
  }
}
