import { assertEquals } from "@std/assert";
import h5wasm, { type File, type Group } from "npm:h5wasm@^0.10.3";
import { type Hdf5Group, minariEpisodes } from "./minari.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

await h5wasm.ready;

type Data = Parameters<Group["create_dataset"]>[0]["data"];

/** Datasets as h5py makes them for Minari: in chunks, of any length. */
function addArray(group: Group, name: string, data: Data, shape: number[]) {
  const maxshape = [null, ...shape.slice(1)];
  group.create_dataset({ name, data, shape, maxshape, chunks: shape });
}

function addEpisode(file: File, id: number, steps: number): Group {
  const episode = file.create_group(`episode_${id}`);
  episode.create_attribute("id", BigInt64Array.of(BigInt(id)));
  const count = (length: number, step: number) =>
    Array.from({ length }, (_, i) => 100 * id + i * step);
  const observations = episode.create_group("observations");
  addArray(
    observations,
    "position",
    Float64Array.from(count(2 * steps + 2, 1)),
    [steps + 1, 2],
  );
  const pair = observations.create_group("pair");
  addArray(pair, "_index_0", Uint8Array.from(count(steps + 1, 2)), [steps + 1]);
  addArray(
    pair,
    "_index_1",
    BigInt64Array.from(count(steps + 1, 3), BigInt),
    [steps + 1],
  );
  addArray(
    episode,
    "actions",
    BigInt64Array.from(count(steps, 1), BigInt),
    [steps],
  );
  addArray(episode, "rewards", Float64Array.from(count(steps, 1)), [steps]);
  const last = new Int8Array(steps); // What h5wasm reads of h5py's Booleans.
  last[steps - 1] = 1;
  addArray(episode, "terminations", id % 2 ? last : new Int8Array(steps), [
    steps,
  ]);
  addArray(episode, "truncations", id % 2 ? new Int8Array(steps) : last, [
    steps,
  ]);
  episode.create_dataset({ name: "infos", data: ["{}", "{}"] });
  return episode;
}

/** A file that was written, closed and opened again. */
function withFile(
  write: (file: File) => void,
  read: (file: File) => void,
): void {
  const writing = new h5wasm.File("main_data.hdf5", "w");
  write(writing);
  writing.close();
  const reading = new h5wasm.File("main_data.hdf5", "r");
  try {
    read(reading);
  } finally {
    reading.close();
  }
}

Deno.test("episodes of an HDF5 file, in the order of their numbers", () =>
  withFile(
    (file) => {
      for (const id of [0, 1, 2, 10]) addEpisode(file, id, 2);
      file.create_group("episode_x");
    },
    (file) => {
      const episodes = [...minariEpisodes(file)];
      const first = episodes.map(({ rewards }) => rewards[0]);
      assertEquals(first, [0, 100, 200, 1000]);
      assertEquals(episodes[1], {
        observations: {
          position: Float64Array.of(100, 101, 102, 103, 104, 105),
          pair: [Uint8Array.of(100, 102, 104), Float64Array.of(100, 103, 106)],
        },
        actions: Float64Array.of(100, 101),
        rewards: Float64Array.of(100, 101),
        terminations: Int8Array.of(0, 1),
        truncations: Int8Array.of(0, 0),
      });
    },
  ));

Deno.test("parts that are texts are left out", () =>
  withFile(
    (file) => {
      for (const id of [0, 1]) {
        const observations = addEpisode(file, id, 2).get("observations");
        const data = ["get the key", "go to the goal", "stop"];
        (observations as Group).create_dataset({ name: "mission", data });
        const pair = (observations as Group).get("pair") as Group;
        pair.create_dataset({ name: "_index_2", data });
      }
    },
    (file) => {
      const [, { observations }] = minariEpisodes(file);
      assertEquals(observations, {
        position: Float64Array.of(100, 101, 102, 103, 104, 105),
        pair: [Uint8Array.of(100, 102, 104), Float64Array.of(100, 103, 106)],
      });
    },
  ));

Deno.test("what is missing or no number is named", () => {
  const group = (items: Record<string, unknown>): Hdf5Group => ({
    keys: () => Object.keys(items),
    get: (name) => items[name] ?? null,
  });
  const good = {
    observations: { value: [1, 2] },
    actions: { value: [true] },
    rewards: { value: Float32Array.of(1) },
    terminations: { value: [false] },
    truncations: { value: [true] },
  };
  const read = (items: unknown) => () => [
    ...minariEpisodes(group({ episode_7: items })),
  ];
  assertEquals(read(group(good))()[0].actions, [1]);
  const change = (part: object) => read(group({ ...good, ...part }));
  const start = "Cannot read 'episode_7";
  assertRefused({
    [`SyntaxError: ${start}' of a Minari data set: expected a group of that name`]:
      read({ value: [1] }),
    [`SyntaxError: ${start}/rewards' of a Minari data set: expected an array of that name`]:
      change({ rewards: null }),
    "SyntaxError: 'episode_7/rewards'": change({ rewards: group({}) }),
    [`TypeError: ${start}/actions' of string values: expected numbers`]: change(
      {
        actions: { value: ["left"] },
      },
    ),
    [`TypeError: ${start}/observations/a' of number values: expected numbers`]:
      change({ observations: group({ a: { value: 3 } }) }),
    [`RangeError: ${start}/actions': its number 1 is 1152921504606846976, expected at most 2^53`]:
      change({ actions: { value: BigInt64Array.of(0n, 2n ** 60n) } }),
  });
});
