import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { FieldArray, FieldDtype } from "../fields.ts";
import { withFolder } from "../testdata/with_folder.ts";
import { FileStorage, type FileStorageOptions } from "./file_storage.ts";
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

/** So little memory that everything is evicted. */
const tiny: FileStorageOptions = { cacheBytes: 200, blockBytes: 100 };

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
  | { kind: "flush" | "reopen" | "crash" };

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
  fc.record({ kind: fc.constantFrom("flush", "reopen", "crash") }),
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

Deno.test("any operations give what memory gives, and a crash what was flushed", () =>
  withFolder(async (root) => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { maxLength: 60, size: "max" }),
        async (operations) => {
          let folder = `${root}/${run++}`;
          await Deno.mkdir(folder);
          let storage = await FileStorage.open(`${folder}/x.rows`, tiny);
          let columns = columnsOf(storage);
          let memory = columnsOf(new MemoryStorage());
          let flushed = contents(memory);
          let flushes = 0;
          const goBack = async () => {
            storage.close();
            storage = await FileStorage.open(`${folder}/x.rows`, tiny);
            assertEquals(storage.state, flushes > 0 ? { flushes } : undefined);
            columns = columnsOf(storage);
            memory = columnsOf(new MemoryStorage());
            memory.forEach((column, i) => column.write(0, flushed[i]));
          };
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
            } else if (it.kind === "flush") {
              storage.flush({ flushes: ++flushes });
              flushed = contents(memory);
            } else {
              if (it.kind === "crash") {
                const next = `${root}/${run++}`;
                await copyFiles(folder, next);
                folder = next;
              }
              await goBack();
            }
          }
          assertEquals(contents(columns), contents(memory));
          await goBack();
          assertEquals(contents(columns), flushed);
          storage.close();
          await Deno.remove(folder, { recursive: true });
        },
      ),
      { numRuns: 60 },
    );
  }));

Deno.test("a process killed in the middle leaves the rows of its last flush", () =>
  withFolder(async (folder) => {
    const path = `${folder}/x.rows`;
    const script = new URL("../testdata/flush_forever.ts", import.meta.url);
    let last = 0;
    for (let kill = 0; kill < 4; kill++) {
      const child = new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "--no-check", "--no-prompt"],
          ...[`--allow-read=${folder}`, `--allow-write=${folder}`],
          ...[script.pathname, path],
        ],
      }).spawn();
      await untilOverwriting(folder, last + 2 + kill);
      child.kill("SIGKILL");
      await child.status;

      const storage = await FileStorage.open(path);
      const { round } = storage.state as { round: number };
      assert(round > last);
      last = round;
      const column = storage.allocate(
        { name: "x", dtype: "float64", size: 10 },
        storage.rows,
      );
      assertEquals(storage.rows, 3000);
      const all = new Float64Array(3000 * 10);
      for (let row = 0; row < 3000; row++) column.read(row, all, row * 10);
      assert(all.every((value) => value === round));
      storage.close();
      const names = await Array.fromAsync(
        Deno.readDir(folder),
        (it) => it.name,
      );
      assertEquals(names.sort(), ["x.rows", `x.rows.${round}.state`]);
    }
  }));

/** Waits until so many flushes are done and the next one's rows are being written. */
async function untilOverwriting(folder: string, flush: number): Promise<void> {
  for (;;) {
    const names = await Array.fromAsync(Deno.readDir(folder), (it) => it.name);
    const done = names.some((name) =>
      Number(/rows\.(\d+)\.state$/.exec(name)?.[1]) >= flush
    );
    if (done && names.includes("x.rows.undo")) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
