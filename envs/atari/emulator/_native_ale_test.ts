import { assertEquals, assertThrows } from "@std/assert";
import { aleLibrary } from "./_native_ale.ts";
import { Ale } from "./ale.ts";
import { isAtariInstalled, libraryPath } from "./installed.ts";
import { testsWith } from "../../../tests/testdata/tests_with.ts";

const test = testsWith("ALE", isAtariInstalled());

function withVariable(name: string, value: string, run: () => void): void {
  const before = Deno.env.get(name);
  Deno.env.set(name, value);
  try {
    run();
  } finally {
    if (before === undefined) Deno.env.delete(name);
    else Deno.env.set(name, before);
  }
}

const oneLine = (error: Error): void =>
  assertEquals(error.message.includes("\n"), false);

Deno.test("aleLibrary says how to get a library that is absent", () =>
  withVariable("BELLMAN_ALE_LIBRARY", "/nowhere/libale_c.so", () => {
    const message =
      "at '/nowhere/libale_c.so': run 'deno task install-atari --accept-license', or set BELLMAN_ALE_LIBRARY";
    oneLine(assertThrows(aleLibrary, Error, message));
    assertEquals(isAtariInstalled(), false);
  }));

Deno.test("aleLibrary refuses a file that is no library", async () => {
  const file = await Deno.makeTempFile();
  await Deno.writeTextFile(file, "no library");
  try {
    withVariable("BELLMAN_ALE_LIBRARY", file, () => {
      const message = "Cannot open the Arcade Learning Environment";
      oneLine(assertThrows(aleLibrary, Error, message));
    });
  } finally {
    await Deno.remove(file);
  }
});

test("aleLibrary opens a library of the present folder by its bare name", async () => {
  const before = Deno.cwd(), folder = await Deno.makeTempDir();
  await Deno.copyFile(libraryPath(), `${folder}/libown.so`);
  Deno.chdir(folder);
  try {
    withVariable("BELLMAN_ALE_LIBRARY", "libown.so", () => {
      assertEquals(libraryPath(), `${Deno.cwd()}/libown.so`);
      aleLibrary();
    });
  } finally {
    Deno.chdir(before);
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("aleLibrary says which permission it lacks", {
  permissions: { env: false, read: true },
}, () => {
  const message = "needs the permission --allow-env=BELLMAN_ALE_LIBRARY";
  oneLine(assertThrows(aleLibrary, Deno.errors.NotCapable, message));
  assertEquals(isAtariInstalled(), false);
});

Deno.test("aleLibrary says which folder it may not read", {
  permissions: { env: true, read: false },
}, () =>
  withVariable("BELLMAN_ALE_LIBRARY", "/some/libale_c.so", () => {
    const message = "needs the permission --allow-read=/some/libale_c.so";
    oneLine(assertThrows(aleLibrary, Deno.errors.NotCapable, message));
    assertEquals(isAtariInstalled(), false);
  }));

Deno.test("the library lies in the cache folder", () =>
  withVariable("BELLMAN_CACHE", "/some/cache", () => {
    if (Deno.env.has("BELLMAN_ALE_LIBRARY")) return;
    assertEquals(libraryPath().startsWith("/some/cache/atari/libale_c"), true);
  }));

test("Ale takes ROMs from where BELLMAN_ROMS says", () =>
  withVariable("BELLMAN_ROMS", "/nowhere", () => {
    const message = "find the ROM '/nowhere/pong.bin'";
    oneLine(assertThrows(() => new Ale("pong"), Error, message));
  }));

test("a ROM that is gone when an emulator is seeded is an error", () => {
  using ale = new Ale("pong");
  withVariable("BELLMAN_ROMS", "/nowhere", () => {
    assertThrows(() => ale.reload(1), Error, "find the ROM");
  });
  ale.reload(1);
  assertEquals(ale.episodeFrameNumber, 0);
});
