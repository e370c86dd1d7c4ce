import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { loadBuffer, type SavableBuffer, saveBuffer } from "./buffer_file.ts";
import { PrioritizedReplayBuffer } from "./replay/prioritized_replay_buffer.ts";
import { ReplayBuffer } from "./replay/replay_buffer.ts";
import { RolloutBuffer } from "./rollout_buffer.ts";
import { SequenceReplayBuffer } from "./sequences/sequence_replay_buffer.ts";
import { testRandom } from "./testdata/random.ts";
import { withFolder } from "../tests/testdata/with_folder.ts";

function makeBuffer(steps: number, numSteps = 40): RolloutBuffer {
  const buffer = new RolloutBuffer({
    numEnvs: 2,
    numSteps,
    fields: {
      reward: { shape: [], dtype: "float64" },
      observation: { camera: { shape: [3, 2], dtype: "uint8" } },
    },
  });
  const random = testRandom(steps);
  for (let step = 0; step < steps; step++) {
    buffer.add({
      reward: [random.uniform(), -random.uniform()],
      observation: {
        camera: Array.from({ length: 12 }, () => random.integer(256)),
      },
    });
  }
  return buffer;
}

async function names(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  return entries.map((entry) => entry.name).sort();
}

Deno.test("a buffer continues from its file, which a newer save replaces", () =>
  withFolder(async (folder) => {
    const path = `${folder}/pool.buffer`;
    for (const steps of [7, 20]) {
      const buffer = makeBuffer(steps);
      await saveBuffer(buffer, path);
      const other = makeBuffer(1);
      await loadBuffer(other, new URL(`file://${path}`));
      assertEquals(other.save(), buffer.save());
      assertEquals(await names(folder), ["pool.buffer"]);
    }
  }));

Deno.test("a file that is cut at any of 200 places, or has another bit", () =>
  withFolder(async (folder) => {
    const path = `${folder}/pool.buffer`;
    const before = makeBuffer(3).save();
    await saveBuffer(makeBuffer(20), path);
    const whole = await Deno.readFile(path);

    const buffer = makeBuffer(3);
    const random = testRandom(1);
    for (let i = 0; i < 400; i++) {
      const other = whole.slice();
      const at = Math.floor((i % 200) / 200 * whole.length);
      other[at] ^= 1 << random.integer(8);
      const damaged = `${folder}/damaged.buffer`;
      await Deno.writeFile(damaged, i < 200 ? whole.slice(0, at) : other);
      const error = await assertRejects(
        () => loadBuffer(buffer, damaged),
        SyntaxError,
        `Cannot load '${damaged}': it`,
      );
      assertMatch(error.message, /^.+$/);
      assertEquals(buffer.save(), before);
    }
    await loadBuffer(buffer, path);
    assertEquals(buffer.save(), makeBuffer(20).save());
  }));

Deno.test("a save that dies after any of 200 bytes leaves the file before it", () =>
  withFolder(async (folder) => {
    const path = `${folder}/pool.buffer`;
    await saveBuffer(makeBuffer(20), `${folder}/newer.buffer`);
    const newer = await Deno.readFile(`${folder}/newer.buffer`);
    await saveBuffer(makeBuffer(3), path);
    for (let i = 0; i < 200; i++) {
      // What a killed save leaves: its temporary file, which ends anywhere.
      const length = Math.floor(i / 200 * newer.length);
      await Deno.writeFile(`${path}.tmp`, newer.slice(0, length));
      const buffer = makeBuffer(0);
      await loadBuffer(buffer, path);
      assertEquals(buffer.length, 3);
    }
  }));

Deno.test("a process killed in the middle of a save leaves the file before it", () =>
  withFolder(async (folder) => {
    const path = `${folder}/pool.buffer`;
    const script = new URL("testdata/save_forever.ts", import.meta.url);
    const bytes = 8 * (4 << 20);
    let last = 0;
    for (const share of [0.1, 0.5, 0.9]) {
      const child = new Deno.Command(Deno.execPath(), {
        args: ["run", "--no-check", "-A", script.pathname, path],
      }).spawn();
      await untilSaving(folder, share * bytes);
      child.kill("SIGKILL");
      await child.status;
      const loaded = await loadNumbers(path);
      assertEquals(loaded.length, bytes / 8);
      assert(loaded[0] >= 1 && loaded.every((n) => n === loaded[0]));
      last = Math.max(last, loaded[0]);
      assert(last >= 1);
    }
  }));

