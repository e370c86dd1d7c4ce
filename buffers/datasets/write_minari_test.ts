import { saveNpz } from "@bellman/files/npz";
import type { Episode, RecordedValues, Space } from "@bellman/types";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { assertRejected } from "../../tests/testdata/refused.ts";
import { preparePython, runPython } from "../../tests/testdata/python.ts";
import { withFolder } from "../../tests/testdata/with_folder.ts";
import { testRandom } from "../testdata/random.ts";
import type { File, Group } from "npm:h5wasm@^0.10.3";
import { openFile } from "./h5wasm.ts";
import { openDataset, readMinari } from "./open_dataset.ts";
import { fromMinariSpace, toMinariSpace } from "./minari_spaces.ts";
import { writeMinari } from "./write_minari.ts";

const python = await preparePython();

const box: Space = {
  type: "box",
  shape: [2, 1],
  low: [-1, -Infinity],
  high: Infinity,
  dtype: "float32",
};
const SPACES: Record<string, Space> = {
  box,
  double: { ...box, shape: [], low: -1, high: 1, dtype: "float64" },
  image: {
    type: "box",
    shape: [32, 32],
    low: 0,
    high: 255,
    dtype: "uint8",
  },
  discrete: { type: "discrete", n: 4, start: 2 },
  multiDiscrete: { type: "multiDiscrete", nvec: [3, 2] },
  multiBinary: { type: "multiBinary", n: 3 },
  nested: {
    type: "dict",
    spaces: {
      "a b": box,
      Infinity: {
        type: "tuple",
        spaces: [{ type: "discrete", n: 3 }, {
          type: "dict",
          spaces: { z: { type: "multiBinary", n: 1 } },
        }],
      },
    },
  },
};

/** Numbers of rows of a space, in arrays of their kind. */
function valuesOf(
  space: Space,
  rows: number,
  random: { integer(n: number): number },
): RecordedValues {
  const fill = <T extends { [i: number]: number }>(
    array: T,
    length: number,
    next: (i: number) => number,
  ): T => {
    for (let i = 0; i < length; i++) array[i] = next(i);
    return array;
  };
  switch (space.type) {
    case "box": {
      const length = rows * space.shape.reduce((a, b) => a * b, 1);
      const ArrayType = {
        float32: Float32Array,
        float64: Float64Array,
        int32: Int32Array,
        uint8: Uint8Array,
      }[space.dtype];
      const unit = space.dtype === "uint8" ? 1 : 256;
      const next = () => random.integer(256) / unit;
      return fill(new ArrayType(length), length, next);
    }
    case "discrete": {
      const { n, start = 0 } = space;
      return fill(new Int32Array(rows), rows, () => start + random.integer(n));
    }
    case "multiDiscrete": {
      const { nvec } = space, length = rows * nvec.length;
      const next = (i: number) => random.integer(nvec[i % nvec.length]);
      return fill(new Int32Array(length), length, next);
    }
    case "multiBinary": {
      const length = rows * space.n;
      return fill(new Uint8Array(length), length, () => random.integer(2));
    }
    case "tuple":
      return space.spaces.map((it) => valuesOf(it, rows, random));
    case "dict":
      return Object.fromEntries(
        Object.entries(space.spaces)
          .map(([key, it]) => [key, valuesOf(it, rows, random)]),
      );
  }
}

function episodeOf(
  observationSpace: Space,
  actionSpace: Space,
  seed: number,
): Episode {
  const random = testRandom(seed), steps = 1 + random.integer(5);
  const flags = new Uint8Array(steps), none = new Uint8Array(steps);
  flags[steps - 1] = 1;
  return {
    observations: valuesOf(observationSpace, steps + 1, random),
    actions: valuesOf(actionSpace, steps, random),
    rewards: Float64Array.from({ length: steps }, () => random.integer(9) / 4),
    terminations: seed % 2 ? flags : none,
    truncations: seed % 2 ? none : flags,
    ...actionSpace.type === "discrete" && {
      actionMasks: new Uint8Array((steps + 1) * actionSpace.n).fill(1),
    },
    ...seed % 3 === 0 && { seed: 2 ** 40 + seed },
  };
}

/** The same numbers in lists. */
const plain = (value: unknown): unknown =>
  ArrayBuffer.isView(value)
    ? [...value as Float32Array]
    : Array.isArray(value)
    ? value.map(plain)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([k, it]) => [k, plain(it)]))
    : value;

