import { builtin, rewordError, toPath } from "@bellman/files";
import { loadNpz } from "@bellman/files/npz";
import { givenOptions } from "@bellman/files/options";
import type { Episode } from "@bellman/types";
import { episodesFromArrays } from "./arrays.ts";
import { Dataset, type DatasetOptions } from "./dataset.ts";
import { openHdf5, reasonOf } from "./hdf5.ts";
import { minariEpisodes } from "./minari.ts";
import { fromMinariSpace } from "./minari_spaces.ts";
import { checkFit, partsOf, type Spaces } from "./spaces.ts";

/** Episodes and spaces of a folder of Minari. */
export interface MinariData extends Spaces {
  /** The episodes, in order. */
  readonly episodes: readonly Episode[];
}

/** Name of Minari's file of episodes. */
export const MAIN_FILE = "main_data.hdf5";

/** Name of the file beside it. */
export const METADATA = "metadata.json";

/** What is read and written of Minari's metadata. */
export interface Metadata {
  observation_space: string;
  action_space: string;
  [name: string]: unknown;
}

/** Finds the HDF5 file of a path: a folder, its folder `data`, or the file itself. */
function findMainFile(path: string): string {
  const { existsSync, statSync } = builtin("node:fs");
  const { join } = builtin("node:path");
  if (!existsSync(path)) {
    throw new Error(`Cannot read '${path}': no such file or folder`);
  }
  if (!statSync(path).isDirectory()) return path;
  const file = [join(path, "data", MAIN_FILE), join(path, MAIN_FILE)]
    .find((it) => existsSync(it));
  if (file !== undefined) return file;
  throw new Error(
    `Cannot read the folder '${path}': expected data/${MAIN_FILE} in it`,
  );
}

/** Reads the metadata beside an HDF5 file, with the spaces. */
export function readMetadata(file: string): { metadata: Metadata } & Spaces {
  const { existsSync, readFileSync } = builtin("node:fs");
  const { dirname, join } = builtin("node:path");
  const path = join(dirname(file), METADATA);
  if (!existsSync(path)) {
    throw new Error(`Cannot read '${file}': expected ${METADATA} beside it`);
  }
  try {
    const metadata: Metadata = JSON.parse(readFileSync(path, "utf8"));
    const spaces = {
      observationSpace: fromMinariSpace(metadata.observation_space),
      actionSpace: fromMinariSpace(metadata.action_space),
    };
    return { metadata, ...spaces };
  } catch (error) {
    throw rewordError(error, (it) => `Cannot read '${path}': ${it}`);
  }
}

/**
 * Reads a data set of Minari whole: `data/main_data.hdf5` with npm's `h5wasm`, and
 * `metadata.json` beside it.
 *
 * @param path Folder of the data set, its folder `data`, or its HDF5 file.
 * @returns The episodes and their spaces, without texts.
 * @throws {Error} If a file is missing or cannot be read.
 * @throws {SyntaxError} If a group or an array of an episode is missing.
 * @throws {TypeError} If an array holds something else than numbers, or JPEG images.
 * @throws {RangeError} If a space is of another kind than ours.
 *
 * @example
 * ```ts
 * import { readMinari, writeMinari } from "@bellman/buffers/datasets";
 * import { assertEquals } from "@std/assert";
 *
 * const folder = await Deno.makeTempDir();
 * const spaces = {
 *   observationSpace: { type: "discrete", n: 3 },
 *   actionSpace: { type: "discrete", n: 2 },
 * } as const;
 * await writeMinari(`${folder}/demo`, [{
 *   observations: [0, 1, 2],
 *   actions: [1, 1],
 *   rewards: [0, 1],
 *   terminations: [0, 1],
 *   truncations: [0, 0],
 * }], spaces);
 * const { episodes, actionSpace } = await readMinari(`${folder}/demo`);
 * assertEquals(episodes[0].rewards, Float64Array.of(0, 1));
 * assertEquals(actionSpace, { type: "discrete", n: 2 });
 * await Deno.remove(folder, { recursive: true });
 * ```
 */
export async function readMinari(path: string | URL): Promise<MinariData> {
  const main = findMainFile(toPath(path));
  const { metadata, ...spaces } = readMetadata(main);
  // Minari keeps such boxes as JPEG.
  const hasImages = partsOf(spaces).parts.some(({ dtype, shape }) =>
    dtype === "uint8" && [2, 3].includes(shape.length) &&
    shape[0] >= 32 && shape[1] >= 32
  );
  if (metadata.jpeg_encoding !== false && hasImages) {
    throw new TypeError(
      `Cannot read '${main}': its images are JPEG, expected a data set with jpeg_encoding false`,
    );
  }
  const file = await openHdf5(main, "r");
  try {
    return { episodes: [...minariEpisodes(file)], ...spaces };
  } catch (error) {
    throw rewordError(error, (it) => `${main}: ${reasonOf(it)}`);
  } finally {
    file.close();
  }
}

/**
 * Options of {@linkcode openDataset}. The data must fit spaces that are given; without
 * them it has its own, but for an npz file, which has none.
 */
export interface OpenDatasetOptions extends Partial<DatasetOptions> {}

/**
 * Reads a {@linkcode Dataset} from a folder of Minari or its HDF5 file, or from an npz
 * file of D4RL's form, as {@linkcode episodesFromArrays} takes it.
 *
 * @param path Path of the folder or file.
 * @param options Spaces, such as those of the environment to act in, and the choice of
 * the episodes to learn from.
 * @returns The data set.
 * @throws {RangeError} If the data does not fit the spaces, which the message names
 * both, or as `new Dataset` says.
 * @throws {TypeError} If an npz file is opened without spaces.
 * @throws {Error} If a file is missing or cannot be read.
 *
 * @example
 * ```ts
 * import { openDataset } from "@bellman/buffers/datasets";
 * import { saveNpz } from "@bellman/files/npz";
 * import { assertEquals } from "@std/assert";
 *
 * const path = `${await Deno.makeTempDir()}/log.npz`;
 * const row = (...data: number[]) => ({
 *   data: Float32Array.from(data),
 *   shape: [data.length],
 * });
 * await saveNpz({
 *   observations: row(0, 1, 0, 1),
 *   actions: row(1, 0, 0, 1),
 *   rewards: row(0, 1, 0, 3),
 *   terminals: row(0, 1, 0, 1),
 * }, path);
 * const data = await openDataset(path, {
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 2 },
 * });
 * assertEquals([data.numEpisodes, data.meanReturn], [2, 2]);
 * ```
 */
export async function openDataset(
  path: string | URL,
  options: OpenDatasetOptions = {},
): Promise<Dataset> {
  const name = toPath(path);
  const { episodes, ...spaces } = name.endsWith(".npz")
    ? await readNpz(name, options)
    : await readMinari(name);
  const all = { ...spaces, ...givenOptions(options) };
  try {
    checkFit(spaces, all);
    return new Dataset(episodes, all);
  } catch (error) {
    throw rewordError(error, (it) => `${name}: ${it}`);
  }
}

async function readNpz(
  path: string,
  options: OpenDatasetOptions,
): Promise<MinariData> {
  const { observationSpace, actionSpace } = options as Spaces;
  const episodes = [...episodesFromArrays(await loadNpz(path))];
  return { episodes, observationSpace, actionSpace };
}
