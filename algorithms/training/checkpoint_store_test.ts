import { assert, assertEquals, assertThrows } from "@std/assert";
import { saveStateSync } from "@bellman/files";
import { CheckpointStore } from "./checkpoint_store.ts";
import type { StateTree } from "@bellman/types";
import { runAndKill } from "./testdata/kill.ts";

const state = (value: number): StateTree => ({
  value,
  values: new Float32Array([value, value]),
});

function withStore(
  body: (store: CheckpointStore, dir: string) => void | Promise<void>,
): () => Promise<void> {
  return async () => {
    const dir = await Deno.makeTempDir();
    try {
      await body(new CheckpointStore(dir), dir);
    } finally {
      await Deno.remove(dir, { recursive: true });
    }
  };
}

const names = (dir: string) =>
  [...Deno.readDirSync(dir)].map(({ name }) => name).sort();

Deno.test(
  "a checkpoint is a file",
  withStore((store, dir) => {
    const info = store.save(12345, state(1));
    assertEquals(info, {
      step: 12345,
      path: `${dir}/step_000012345.safetensors`,
      best: false,
    });
    assertEquals(names(dir), ["step_000012345.safetensors"]);
    const { state: loaded, step, warnings } = store.load(12345);
    assertEquals({ loaded, step, warnings }, {
      loaded: state(1),
      step: 12345,
      warnings: [],
    });
  }),
);

Deno.test(
  "the last ones are kept, and the best apart",
  withStore((store, dir) => {
    store.save(10, state(10), { keepLast: 2 });
    store.save(10, state(10), { best: true });
    for (const step of [20, 30, 1_000_000_000]) {
      store.save(step, state(step), { keepLast: 2 });
    }
    const { checkpoints, best, warnings } = store.list();
    // That of the best one's step is its second copy.
    assertEquals(checkpoints.map(({ step }) => step), [10, 30, 1_000_000_000]);
    assertEquals(best, {
      step: 10,
      path: `${dir}/best.safetensors`,
      best: true,
    });
    assertEquals(warnings, []);
    assertEquals(store.load("best").state, state(10));
    assertEquals(store.load().step, 1_000_000_000);
    const newest = [...store.newest()].map(({ step }) => step);
    assertEquals(newest, [1_000_000_000, 30, 10]);
    store.save(30, state(30), { best: true });
    store.save(1_000_000_001, state(1), { keepLast: 2 });
    assertEquals(store.load("best").step, 30);
    assertEquals(names(dir), [
      "best.safetensors",
      "step_000000030.safetensors",
      "step_1000000000.safetensors",
      "step_1000000001.safetensors",
    ]);
  }),
);

Deno.test(
  "a step saved again replaces the former",
  withStore((store, dir) => {
    store.save(10, state(1));
    store.save(10, state(2));
    assertEquals(store.load(10).state, state(2));
    assertEquals(names(dir).length, 1);
    store.save(10, state(3));
    assertEquals(store.load(10).state, state(3));
    assertEquals(names(dir).length, 1);
  }),
);

Deno.test(
  "where no numbered one can be read, the best one is the latest",
  withStore((store, dir) => {
    store.save(10, state(10), { best: true, notes: { a: 1 } });
    const { warnings, ...only } = store.load();
    assertEquals([only.step, only.best, only.state], [10, true, state(10)]);
    assertEquals(warnings, []);
    assertEquals(store.notes(10), { a: 1 });
    store.save(5, state(5));
    assertEquals(store.load().step, 5);
    Deno.truncateSync(`${dir}/step_000000005.safetensors`, 9);
    assertEquals(store.load().step, 10);
    assertEquals(store.load().warnings.length, 1);
    const refuse = () => {
      throw new RangeError("it is of another run");
    };
    assertThrows(() => store.newest(refuse).next(), SyntaxError, "step_000000");
    store.save(5, state(5));
    assertThrows(() => store.newest(refuse).next(), SyntaxError, "another run");
    const steps = [...store.newest()].map(({ step }) => step);
    assertEquals(steps, [5, 10]); // that of step 5 may not be restored
  }),
);

Deno.test(
  "notes stand beside the state",
  withStore((store) => {
    const notes = { text: "seed: 1\n", rate: -0, list: [NaN, null] };
    store.save(10, state(1), { notes });
    store.save(20, state(2));
    assertEquals([store.notes(10), store.load(10).notes], [notes, notes]);
    assertEquals([store.notes(20), store.notes(30)], [{}, {}]);
    assertThrows(
      () => store.save(30, null, { notes: { a: [new Float32Array(1)] } }),
      TypeError,
      "Cannot save the array 'notes/a/0' among the notes: they are plain values",
    );
  }),
);

Deno.test(
  "what a process that died left behind is removed, foreign files stay",
  withStore((store, dir) => {
    for (
      const name of [
        "step_000000006.safetensors.tmp",
        "best.safetensors.2.tmp",
        "notes.safetensors",
      ]
    ) Deno.writeTextFileSync(`${dir}/${name}`, "");
    store.save(10, state(1));
    assertEquals(names(dir), [
      "notes.safetensors",
      "step_000000010.safetensors",
    ]);
  }),
);