const KINDS = Object.keys(SPACES);
const ACTIONS = KINDS.filter((it) => it !== "image");

Deno.test("what is written is read, of all spaces, also what is appended", () =>
  withFolder((folder) => {
    let count = 0;
    return fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...KINDS),
        fc.constantFrom(...ACTIONS),
        fc.array(fc.nat(99), { minLength: 2, maxLength: 12 }),
        async (seen, taken, seeds) => {
          const observationSpace = SPACES[seen], actionSpace = SPACES[taken];
          const spaces = { observationSpace, actionSpace };
          const episodes = seeds
            .map((it) => episodeOf(observationSpace, actionSpace, it));
          const path = `${folder}/deep/${++count}`;
          await writeMinari(path, episodes.slice(0, 1), spaces);
          const rest = episodes.slice(1);
          await writeMinari(path, rest, { ...spaces, append: true });
          const read = await readMinari(path);
          assertEquals(read.observationSpace, observationSpace);
          assertEquals(read.actionSpace, actionSpace);
          assertEquals(read.episodes.map(plain), episodes.map(plain));
          const text = await Deno.readTextFile(`${path}/data/metadata.json`);
          const metadata = JSON.parse(text);
          assertEquals(metadata.total_episodes, episodes.length);
          const steps = episodes.reduce(
            (sum, it) => sum + it.rewards.length,
            0,
          );
          assertEquals(metadata.total_steps, steps);
        },
      ),
      { numRuns: 40 },
    );
  }));

Deno.test("spaces are read as they were written", () => {
  for (const space of Object.values(SPACES)) {
    assertEquals(fromMinariSpace(toMinariSpace(space)), space);
  }
});

Deno.test(
  "Python's minari reads the same numbers, spaces and ends, and appends to them [Python]",
  { ignore: python.missing !== undefined },
  () =>
    withFolder(async (folder) => {
      const script = `
import json, sys
import minari
import numpy as np
from minari.serialization import serialize_space

def plain(value):
    if isinstance(value, dict): return {k: plain(v) for k, v in value.items()}
    if isinstance(value, tuple): return [plain(v) for v in value]
    return np.asarray(value).ravel().tolist()

data = minari.MinariDataset(sys.argv[1])
seen = []
for episode in data:
    assert all(data.observation_space.contains(o) for o in (
        np.asarray(episode.observations) if isinstance(episode.observations, np.ndarray) else []))
    seen.append({
        "observations": plain(episode.observations),
        "actions": plain(episode.actions),
        "rewards": plain(episode.rewards),
        "terminations": plain(episode.terminations),
        "truncations": plain(episode.truncations),
        **({"actionMasks": plain(episode.infos["action_mask"])} if episode.infos else {}),
    })
seeds = [it.get("seed") for it in data.storage.get_episode_metadata(range(len(seen)))]
print(json.dumps({"episodes": seen, "seeds": seeds, "steps": int(data.total_steps),
    "spaces": [serialize_space(data.observation_space), serialize_space(data.action_space)]}))
from minari.data_collector import EpisodeBuffer
if len(sys.argv) > 2:
    data.storage.update_episodes([EpisodeBuffer(id=None, observations=np.zeros((2, 2, 1), np.float32),
        actions=np.array([3]), rewards=[0.5], terminations=[True], truncations=[False], infos={})])
`;
      for (const [kind, observationSpace] of Object.entries(SPACES)) {
        for (const actionSpace of [SPACES.discrete, SPACES.nested]) {
          const episodes = [0, 1, 2, 3]
            .map((it) => episodeOf(observationSpace, actionSpace, it));
          const path = `${folder}/${kind}-${actionSpace.type}`;
          const spaces = { observationSpace, actionSpace };
          await writeMinari(path, episodes, spaces);
          const { episodes: seen, seeds, steps, spaces: texts } =
            await runPython(python, script, `${path}/data`) as {
              episodes: unknown[];
              seeds: (number | null)[];
              steps: number;
              spaces: string[];
            };
          const wanted = episodes.map(({ seed: _, ...it }) =>
            plain(it)
          );
          assertEquals(seen, wanted);
          assertEquals(seeds, episodes.map(({ seed = null }) => seed));
          const total = episodes.reduce(
            (sum, it) => sum + it.rewards.length,
            0,
          );
          assertEquals(steps, total);
          assertEquals(texts.map(fromMinariSpace), [
            observationSpace,
            actionSpace,
          ]);
        }
      }
      await runPython(python, script, `${folder}/box-discrete/data`, "append");
      const { episodes } = await readMinari(`${folder}/box-discrete`);
      assertEquals(episodes.length, 5);
      assertEquals(plain(episodes[4].actions), [3]);
      assertEquals(plain(episodes[4].terminations), [1]);
    }),
);

