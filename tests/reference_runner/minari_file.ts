import { readMinari, writeMinari } from "@bellman/buffers/datasets";
import type { Episode, RecordedValues } from "@bellman/types";
import h5wasm, {
  type Dataset,
  type File,
  type Group,
} from "npm:h5wasm@^0.10.3/node";
import { readdirSync, readFileSync } from "node:fs";
import { withFolder } from "../testdata/with_folder.ts";
import type { Comparison, FixtureRunner } from "./comparison.ts";

/** A group or an array of an HDF5 file, as the fixture shows it. */
interface Item {
  attrs?: Record<string, number>;
  members?: Record<string, Item>;
  shape?: number[];
  dtype?: string;
  values?: (number | boolean)[];
}

interface MinariFile {
  episodes: { id: number; length: number; return: number }[];
  hdf5: Item;
  metadata_json: Record<string, unknown>;
}

/** Names that h5wasm gives NumPy's types; it cannot write Booleans. */
const DTYPES: Readonly<Record<string, string>> = {
  bool: "<B",
  float32: "<f",
  float64: "<d",
  int64: "<q",
  int8: "<b",
  uint8: "<B",
};

/** Metadata that a writer chooses, or that say who wrote. */
const OWN = ["author", "author_email", "algorithm_name", "code_permalink"];

/** Numbers of a part of an episode, as the fixture's groups name it. */
function partOf(values: RecordedValues, name: string): RecordedValues {
  const key = name.replace(/^_index_/, "");
  return (values as Record<string, RecordedValues>)[key];
}

function compareValues(
  comparison: Comparison,
  name: string,
  values: RecordedValues,
  { members, values: wanted }: Item,
): void {
  if (members === undefined) {
    comparison.numbers(name, values as ArrayLike<number>, wanted!);
    return;
  }
  for (const [key, item] of Object.entries(members)) {
    compareValues(comparison, `${name}/${key}`, partOf(values, key), item);
  }
}

function compareEpisodes(
  comparison: Comparison,
  episodes: readonly Episode[],
  fixture: MinariFile,
): void {
  comparison.numbers("episodes", episodes.length, fixture.episodes.length);
  episodes.forEach((episode, i) => {
    const { infos: _, ...arrays } = fixture.hdf5.members![`episode_${i}`]
      .members!;
    for (const [name, item] of Object.entries(arrays)) {
      const values = episode[name as keyof Episode] as RecordedValues;
      compareValues(comparison, `episode ${i} ${name}`, values, item);
    }
    const { attrs } = fixture.hdf5.members![`episode_${i}`];
    comparison.numbers(`episode ${i} seed`, episode.seed ?? -1, attrs!.seed);
  });
}

/** Compares a group of a written file with the fixture's, array by array. */
function compareGroup(
  comparison: Comparison,
  path: string,
  group: Group,
  { members = {}, attrs = {} }: Item,
): void {
  const names = (keys: string[]) => keys.sort().join();
  comparison.that(
    `the names of '${path}'`,
    names(group.keys()) === names(Object.keys(members)),
  );
  for (const [name, value] of Object.entries(attrs)) {
    const found = Number(group.attrs[name]?.value);
    comparison.numbers(`${path} ${name}`, found, value);
  }
  for (const [name, item] of Object.entries(members)) {
    const inner = `${path}/${name}`, found = group.get(name);
    if (item.members !== undefined) {
      compareGroup(comparison, inner, found as Group, item);
      continue;
    }
    const { shape, dtype, value } = found as Dataset;
    comparison.that(`the shape of ${inner}`, `${shape}` === `${item.shape}`);
    comparison.that(`the type of ${inner}`, dtype === DTYPES[item.dtype!]);
    const numbers = Array.from(value as Iterable<number | bigint>, Number);
    comparison.numbers(inner, numbers, item.values!);
  }
}

function compareMetadata(
  comparison: Comparison,
  path: string,
  wanted: Record<string, unknown>,
): void {
  const found = JSON.parse(readFileSync(path, "utf8"));
  // Images are kept as they are, and sizes are those of the file.
  const free = ["jpeg_encoding", "dataset_size", ...OWN];
  for (const [name, value] of Object.entries(wanted)) {
    if (free.includes(name)) continue;
    const same = (it: unknown) => String(it).replaceAll(/\s|\.0(?=[\],])/g, "");
    comparison.that(`metadata ${name}`, same(found[name]) === same(value));
  }
}

async function compareWritten(
  comparison: Comparison,
  source: string,
  fixture: MinariFile,
): Promise<void> {
  await h5wasm.ready;
  await withFolder(async (folder) => {
    const { episodes, ...spaces } = await readMinari(source);
    const id = String(fixture.metadata_json.dataset_id);
    await writeMinari(`${folder}/copy`, episodes, { ...spaces, id });
    const data = `${folder}/copy/data`;
    const file: File = new h5wasm.File(`${data}/main_data.hdf5`, "r");
    try {
      compareGroup(comparison, "", file, fixture.hdf5);
    } finally {
      file.close();
    }
    compareMetadata(comparison, `${data}/metadata.json`, fixture.metadata_json);
  });
}

/** Folders of Minari: ours reads them, and writes them as Minari does. */
export const runner: FixtureRunner = async ({ folder }, comparison) => {
  comparison.tolerance = 0;
  const names = readdirSync(folder).filter((it) => it.endsWith(".json"));
  for (const name of names.sort().map((it) => it.replace(/\.json$/, ""))) {
    const source = `${folder}/${name}`;
    const fixture = JSON.parse(readFileSync(`${source}.json`, "utf8"));
    await comparison.check(`read ${name}`, async () => {
      const { episodes } = await readMinari(source);
      compareEpisodes(comparison, episodes, fixture);
    });
    await comparison.check(
      `write ${name}`,
      () => compareWritten(comparison, source, fixture),
    );
  }
};