const damages: [string, (file: string, other: string) => void, string][] = [
  ["cut", (file) => Deno.truncateSync(file, 390), "it has 390 bytes"],
  ["cut in the header", (file) => Deno.truncateSync(file, 20), "it is cut off"],
  [
    "another file",
    (file) => Deno.writeTextFileSync(file, "null".repeat(20)),
    "it does not start as a saved state does",
  ],
  [
    "another version",
    (file) => edit(file, "bellman-state 1", "bellman-state 2"),
    "its header does not have the hash it should",
  ],
  [
    "another step",
    (file) => edit(file, '\\"step\\":20', '\\"step\\":60'),
    "its header does not have the hash it should",
  ],
  [
    "a changed number of the state",
    (file) => edit(file, '\\"value\\":20', '\\"value\\":28'),
    "its header does not have the hash it should",
  ],
  [
    "another checkpoint",
    (file, other) => Deno.copyFileSync(other, file),
    "it is of step 10",
  ],
  [
    "another state",
    (file) => saveStateSync(state(20), file),
    "it holds another state",
  ],
  [
    "a folder in its place",
    (file) => {
      Deno.removeSync(file);
      Deno.mkdirSync(file);
    },
    "it is a folder",
  ],
];

/** Changes bytes that are text. */
function edit(file: string, from: string, to: string): void {
  const bytes = Deno.readFileSync(file);
  const text = [...bytes].map((byte) => String.fromCharCode(byte)).join("");
  assert(text.includes(from), text);
  const changed = text.replace(from, to);
  Deno.writeFileSync(file, Uint8Array.from(changed, (it) => it.charCodeAt(0)));
}

for (const [name, damage, message] of damages) {
  Deno.test(
    `a broken checkpoint is passed over with a warning: ${name}`,
    withStore((store, dir) => {
      store.save(10, state(10));
      store.save(20, state(20));
      const [other, file] = names(dir).map((name) => `${dir}/${name}`);
      damage(file, other);
      const { checkpoints, warnings } = store.list();
      assertEquals(checkpoints.map(({ step }) => step), [10]);
      assertEquals(warnings.length, 1);
      assert(warnings[0].includes(message), warnings[0]);
      assertEquals(warnings[0].split("\n").length, 1);
      const loaded = store.load("latest");
      assertEquals([loaded.step, loaded.warnings], [10, warnings]);
      assertThrows(() => store.load(20), SyntaxError, message);
    }),
  );
}

Deno.test(
  "no changed bit changes what is loaded",
  withStore((store, dir) => {
    store.save(10, state(10));
    store.save(20, { ...state(20) as Record<string, StateTree>, odd: NaN });
    const path = `${dir}/step_000000020.safetensors`;
    const bytes = Deno.readFileSync(path);
    for (let bit = 0; bit < 8 * bytes.length; bit += 7) {
      bytes[bit >> 3] ^= 1 << (bit & 7);
      Deno.writeFileSync(path, bytes);
      const { step, warnings } = store.load();
      assertEquals([step, warnings.length], [10, 1]);
      bytes[bit >> 3] ^= 1 << (bit & 7);
    }
  }),
);

Deno.test(
  "changed values are found by their hash",
  withStore((store, dir) => {
    store.save(10, state(10));
    store.save(20, state(20));
    const path = `${dir}/step_000000020.safetensors`;
    const bytes = Deno.readFileSync(path);
    bytes[bytes.length - 1] ^= 1;
    Deno.writeFileSync(path, bytes);
    const { step, warnings } = store.load();
    assertEquals([step, warnings.length], [10, 1]);
    assertThrows(
      () => store.load(20),
      SyntaxError,
      "step_000000020.safetensors: it does not have the hash it should",
    );
  }),
);

Deno.test(
  "truncating removes later checkpoints, not the best one",
  withStore((store, dir) => {
    for (const step of [10, 20, 30]) store.save(step, state(step));
    store.save(30, state(30), { best: true });
    store.truncate(20);
    assertEquals(store.list().checkpoints.map(({ step }) => step), [10, 20]);
    assertEquals(store.load("best").step, 30);
    assertEquals(names(dir).length, 3);
    // A process that was killed had not removed the older one yet.
    store.truncate(20, { keepLast: 1 });
    assertEquals(store.list().checkpoints.map(({ step }) => step), [20]);
  }),
);

Deno.test(
  "what is not there is said in one line",
  withStore((store, dir) => {
    assertThrows(
      () => store.load(),
      RangeError,
      `Cannot load a checkpoint: ${dir} has none`,
    );
    assertThrows(
      () => store.load("best"),
      RangeError,
      `Cannot load the best checkpoint: ${dir} has none`,
    );
    store.save(10, state(10));
    assertThrows(
      () => store.load(11),
      RangeError,
      `Cannot load the checkpoint of step 11: ${dir} has 10`,
    );
    assertThrows(() => store.save(1.5, null), RangeError, "at step 1.5");
  }),
);

Deno.test(
  "a writer killed at any moment leaves its last checkpoints whole",
  withStore(async (store, dir) => {
    for (let i = 0; i < 8; i++) {
      const { output } = await runAndKill(
        "save_process.ts",
        [dir],
        20 + 17 * i,
      );
      // The last line may be a part of a number.
      const reported = Number(output.split("\n").at(-2));
      const latest = store.load("latest");
      const best = store.load("best");
      assertEquals(store.list().warnings, []);
      for (const { step, state } of [latest, best]) {
        assert(step >= reported, `${step} after ${reported} was saved`);
        assertEquals(state, {
          step,
          values: new Float32Array(50_000).fill(step),
        });
      }
    }
  }),
);

Deno.test("an unknown option of a store is refused", () => {
  assertThrows(
    () => new CheckpointStore("runs", { bets: "a" } as { best?: string }),
    TypeError,
    "Unknown option 'bets' of a store of checkpoints: ",
  );
});