/** Waits until a complete file is there and so many bytes of the next one. */
async function untilSaving(folder: string, bytes: number): Promise<void> {
  for (;;) {
    const all = await names(folder);
    const temporary = all.find((name) => name.endsWith(".tmp"));
    if (all.includes("pool.buffer") && temporary !== undefined) {
      const { size } = await Deno.stat(`${folder}/${temporary}`)
        .catch(() => ({ size: 0 }));
      if (size >= bytes) return;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

async function loadNumbers(path: string): Promise<Float64Array> {
  let numbers = new Float64Array();
  await loadBuffer({
    save: () => ({ numbers }),
    load: (state) => void (numbers = state.numbers),
  }, path);
  return numbers;
}

Deno.test("the folder's own permissions are enough", () =>
  withFolder(async (folder) => {
    const script = new URL("testdata/save_and_load.ts", import.meta.url);
    const { success, stdout, stderr } = await new Deno.Command(
      Deno.execPath(),
      {
        args: [
          ...["run", "--no-check", "--no-prompt"],
          ...[`--allow-read=${folder}`, `--allow-write=${folder}`],
          ...[script.pathname, `${folder}/pool.buffer`],
        ],
      },
    ).output();
    const decoder = new TextDecoder();
    assert(success, decoder.decode(stderr));
    assertEquals(decoder.decode(stdout), "42");
  }));

Deno.test("a save that fails leaves the file before it, and nothing beside it", () =>
  withFolder(async (folder) => {
    const path = `${folder}/pool.buffer`;
    await saveBuffer(makeBuffer(3), path);
    const bad = { save: () => ({ x: new Map() }), load() {} };
    await assertRejects(
      () => saveBuffer(bad, path),
      TypeError,
      "Cannot save 'x' of type Map",
    );
    await Deno.mkdir(`${folder}/taken`);
    await assertRejects(() => saveBuffer(makeBuffer(4), `${folder}/taken`));
    await assertRejects(() => saveBuffer(makeBuffer(4), `${folder}/no/pool`));
    assertEquals(await names(folder), ["pool.buffer", "taken"]);
    const buffer = makeBuffer(0);
    await loadBuffer(buffer, path);
    assertEquals(buffer.length, 3);
  }));

Deno.test("what is saved is the buffer at the call, also of saves that overlap", () =>
  withFolder(async (folder) => {
    const buffer = makeBuffer(0);
    const saves: Promise<void>[] = [];
    for (let steps = 0; steps < 5; steps++) {
      saves.push(saveBuffer(buffer, `${folder}/${steps}`));
      saves.push(saveBuffer(buffer, `${folder}/same`));
      buffer.add({
        reward: [1, 2],
        observation: { camera: Array(12).fill(3) },
      });
    }
    await Promise.all(saves);
    for (let steps = 0; steps < 5; steps++) {
      const other = makeBuffer(0);
      await loadBuffer(other, `${folder}/${steps}`);
      assertEquals(other.length, steps);
    }
    await loadBuffer(makeBuffer(0), `${folder}/same`);
    assertEquals(await names(folder), ["0", "1", "2", "3", "4", "same"]);
  }));

Deno.test("another buffer's file is named and changes nothing", () =>
  withFolder(async (folder) => {
    const path = `${folder}/pool.buffer`;
    await saveBuffer(makeBuffer(30), path);
    const small = makeBuffer(2, 10);
    await assertRejects(
      () => loadBuffer(small, path),
      RangeError,
      `Cannot load 30 steps into a buffer of 10 (from '${path}')`,
    );
    await saveBuffer({ save: () => ({ x: 1 }), load() {} }, path);
    await assertRejects(() => loadBuffer(small, path), TypeError, "(from '");
    await assertRejects(
      () => loadBuffer(small, `${path}.none`),
      Error,
      "ENOENT",
    );
    assertEquals(small.save(), makeBuffer(2, 10).save());
  }));

const transition = {
  observation: { shape: [2], dtype: "float32" },
  reward: { shape: [], dtype: "float32" },
  terminated: { shape: [], dtype: "uint8" },
  truncated: { shape: [], dtype: "uint8" },
} as const;

const options = {
  capacity: 8,
  fields: transition,
  episodes: { next: { nextObservation: "observation" } },
} as const;

/** Buffers of each kind, empty and with rows. */
const kinds: Record<string, (steps: number) => SavableBuffer<unknown>> = {
  replay: (steps) => addSteps(new ReplayBuffer(options), steps),
  prioritized: (steps) => addSteps(new PrioritizedReplayBuffer(options), steps),
  sequence: (steps) => {
    const buffer = new SequenceReplayBuffer({
      capacity: 6,
      numSteps: 2,
      fields: { x: { shape: [], dtype: "int32" } },
      extraSteps: { x: 1 },
    });
    for (let step = 0; step < steps; step++) {
      buffer.add({ x: [step, step + 1, step + 2] });
    }
    return buffer;
  },
};

function addSteps<Buffer extends ReplayBuffer>(
  buffer: Buffer,
  steps: number,
): Buffer {
  for (let step = 0; step < steps; step++) {
    buffer.add({
      observation: [step, -step],
      nextObservation: [step + 1, -step - 1],
      reward: [step / 8],
      terminated: [step % 5 === 4 ? 1 : 0],
      truncated: [0],
    });
  }
  return buffer;
}

for (const [kind, make] of Object.entries(kinds)) {
  Deno.test(`a ${kind} buffer comes back, and damage leaves it as it was`, () =>
    withFolder(async (folder) => {
      const path = `${folder}/pool.buffer`;
      for (const copy of [true, false]) {
        const buffer = make(11);
        await saveBuffer(buffer, path, { copy });
        const other = make(2);
        await loadBuffer(other, path);
        assertEquals(other.save(), buffer.save());
      }
      const whole = await Deno.readFile(path);
      const buffer = make(3);
      const before = buffer.save();
      for (let at = 0; at < whole.length; at += 1 + (whole.length >> 5)) {
        await Deno.writeFile(path, whole.subarray(0, at));
        await assertRejects(() => loadBuffer(buffer, path), SyntaxError);
        const damaged = whole.slice();
        damaged[at] ^= 1;
        await Deno.writeFile(path, damaged);
        await assertRejects(() => loadBuffer(buffer, path), SyntaxError);
        assertEquals(buffer.save(), before);
      }
    }));
}
