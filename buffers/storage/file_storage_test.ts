import { assert, assertEquals, assertThrows } from "@std/assert";
import type { StateTree } from "@bellman/types";
import { withFolder } from "../../tests/testdata/with_folder.ts";
import { testRandom } from "../testdata/random.ts";
import {
  FileStorage,
  type FileStorageState,
  LostRowsError,
} from "./file_storage.ts";
import type { Column, ColumnSpec, Storage } from "./storage.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

const specs = [
  { name: "flag", dtype: "uint8", size: 3 },
  { name: "position", dtype: "float64", size: 1 },
  { name: "camera.left", dtype: "float32", size: 2 },
  { name: "action", dtype: "int32", size: 1 },
] as const satisfies ColumnSpec[];

const ROWS = 50;
/** Blocks of three rows of 24 bytes, two of them in memory. */
const tiny = { blockBytes: 80, cacheBytes: 160 };

function columnsOf(storage: Storage): Column[] {
  return specs.map((spec) => storage.allocate(spec, ROWS));
}

/** A file whose column of positions is filled with one number. */
function filled(path: string, value: number, options = tiny) {
  const storage = FileStorage.open(path, options);
  const [, position] = columnsOf(storage);
  position.write(0, new Float64Array(ROWS).fill(value));
  return { storage, position };
}

function read(column: Column): Float64Array {
  const all = new Float64Array(ROWS);
  for (let row = 0; row < ROWS; row++) column.read(row, all, row);
  return all;
}

Deno.test("rows of other columns are refused, and the file stays", () =>
  withFolder((folder) => {
    const path = `${folder}/x.rows`;
    const { storage } = filled(path, 0.5);
    const state = storage.save();
    storage.close();
    const bytes = Deno.readFileSync(path);

    const other = FileStorage.open(new URL(`file://${path}`));
    other.allocate({ name: "flag", dtype: "uint8", size: 4 }, ROWS);
    assertRefused({
      [`LostRowsError: into '${path}': expected [{"name":"flag","dtype":"uint8","size":4}]`]:
        () => other.check(state),
    });
    other.close();
    assertEquals(Deno.readFileSync(path), bytes);

    const again = FileStorage.open(path);
    const [, position] = columnsOf(again);
    assertRefused({
      [`TypeError: Cannot add rows to '${path}', which has some: expected their state to be loaded first, or clear()`]:
        () => position.write(0, [1]),
      "LostRowsError: Cannot load rows of a file from something else: expected what save() gave":
        () => again.check({ ...state, places: null }),
      "LostRowsError: something else": () => again.check(undefined),
    });
    again.check(state);
    again.load(state);
    assertEquals(read(position), new Float64Array(ROWS).fill(0.5));
    assertRefused({
      [`TypeError: Cannot store 'flag' in '${path}' for another buffer: expected a storage of its own`]:
        () => again.allocate(specs[0], ROWS),
    });
    again.clear();
    assertEquals(read(position), new Float64Array(ROWS));
    position.write(7, [1]);
    again.check(state); // The rows of a save stay.
    again.close();
  }));

Deno.test("what is no file of rows is refused and stays", () =>
  withFolder((folder) => {
    const text = `${folder}/text`, link = `${folder}/link`;
    Deno.writeTextFileSync(text, "alias ls=ls\n");
    Deno.symlinkSync(text, link);
    const empty = FileStorage.open(`${folder}/empty`);
    columnsOf(empty);
    const nothing = empty.save();
    empty.close();
    for (const path of [link, folder]) {
      assertRefused({
        [`SyntaxError: Cannot open ${path}: it is a`]: () =>
          FileStorage.open(path),
      });
    }
    const storage = FileStorage.open(text);
    const [flag] = columnsOf(storage);
    const message = `'${text}': it does not start as a file of rows does`;
    assertThrows(() => flag.write(0, [1, 2, 3]), SyntaxError, message);
    assertThrows(() => storage.check(nothing), LostRowsError, message);
    storage.clear();
    assertThrows(() => flag.write(0, [1, 2, 3]), SyntaxError, message);
    storage.close();
    assertEquals(Deno.readTextFileSync(text), "alias ls=ls\n");
  }));

Deno.test("a check takes no memory for rows that are kept of the file", () =>
  withFolder((folder) => {
    const path = `${folder}/x.rows`;
    const { storage } = filled(path, 0.5);
    const state = storage.save();
    storage.close();
    // More than there is: what makes the memory throws.
    const cacheBytes = Number.MAX_SAFE_INTEGER;
    const checking = FileStorage.open(path, { cacheBytes });
    columnsOf(checking);
    checking.check(state);
    assertThrows(() => checking.load(state), RangeError);
    checking.close();
  }));

