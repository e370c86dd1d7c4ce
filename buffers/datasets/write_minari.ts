import { builtin, replaceFile, syncFolder, toPath } from "@bellman/files";
import type { Episode, Space } from "@bellman/types";
import { type FieldArray, nest } from "../fields.ts";
import { columnsOf, fillColumns, NEXT, stepsOf } from "./columns.ts";
import { type Dataset, type Group, openHdf5 } from "./hdf5.ts";
import { episodeNumbers, ITEM, MASKS, PREFIX } from "./minari.ts";
import { toMinariSpace } from "./minari_spaces.ts";
import {
  MAIN_FILE,
  METADATA,
  type Metadata,
  readMetadata,
} from "./open_dataset.ts";
import { checkFit, type Spaces } from "./spaces.ts";

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
  const temporary = temporaryOf(folder), data = join(temporary, "data");
  // One of a process before that had this number.
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

let count = 0;

/** Name of a file or folder while it is written, which no other call has. */
function temporaryOf(path: string): string {
  return `${path}.${builtin("node:process").pid}-${count++}.tmp`;
}

/** Adds episodes to a copy of the HDF5 file, which then takes its place. */
async function append(
  data: string,
  episodes: readonly Episode[],
  options: WriteMinariOptions,
): Promise<void> {
  const { promises: fs, renameSync, statSync } = builtin("node:fs");
  const { join } = builtin("node:path");
  const file = join(data, MAIN_FILE), temporary = temporaryOf(file);
  const { metadata, ...spaces } = readMetadata(file);
  checkFit(spaces, options);
  const before = statSync(file);
  try {
    await fs.copyFile(file, temporary);
    const totals = await writeFile(temporary, episodes, options);
    const { ino, mtimeMs } = statSync(file);
    if (ino !== before.ino || mtimeMs !== before.mtimeMs) {
      throw new Error(
        `Cannot append to '${file}': it has changed meanwhile, expected one that appends at a time`,
      );
    }
    // At once, so that nobody else does in between.
    renameSync(temporary, file);
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
  const numbers = episodeNumbers(file), first = 1 + (numbers.at(-1) ?? -1);
  let steps = 0;
  try {
    for (const it of numbers) {
      const rewards = file.get(`${PREFIX}${it}/rewards`) as Dataset;
      steps += rewards.shape![0];
    }
    episodes.forEach((episode, number) => {
      const id = first + number, group = file.create_group(PREFIX + id);
      addEpisode(group, episode, { id, number, spaces });
      steps += episode.rewards.length;
    });
  } finally {
    file.close();
  }
  const handle = await fs.open(path, "r+");
  await handle.sync();
  const { size } = await handle.stat();
  await handle.close();
  return {
    total_episodes: numbers.length + episodes.length,
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
  group: Group,
  episode: Episode,
  { id, number, spaces }: { id: number; number: number; spaces: Spaces },
): void {
  const steps = stepsOf(episode, number), { seed, rewards } = steps;
  const attributes = { id, total_steps: rewards.length, seed };
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    group.create_attribute(name, BigInt64Array.of(BigInt(value)), []);
  }
  const masked = steps.actionMasks !== undefined;
  const { schema, list } = columnsOf(spaces, rewards.length + 1, { masked });
  fillColumns({ schema, list }, steps, { number });
  const { actionMasks, terminated: _, ...values } = nest(
    schema,
    ({ index, path, size, shape }): Adder => {
      const rows = rewards.length + (path[0] in NEXT ? 1 : 0);
      const { type, data } = list[index], used = data.subarray(0, rows * size);
      return (group, name) =>
        group.create_dataset({
          name,
          data: ofNumPy(used, type),
          shape: [rows, ...shape],
        });
    },
  ) as Record<string, Adders>;
  for (const [name, it] of Object.entries(values)) addValues(group, name, it);
  const infos = group.create_group("infos");
  if (masked) addValues(infos, MASKS, actionMasks);
  const { terminated, truncated } = steps;
  group.create_dataset({ name: "terminations", data: terminated });
  group.create_dataset({ name: "truncations", data: truncated });
}

/** Adds an array to a group. */
type Adder = (group: Group, name: string) => void;

/** Adders nested as the values of a space. */
type Adders = Adder | { [name: string]: Adders } | Adders[];

/** Adds values, those of dicts and tuples as groups. */
function addValues(group: Group, name: string, adders: Adders): void {
  if (name.includes("/")) {
    throw new RangeError(
      `Cannot write the part '${name}' of a space: expected a name without '/'`,
    );
  }
  if (typeof adders === "function") return adders(group, name);
  const inner = group.create_group(name);
  const prefix = Array.isArray(adders) ? ITEM : "";
  for (const [key, it] of Object.entries(adders)) {
    addValues(inner, prefix + key, it);
  }
}

/** Gives whole numbers the types that Gymnasium's spaces have. */
function ofNumPy(data: FieldArray, type: Space["type"]) {
  if (type === "box") return data;
  return type === "multiBinary"
    ? Int8Array.from(data)
    : BigInt64Array.from(data, BigInt);
}
