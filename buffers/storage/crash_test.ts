import { assert, assertEquals } from "@std/assert";
import { loadState } from "@bellman/files";
import fc from "fast-check";
import type { FieldArray, FieldDtype } from "../fields.ts";
import { withFolder } from "../../tests/testdata/with_folder.ts";
import {
  FileStorage,
  type FileStorageOptions,
  type FileStorageState,
} from "./file_storage.ts";
import { MemoryStorage } from "./memory_storage.ts";
import type { Column, ColumnSpec, Storage } from "./storage.ts";

const specs = [
  { name: "flag", dtype: "uint8", size: 3 },
  { name: "position", dtype: "float64", size: 1 },
  { name: "camera.left", dtype: "float32", size: 2 },
  { name: "action", dtype: "int32", size: 1 },
] as const satisfies ColumnSpec[];

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  uint8: Uint8Array,
} satisfies Record<FieldDtype, unknown>;

const ROWS = 50;

/** So little memory that everything is evicted: blocks of four rows of 24 bytes. */
const tiny: FileStorageOptions = { cacheBytes: 200, blockBytes: 100, saves: 3 };

function columnsOf(storage: Storage): Column[] {
  return specs.map((spec) => storage.allocate(spec, ROWS));
}

/** All numbers of all columns. */
function contents(columns: readonly Column[]): FieldArray[] {
  return columns.map((column, i) => {
    const { dtype, size } = specs[i];
    const all = new ARRAYS[dtype](ROWS * size);
    for (let row = 0; row < ROWS; row++) column.read(row, all, row * size);
    return all;
  });
}

type Operation =
  | { kind: "write"; column: number; row: number; values: number[] }
  | { kind: "read"; column: number; row: number }
  | { kind: "save" }
  | { kind: "reopen" | "crash"; back: number };

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      column: fc.nat(specs.length - 1),
      row: fc.nat(ROWS - 1),
      values: fc.array(fc.nat(255), { minLength: 1, maxLength: 30 }),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant("read" as const),
      column: fc.nat(specs.length - 1),
      row: fc.nat(ROWS - 1),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: "save" as const }) },
  fc.record({ kind: fc.constantFrom("reopen", "crash"), back: fc.nat(2) }),
);

/** Values of whole rows that do not go over the end. */
function rowsOf(
  { column, row, values }: Operation & { kind: "write" },
): number[] {
  const { size } = specs[column];
  const whole = Math.max(size, Math.floor(values.length / size) * size);
  const padded = Array.from({ length: whole }, (_, i) => values[i] ?? 7);
  return padded.slice(0, (ROWS - row) * size);
}

/** Copies a storage's files: what a process that dies now leaves behind. */
async function copyFiles(from: string, to: string): Promise<void> {
  await Deno.mkdir(to);
  for await (const { name } of Deno.readDir(from)) {
    await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}

/** A save, and the numbers of that time. */
interface Saved {
  readonly state: FileStorageState;
  readonly numbers: FieldArray[];
}

Deno.test("any operations give what memory gives, and a crash any of the last saves", () =>
  withFolder(async (root) => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { maxLength: 60, size: "max" }),
        async (operations) => {
          let folder = `${root}/${run++}`;
          await Deno.mkdir(folder);
          let storage = FileStorage.open(`${folder}/x.rows`, tiny);
          let columns = columnsOf(storage);
          let memory = columnsOf(new MemoryStorage());
          /** The newest ones, the last one first. */
          let saves: Saved[] = [];
          const save = () => {
            const state = structuredClone(storage.save());
            saves = [{ state, numbers: contents(memory) }, ...saves]
              .slice(0, tiny.saves);
          };
          const goBack = (to: Saved) => {
            storage.close();
            storage = FileStorage.open(`${folder}/x.rows`, tiny);
            columns = columnsOf(storage);
            storage.check(to.state);
            storage.load(to.state);
            // The file is told which others may still be loaded.
            storage.keep(saves.map(({ state }) => state));
            memory = columnsOf(new MemoryStorage());
            memory.forEach((column, i) => column.write(0, to.numbers[i]));
          };
          save();
          for (const it of operations) {
            if (it.kind === "write") {
              const values = rowsOf(it);
              columns[it.column].write(it.row, values);
              memory[it.column].write(it.row, values);
            } else if (it.kind === "read") {
              const { dtype, size } = specs[it.column];
              const [a, b] = [columns, memory].map((some) => {
                const into = new ARRAYS[dtype](size + 2);
                some[it.column].read(it.row, into, 1);
                return into;
              });
              assertEquals(a, b);
            } else if (it.kind === "save") save();
            else {
              if (it.kind === "crash") {
                const next = `${root}/${run++}`;
                await copyFiles(folder, next);
                folder = next;
              }
              goBack(saves[it.back % saves.length]);
            }
          }
          assertEquals(contents(columns), contents(memory));
          for (const to of saves) {
            goBack(to);
            assertEquals(contents(columns), to.numbers);
          }
          storage.close();
          await Deno.remove(folder, { recursive: true });
        },
      ),
      { numRuns: 60 },
    );
  }));

Deno.test("a process killed in the middle leaves the rows of its last save", () =>
  withFolder(async (folder) => {
    const path = `${folder}/x.rows`;
    const script = new URL("../testdata/save_rows_forever.ts", import.meta.url);
    let last = 0;
    for (let kill = 0; kill < 4; kill++) {
      const child = new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "--no-check", "--no-prompt"],
          ...[`--allow-read=${folder}`, `--allow-write=${folder}`],
          ...[script.pathname, path],
        ],
      }).spawn();
      await untilSaved(`${path}.state`, last + 2 + kill);
      child.kill("SIGKILL");
      await child.status;

      const { round, rows } = await loadState(`${path}.state`) as {
        round: number;
        rows: FileStorageState;
      };
      assert(round > last);
      last = round;
      const storage = FileStorage.open(path);
      const column = storage.allocate(
        { name: "x", dtype: "float64", size: 10 },
        3000,
      );
      storage.check(rows);
      storage.load(rows);
      const all = new Float64Array(3000 * 10);
      for (let row = 0; row < 3000; row++) column.read(row, all, row * 10);
      assert(all.every((value) => value === round));
      storage.close();
    }
  }));

/** Waits until so many saves are done; rows of the next one are written then. */
async function untilSaved(path: string, round: number): Promise<void> {
  for (;;) {
    try {
      const state = await loadState(path) as { round: number };
      if (state.round >= round) return;
    } catch (error) {
      if ((error as { code?: string }).code !== "ENOENT") throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