Deno.test("a storage that cannot be used says so", () =>
  withFolder((folder) => {
    const path = `${folder}/x.rows`;
    for (const name of ["cacheBytes", "blockBytes", "saves"]) {
      assertRefused({
        [`RangeError: Cannot open a file with ${name} 0: expected a whole number above 0`]:
          () => FileStorage.open(path, { [name]: 0 }),
      });
    }
    assertThrows(() => FileStorage.open(`${folder}/no/x`), Error);
    const storage = FileStorage.open(path);
    assertThrows(() => storage.save(), TypeError, "for no columns");
    const [flag] = columnsOf(storage);
    flag.write(0, [1, 2, 3]);
    assert(flag.byteLength > 0);
    storage.close();
    storage.close();
    assertRefused({
      [`TypeError: Cannot use '${path}' after it was closed: expected it open`]:
        () => flag.write(0, [1, 2, 3]),
    });
  }));

/** Damages of a file of rows, by name. */
const damages: Record<string, (path: string, place: number) => void> = {
  "a changed bit": (path, place) => {
    const bytes = Deno.readFileSync(path);
    bytes[place] ^= 1 << (place % 8);
    Deno.writeFileSync(path, bytes);
  },
  "a cut": (path, place) => Deno.truncateSync(path, place),
  "zeros": (path, place) => {
    const bytes = Deno.readFileSync(path);
    bytes.fill(0, place, place + 512);
    Deno.writeFileSync(path, bytes);
  },
  "another file": (path) => {
    const other = filled(`${path}.other`, 7);
    other.storage.save();
    other.storage.close();
    Deno.renameSync(`${path}.other`, path);
  },
  "no file": (path) => Deno.removeSync(path),
};

for (const [name, damage] of Object.entries(damages)) {
  Deno.test(`rows are never read from ${name}`, () =>
    withFolder((folder) => {
      const path = `${folder}/x.rows`, kept = `${folder}/kept`;
      const { storage, position } = filled(path, 0.5);
      const state = storage.save();
      Deno.copyFileSync(path, kept);
      const size = Deno.statSync(path).size, random = testRandom(3);
      const expected = read(position);
      for (let i = 0; i < 40; i++) {
        const place = 4096 + random.integer(size - 4096);
        // Where it changes rows while the file is open, and before it is opened.
        damage(path, place);
        if (name !== "another file" && name !== "no file") {
          assertThrows(() => read(position), SyntaxError, "Cannot read rows");
        }
        const again = FileStorage.open(path, tiny);
        columnsOf(again);
        assertThrows(() => again.check(state), LostRowsError, `of '${path}'`);
        again.close();
        Deno.writeFileSync(path, Deno.readFileSync(kept));
        assertEquals(read(position), expected);
      }
      storage.close();
    }));
}

Deno.test("rows that are whole are loaded, whatever became of the file's start", () =>
  withFolder((folder) => {
    const path = `${folder}/x.rows`;
    const { storage } = filled(path, 0.5);
    const state = storage.save();
    storage.close();
    const whole = Deno.readFileSync(path), bytes = whole.slice();
    Deno.writeFileSync(path, bytes.fill(0, 0, 4096));
    assertEquals(rowsOf(path, state), new Float64Array(ROWS).fill(0.5));
    assertEquals(Deno.readFileSync(path), whole);
  }));

/** Rows of a state, in a file that is opened for them. */
function rowsOf(path: string, state: StateTree): Float64Array {
  const storage = FileStorage.open(path, tiny);
  const [, position] = columnsOf(storage);
  try {
    storage.check(state);
    storage.load(state);
    return read(position);
  } finally {
    storage.close();
  }
}

Deno.test("rows of a save stay while its state may be loaded, and no longer", () =>
  withFolder((folder) => {
    const path = `${folder}/x.rows`;
    const { storage, position } = filled(path, 0);
    const states: FileStorageState[] = [storage.save()];
    const size = Deno.statSync(path).size;
    for (let value = 1; value < 20; value++) {
      position.write(0, new Float64Array(ROWS).fill(value));
      states.push(storage.save());
      // The first one, and the newest two.
      if (value === 3) storage.keep([states[1], states[3]]);
      if (value === 10) storage.keep([states[1]]);
    }
    position.write(0, new Float64Array(ROWS).fill(-1)); // not saved
    const found = states.map((state, value) => {
      try {
        assertEquals(rowsOf(path, state), new Float64Array(ROWS).fill(value));
        return true;
      } catch (error) {
        assert(error instanceof SyntaxError, String(error));
        return false;
      }
    });
    // Others are gone, but for those whose places nothing has needed since.
    assertEquals([1, 18, 19].map((value) => found[value]), [true, true, true]);
    assert(found.filter((it) => it).length <= 4, String(found));
    // Two that were named, two newest and the present rows at most.
    assert(Deno.statSync(path).size <= 5 * size);
    storage.close();

    // Another process: saves that it is told of stay as well.
    const again = FileStorage.open(path, tiny);
    const [, column] = columnsOf(again);
    again.check(states[18]);
    again.load(states[18]);
    again.keep([states[1], states[18]]);
    for (let value = 30; value < 40; value++) {
      column.write(0, new Float64Array(ROWS).fill(value));
      again.save();
    }
    again.close();
    for (const value of [1, 18]) {
      const expected = new Float64Array(ROWS).fill(value);
      assertEquals(rowsOf(path, states[value]), expected);
    }
    assertThrows(() => rowsOf(path, states[19]), SyntaxError);
  }));
