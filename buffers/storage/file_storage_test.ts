import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { withFolder } from "../testdata/with_folder.ts";
import { crc32 } from "./row_file.ts";
import { FileStorage } from "./file_storage.ts";
import type { Column, ColumnSpec, Storage } from "./storage.ts";

const specs = [
  { name: "flag", dtype: "uint8", size: 3 },
  { name: "position", dtype: "float64", size: 1 },
  { name: "camera.left", dtype: "float32", size: 2 },
  { name: "action", dtype: "int32", size: 1 },
] as const satisfies ColumnSpec[];

const ROWS = 50;

function columnsOf(storage: Storage): Column[] {
  return specs.map((spec) => storage.allocate(spec, ROWS));
}

Deno.test("a file of other columns is refused and stays", () =>
  withFolder(async (folder) => {
    const path = `${folder}/x.rows`;
    const storage = await FileStorage.open(new URL(`file://${path}`));
    columnsOf(storage)[1].write(2, [0.5]);
    storage.flush();
    storage.close();

    const again = await FileStorage.open(path);
    assertThrows(
      () => again.allocate({ name: "flag", dtype: "uint8", size: 4 }, ROWS),
      TypeError,
      `Cannot store 'flag' of 4 uint8 in '${path}': it holds 'flag' of 3 uint8 there`,
    );
    const [first] = specs.slice(0, 2).map((spec) => again.allocate(spec, ROWS));
    assertThrows(
      () => first.read(0, new Uint8Array(3), 0),
      TypeError,
      `Cannot use '${path}' for 2 columns: expected 4`,
    );
    specs.slice(2).forEach((spec) => again.allocate(spec, ROWS));
    const last: ColumnSpec = { name: "more", dtype: "int32", size: 1 };
    assertThrows(
      () => again.allocate(last, ROWS),
      TypeError,
      `Cannot store 'more' of 1 int32 in '${path}': it holds only 4 columns there`,
    );
    first.read(0, new Uint8Array(3), 0);
    assertThrows(
      () => again.allocate(last, ROWS),
      TypeError,
      `Cannot store 'more' in '${path}' for another buffer: expected a storage of its own`,
    );
    again.close();

    const position = columnsOf(await FileStorage.open(path))[1];
    const into = new Float64Array(1);
    position.read(2, into, 0);
    assertEquals(into[0], 0.5);
    position.close!();
  }));

Deno.test("what is no such file, or a damaged one, is refused and stays", () =>
  withFolder(async (folder) => {
    const path = `${folder}/x.rows`;
    const storage = await FileStorage.open(path);
    columnsOf(storage)[3].write(0, [1, 2, 3]);
    storage.flush({ length: 3 });
    storage.close();
    const whole = await Deno.readFile(path);
    const refused = async (
      change: (bytes: Uint8Array) => Uint8Array,
      errorClass: ErrorConstructor,
      message: string,
    ) => {
      const bytes = change(whole.slice());
      await Deno.writeFile(path, bytes);
      await assertRejects(() => FileStorage.open(path), errorClass, message);
      assertEquals(await Deno.readFile(path), bytes);
    };
    const at = (place: number) => (bytes: Uint8Array) => {
      bytes[place] ^= 4;
      return bytes;
    };
    const start = `Cannot open '${path}': `;
    await refused(
      () => new Uint8Array(5000),
      SyntaxError,
      `${start}it does not start as a file of rows does`,
    );
    await refused(
      (bytes) => bytes.slice(0, 3000),
      SyntaxError,
      `${start}it is cut off after 3000 bytes`,
    );
    await refused(
      (bytes) => bytes.slice(0, 8193), // in its first record
      SyntaxError,
      `${start}it is cut off after 8193 bytes`,
    );
    for (const place of [12, 16, 4096, 4130]) {
      await refused(at(place), SyntaxError, start);
    }
    await refused(
      (bytes) => at(515)(at(1030)(bytes)),
      SyntaxError,
      `${start}both records of what was flushed are damaged`,
    );
    await refused(
      (bytes) => {
        bytes[8] = 3;
        const length = new DataView(bytes.buffer).getUint32(12, true);
        const crc = crc32(
          bytes.subarray(4096, 4096 + length),
          crc32(bytes.subarray(0, 16)),
        );
        new DataView(bytes.buffer).setUint32(16, crc, true);
        return bytes;
      },
      RangeError,
      `${start}its format is version 3, expected 2`,
    );
    await Deno.writeFile(path, whole);
    await Deno.writeFile(`${path}.1.state`, new Uint8Array(3));
    await assertRejects(
      () => FileStorage.open(path),
      SyntaxError,
      `Cannot load '${path}.1.state': it is cut off after 3 bytes`,
    );
  }));

Deno.test("a storage that cannot be used says so", () =>
  withFolder(async (folder) => {
    const path = `${folder}/x.rows`;
    await assertRejects(
      () => FileStorage.open(path, { cacheBytes: 0 }),
      RangeError,
      "Cannot open a file with cacheBytes 0: expected a whole number above 0",
    );
    await assertRejects(() => FileStorage.open(`${folder}/no/x`), Error);
    const storage = await FileStorage.open(path);
    assertThrows(
      () => storage.flush(),
      TypeError,
      `Cannot use '${path}' for 0 columns: expected 1`,
    );
    const [flag] = columnsOf(storage);
    flag.write(0, [1, 2, 3]);
    assert(flag.byteLength > 0);
    storage.close();
    storage.close();
    assertThrows(
      () => flag.write(0, [1, 2, 3]),
      TypeError,
      `Cannot use '${path}' after it was closed: expected it open`,
    );
    assertEquals((await FileStorage.open(path)).rows, 0);
  }));
