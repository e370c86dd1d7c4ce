import { builtin, replaceFile, syncFolder, toPath } from "@bellman/files";
import type { BoxArray, DictSpace, Episode, Space } from "@bellman/types";
import { type Column, columnsOf, fillColumn } from "./columns.ts";
import { checkEpisode } from "./episodes.ts";
import { type File, type Group, openHdf5 } from "./hdf5.ts";
import { ITEM, MASKS, PREFIX } from "./minari.ts";
import { toMinariSpace } from "./minari_spaces.ts";
import {
  MAIN_FILE,
  METADATA,
  type Metadata,
  readMetadata,
} from "./open_dataset.ts";
import { misfit, type Spaces } from "./spaces.ts";

/** Version of Minari whose files these are. */
const MINARI_VERSION = "0.5.4";

/** Options of {@linkcode writeMinari}: an environment has the spaces. */
export interface WriteMinariOptions extends Spaces {
  /**
   * Add the episodes to those of the folder, if there is one, instead of refusing it.
   *
   * @default false
   */
  readonly append?: boolean;
  /**
   * Minari's name of the data set, such as `bellman/demo-v0`.
   *
   * @default the folder's name, of version 0
   */
  readonly id?: string;
}

/**
 * Writes episodes as a data set of Minari: `data/main_data.hdf5` with npm's `h5wasm`, and
 * `metadata.json` beside it. Action masks go to `infos/action_mask`. The folder is there
 * as a whole or not at all; on `append` its files are replaced one after the other, and
 * what it held stays readable at any moment.
 *
 * Python reads it by `minari.MinariDataset("demo/data")`, and by its name from
 * `DATASETS/NAMESPACE/NAME-vN`.
 *
 * @param path New folder; folders above it are made.
 * @param episodes The episodes.
 * @param options Their spaces, and what to do with a folder that exists.
 * @throws {Error} If the folder exists, or cannot be written.
 * @throws {RangeError} If there are no episodes, one has arrays of other lengths or
 * numbers that are not of its space (bounds of boxes apart), or the folder has other
 * spaces; nothing is written.
 *
 * @example
 * ```ts
 * import { openDataset, writeMinari } from "@bellman/buffers/datasets";
 * import { assertEquals } from "@std/assert";
 *
 * const folder = await Deno.makeTempDir();
 * const env = {
 *   observationSpace: {
 *     type: "box",
 *     shape: [2],
 *     low: -1,
 *     high: 1,
 *     dtype: "float32",
 *   },
 *   actionSpace: { type: "discrete", n: 2 },
 * } as const;
 * const episode = {
 *   observations: Float32Array.of(0, 0, 0.5, 0, 1, 0),
 *   actions: Int32Array.of(1, 0),
 *   rewards: Float64Array.of(1, 1),
 *   terminations: [0, 1],
 *   truncations: [0, 0],
 * };
 * await writeMinari(`${folder}/demo`, [episode], env);
 * await writeMinari(`${folder}/demo`, [episode], { ...env, append: true });
 * const data = await openDataset(`${folder}/demo`);
 * assertEquals([data.numEpisodes, data.numSteps], [2, 4]);
 * await Deno.remove(folder, { recursive: true });
 * ```
 */
export async function writeMinari(
  path: string | URL,
  episodes: Iterable<Episode>,
  options: WriteMinariOptions,
): Promise<void> {
  const { existsSync, promises: fs } = builtin("node:fs");
  const { dirname, join, resolve } = builtin("node:path");
  const folder = resolve(toPath(path));
  const isThere = existsSync(folder);
  if (isThere && options.append !== true) {
    throw new Error(
      `Cannot write a data set to '${folder}': it exists, expected a new folder or append: true`,
    );
  }
  const all = [...episodes];
  if (all.length === 0) {
    throw new RangeError(
      `Cannot write a data set to '${folder}' without episodes: expected one or more`,
    );
  }
  if (isThere) return await append(join(folder, "data"), all, options);
  const temporary = `${folder}.tmp`, data = join(temporary, "data");
  // A killed process may have left one.
  await fs.rm(temporary, { recursive: true, force: true });
  await fs.mkdir(data, { recursive: true });
  try {
    const totals = await writeFile(join(data, MAIN_FILE), all, options);
    const metadata = { ...newMetadata(folder, options), ...totals };
    await replaceFile(join(data, METADATA), JSON.stringify(metadata));
    await fs.rename(temporary, folder);
  } catch (error) {
    await fs.rm(temporary, { recursive: true, force: true });
    throw error;
  }
  syncFolder(dirname(folder));
}

