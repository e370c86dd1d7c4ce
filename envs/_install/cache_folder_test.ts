import { assertEquals, assertThrows } from "@std/assert";
import { cacheFolder, installCommand, neededVariable } from "./cache_folder.ts";

const folderOn = (os: string, variables: Record<string, string>): string =>
  cacheFolder(os, (name) => variables[name]);

Deno.test("cacheFolder is the platform's", () => {
  assertEquals(
    folderOn("linux", { HOME: "/home/ada" }),
    "/home/ada/.cache/bellman",
  );
  assertEquals(
    folderOn("linux", { HOME: "/home/ada", XDG_CACHE_HOME: "/fast" }),
    "/fast/bellman",
  );
  assertEquals(
    folderOn("darwin", { HOME: "/Users/ada" }),
    "/Users/ada/Library/Caches/bellman",
  );
  assertEquals(
    folderOn("windows", { LOCALAPPDATA: "C:\\Local" }),
    "C:\\Local/bellman",
  );
});

Deno.test("cacheFolder is the one that BELLMAN_CACHE names", () => {
  const variables = { HOME: "/home/ada", BELLMAN_CACHE: "/mine" };
  assertEquals(folderOn("linux", variables), "/mine");
});

Deno.test("cacheFolder says what to set where nothing is known", () => {
  assertThrows(
    () => folderOn("windows", {}),
    Error,
    "as LOCALAPPDATA is not set",
  );
});

Deno.test({
  name: "cacheFolder says which permission it lacks",
  permissions: { env: ["HOME"] },
  fn: () => {
    assertEquals(typeof neededVariable("HOME"), "string");
    assertThrows(
      () => cacheFolder(),
      Deno.errors.NotCapable,
      "Cannot read the variable BELLMAN_CACHE: it needs the permission --allow-env=BELLMAN_CACHE",
    );
  },
});

Deno.test("in the repository the command is its task", () => {
  assertEquals(
    installCommand("atari"),
    "deno task install-atari --accept-license",
  );
});

Deno.test("loaded from JSR the command is that of the package", () => {
  assertEquals(
    installCommand(
      "mujoco",
      "https://jsr.io/@bellman/envs/1.0.0/_install/cache_folder.ts",
    ),
    "deno run -A jsr:@bellman/envs/mujoco/install --accept-license",
  );
});