const SPACE = { observationSpace: SPACES.box, actionSpace: SPACES.discrete };

Deno.test("a folder that exists is refused, and a failure leaves nothing", () =>
  withFolder(async (folder) => {
    const episode = episodeOf(SPACE.observationSpace, SPACE.actionSpace, 1);
    const wrong = { ...episode, rewards: [...Array.from(episode.rewards), 0] };
    const demo = `${folder}/demo`;
    await assertRejected({
      "RangeError: Cannot use episode 1: it has": () =>
        writeMinari(demo, [episode, wrong], SPACE),
      "RangeError: expected one or more": () => writeMinari(demo, [], SPACE),
      "TypeError: expected observationSpace and actionSpace": () =>
        writeMinari(demo, [episode], {} as typeof SPACE),
    });
    assertEquals([...Deno.readDirSync(folder)], []);
    await writeMinari(demo, [episode], SPACE);
    assertEquals([...Deno.readDirSync(folder)].map((it) => it.name), ["demo"]);
    const read = () => Deno.readFileSync(`${demo}/data/main_data.hdf5`);
    const before = read();
    await assertRejected({
      "Error: it exists, expected a new folder or append: true": () =>
        writeMinari(demo, [episode], SPACE),
      "RangeError: Cannot use episode 0: it has": () =>
        writeMinari(demo, [wrong], { ...SPACE, append: true }),
      "RangeError: its observations are a box of shape [2,1], expected a box of shape [3]":
        () =>
          writeMinari(demo, [episode], {
            ...SPACE,
            observationSpace: { ...box, shape: [3], low: 0 } as Space,
            append: true,
          }),
    });
    assertEquals(read(), before);
    const files = [...Deno.readDirSync(`${demo}/data`)].map((it) => it.name);
    assertEquals(files.sort(), ["main_data.hdf5", "metadata.json"]);
    const other = { ...SPACE, append: true, id: "mine/other-v3" };
    await writeMinari(`${folder}/new place`, [episode], other);
    const text = (name: string) =>
      Deno.readTextFileSync(`${folder}/${name}/data/metadata.json`);
    assertEquals(JSON.parse(text("new place")).dataset_id, "mine/other-v3");
    assertEquals(JSON.parse(text("demo")).dataset_id, "demo-v0");
  }));

Deno.test("of two that append at once one is refused, and nothing is lost", () =>
  withFolder(async (folder) => {
    const { observationSpace, actionSpace } = SPACE;
    const write = (count: number, append = true) => {
      const episode = episodeOf(observationSpace, actionSpace, 1);
      const options = { ...SPACE, append };
      return writeMinari(`${folder}/demo`, Array(count).fill(episode), options);
    };
    await write(3, false);
    const ends = await Promise.allSettled([write(2), write(4)]);
    const { numEpisodes } = await openDataset(`${folder}/demo`, { holdout: 0 });
    const kept = ends.map((it) => it.status === "fulfilled");
    assertEquals(numEpisodes, 3 + (kept[0] ? 2 : 0) + (kept[1] ? 4 : 0));
    const refused = ends.find((it) => it.status === "rejected");
    assert(/has changed meanwhile/.test(refused?.reason.message));
    assertEquals([...Deno.readDirSync(`${folder}/demo/data`)].length, 2);
  }));

Deno.test("episodes are added after the last number, of Python's files as well", () =>
  withFolder(async (folder) => {
    const space: Space = { type: "discrete", n: 3 }, demo = `${folder}/demo`;
    const spaces = { observationSpace: space, actionSpace: space };
    const flags = { terminations: [1], truncations: [0] };
    const episode = {
      observations: [0, 1],
      actions: [2],
      rewards: [5],
      ...flags,
    };
    await writeMinari(demo, [episode], spaces);
    const file = await openFile(`${demo}/data/main_data.hdf5`, "a") as File;
    // With a gap before it, no attributes, and something else at the top.
    const group = file.create_group("episode_2");
    for (const [name, values] of Object.entries(episode)) {
      group.create_dataset({ name, data: Float64Array.from(values) });
    }
    file.create_group("notes");
    file.close();
    await writeMinari(demo, [episode, episode], { ...spaces, append: true });
    const { numEpisodes } = await openDataset(demo, { holdout: 0 });
    const text = Deno.readTextFileSync(`${demo}/data/metadata.json`);
    const { total_episodes, total_steps } = JSON.parse(text);
    assertEquals([numEpisodes, total_episodes, total_steps], [4, 4, 4]);
  }));