/** Adds episodes to a copy of the HDF5 file, which then takes its place. */
async function append(
  data: string,
  episodes: readonly Episode[],
  options: WriteMinariOptions,
): Promise<void> {
  const { promises: fs } = builtin("node:fs");
  const { join } = builtin("node:path");
  const file = join(data, MAIN_FILE), temporary = `${file}.tmp`;
  const { metadata, ...spaces } = readMetadata(file);
  const problem = misfit(spaces, options);
  if (problem !== undefined) {
    throw new RangeError(`Cannot append to '${data}': ${problem}`);
  }
  try {
    await fs.copyFile(file, temporary);
    const totals = await writeFile(temporary, episodes, options);
    await fs.rename(temporary, file);
    const text = JSON.stringify({ ...metadata, ...totals });
    await replaceFile(join(data, METADATA), text);
  } finally {
    await fs.rm(temporary, { force: true });
  }
}

/** Adds episodes to an HDF5 file; returns what its metadata say of all of them. */
async function writeFile(
  path: string,
  episodes: readonly Episode[],
  spaces: Spaces,
): Promise<Partial<Metadata>> {
  const { existsSync, promises: fs } = builtin("node:fs");
  const file = await openHdf5(path, existsSync(path) ? "a" : "w");
  let steps = 0;
  let first = 0;
  try {
    for (const name of file.keys()) {
      const total = (file.get(name) as Group).attrs.total_steps.value;
      steps += Number(total);
      first++;
    }
    episodes.forEach((episode, i) => {
      steps += addEpisode(file, first + i, { episode, number: i, spaces });
    });
  } finally {
    file.close();
  }
  const handle = await fs.open(path, "r+");
  await handle.sync();
  const { size } = await handle.stat();
  await handle.close();
  return {
    total_episodes: first + episodes.length,
    total_steps: steps,
    dataset_size: Math.round(size / 1e5) / 10,
  };
}

function newMetadata(
  folder: string,
  { observationSpace, actionSpace, id }: WriteMinariOptions,
): Partial<Metadata> {
  const name = builtin("node:path").basename(folder).replaceAll(/[^\w-]/g, "_");
  return {
    data_format: "hdf5",
    jpeg_encoding: false,
    observation_space: toMinariSpace(observationSpace),
    action_space: toMinariSpace(actionSpace),
    dataset_id: id ?? (/-v\d+$/.test(name) ? name : `${name}-v0`),
    minari_version: MINARI_VERSION,
  };
}

function addEpisode(
  file: File,
  id: number,
  { episode, number, spaces }: {
    episode: Episode;
    number: number;
    spaces: Spaces;
  },
): number {
  const { actionMasks, rewards, terminations, truncations, seed } = episode;
  const steps = checkEpisode(episode, number, "write");
  const group = file.create_group(PREFIX + id);
  group.create_attribute("id", BigInt64Array.of(BigInt(id)), []);
  group.create_attribute("total_steps", BigInt64Array.of(BigInt(steps)), []);
  if (seed !== undefined) {
    group.create_attribute("seed", BigInt64Array.of(BigInt(seed)), []);
  }
  const place = { episode: number, at: 0 };
  const add = (
    name: "observations" | "actions",
    space: Space,
    rows: number,
  ) => {
    for (const column of columnsOf(space, name, { rows })) {
      fillColumn(column, episode[name], { ...place, rows });
      addColumn(group, [name, ...namesOf(space, column.keys)], column, rows);
    }
  };
  add("observations", spaces.observationSpace, steps + 1);
  add("actions", spaces.actionSpace, steps);
  const flags = (values: ArrayLike<number>) =>
    Uint8Array.from(values, (it) => it ? 1 : 0);
  const data = { name: "rewards", data: Float64Array.from(rewards) };
  group.create_dataset(data);
  const ended = flags(terminations), cutOff = flags(truncations);
  if (!ended[steps - 1]) cutOff[steps - 1] = 1;
  group.create_dataset({ name: "terminations", data: ended });
  group.create_dataset({ name: "truncations", data: cutOff });
  const infos = group.create_group("infos");
  if (actionMasks !== undefined) {
    const shape = [steps + 1, actionMasks.length / (steps + 1)];
    const data = Int8Array.from(actionMasks);
    infos.create_dataset({ name: MASKS, data, shape });
  }
  return steps;
}

/** Names that Minari gives the groups that lead to a part of a space. */
function namesOf(space: Space, [key, ...keys]: readonly string[]): string[] {
  if (key === undefined) return [];
  const { type, spaces } = space as DictSpace;
  const name = (type as string) === "tuple" ? ITEM + key : key;
  return [name, ...namesOf(spaces[key], keys)];
}

/** Adds the array of a column, in the groups that lead to it. */
function addColumn(
  episode: Group,
  path: readonly string[],
  { space, box, data }: Column,
  rows: number,
): void {
  let group = episode;
  for (const name of path.slice(0, -1)) {
    const isThere = group.keys().includes(name);
    group = isThere ? group.get(name) as Group : group.create_group(name);
  }
  group.create_dataset({
    name: path.at(-1)!,
    data: ofNumPy(data, space.type),
    shape: [rows, ...box.shape],
  });
}

/** Gives whole numbers the types that Gymnasium's spaces have. */
function ofNumPy(data: BoxArray, type: string) {
  if (type === "box") return data;
  return type === "multiBinary"
    ? Int8Array.from(data)
    : BigInt64Array.from(data, BigInt);
}