Deno.test("parts whose names are paths, odd metadata and other shapes are one line", () =>
  withFolder(async (folder) => {
    const demo = `${folder}/demo`;
    const named = (name: string): Space => ({
      type: "dict",
      spaces: { [name]: { type: "discrete", n: 3 } },
    });
    const episode = {
      observations: { "we/ird": [0, 1] },
      actions: [0],
      rewards: [1],
      terminations: [1],
      truncations: [0],
    };
    const spaces = {
      observationSpace: named("we/ird"),
      actionSpace: { type: "discrete", n: 2 } as const,
    };
    await assertRejected({
      "RangeError: Cannot write the part 'we/ird' of a space: expected a name without '/'":
        () => writeMinari(demo, [episode], spaces),
    });
    const plain = { ...spaces, observationSpace: named("x") };
    await writeMinari(
      demo,
      [{ ...episode, observations: { x: [0, 1] } }],
      plain,
    );
    const metadata = `${demo}/data/metadata.json`;
    const before = await Deno.readTextFile(metadata);
    await Deno.writeTextFile(metadata, "{}");
    await assertRejected({
      "SyntaxError: its spaces are undefined, expected texts": () =>
        openDataset(demo),
    });
    await Deno.writeTextFile(metadata, before);
    const file = await openFile(`${demo}/data/main_data.hdf5`, "a") as File;
    const group = file.get("episode_0/observations") as Group;
    group.create_dataset({ name: "y", data: Int32Array.of(1), shape: [1, 1] });
    file.close();
    await assertRejected({
      "SyntaxError: Cannot read 'episode_0/observations/y' of shape [1,1]: expected 2 rows":
        () => openDataset(demo),
    });
  }));

Deno.test("data sets are opened by folder or file, and checked against spaces", () =>
  withFolder(async (folder) => {
    const demo = `${folder}/demo`, main = `${demo}/data/main_data.hdf5`;
    const episodes = [1, 2, 3]
      .map((it) => episodeOf(SPACE.observationSpace, SPACE.actionSpace, it));
    await writeMinari(demo, episodes, SPACE);
    const hashes = await Promise.all(
      [demo, `${demo}/data`, main, new URL(`file://${demo}`)]
        .map(async (it) => (await openDataset(it)).sha256),
    );
    assertEquals(new Set(hashes).size, 1);
    const { heldOut } = await openDataset(demo, { holdout: 0.4, seed: 1 });
    assertEquals(heldOut.episodes.length, 1);
    const observationSpace: Space = { ...box, shape: [17], low: -1 };
    const bare = `${folder}/bare`;
    await Deno.mkdir(bare);
    await Deno.writeTextFile(`${folder}/text.hdf5`, "no");
    const row = { data: Float32Array.of(1), shape: [1] };
    const rows = { observations: row, actions: row, rewards: row };
    await saveNpz({ ...rows, terminals: row }, `${folder}/log.npz`);
    await Deno.copyFile(
      `${demo}/data/metadata.json`,
      `${folder}/metadata.json`,
    );
    await assertRejected({
      "RangeError: its observations are a box of shape [2,1], expected a box of shape [17]":
        () => openDataset(demo, { observationSpace }),
      "RangeError: its actions are a discrete space from 2 to 5, expected a discrete space from 0 to 3":
        () => openDataset(demo, { actionSpace: { type: "discrete", n: 4 } }),
      "Error: none: Cannot hold out 0.9 of 3 episodes": () =>
        openDataset(demo, { holdout: 0.9 }).catch((error) => {
          assert(error.message.startsWith(`${demo}: Cannot hold out`));
          throw new Error(error.message.replace(demo, "none"));
        }),
      "Error: no such file or folder": () => openDataset(`${folder}/none`),
      "Error: expected data/main_data.hdf5 in it": () => openDataset(bare),
      "Error: text.hdf5' as HDF5: file signature not found": () =>
        openDataset(`${folder}/text.hdf5`),
      "TypeError: log.npz: Cannot use episodes without spaces": () =>
        openDataset(`${folder}/log.npz`),
    });
    await Deno.remove(`${demo}/data/metadata.json`);
    await assertRejected({
      "Error: expected metadata.json beside it": () => openDataset(demo),
    });
  }));
