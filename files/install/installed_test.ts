import { assertEquals } from "@std/assert";
import {
  cacheFolder,
  findInstalled,
  installCommand,
  isFile,
  neededVariable,
} from "./installed.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

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
  assertRefused({
    "Error: as LOCALAPPDATA is not set": () => folderOn("windows", {}),
  });
});

Deno.test("cacheFolder says which permission it lacks", {
  permissions: { env: ["HOME"] },
}, () => {
  assertEquals(typeof neededVariable("HOME"), "string");
  assertRefused({
    "NotCapable: Cannot read the variable BELLMAN_CACHE: it needs the permission --allow-env=BELLMAN_CACHE":
      () => cacheFolder(),
  });
});

const INSTALL_TOYS = { task: "install-toys", module: "@bellman/toys/install" };

Deno.test("in the repository the command is its task", () => {
  assertEquals(
    installCommand(INSTALL_TOYS, "file:///toys"),
    "deno task install-toys --accept-license",
  );
});

Deno.test("loaded from JSR the command is that of the package", () => {
  assertEquals(
    installCommand(
      INSTALL_TOYS,
      "https://jsr.io/@bellman/files/1.0.0/install/installed.ts",
    ),
    "deno run -RWES --allow-run jsr:@bellman/toys/install --accept-license",
  );
});

Deno.test("isFile tells files from folders and from what is not there", () => {
  const file = new URL(import.meta.url).pathname;
  const paths = [file, `${file}/..`, `${file}.gone`];
  assertEquals(paths.map(isFile), [true, false, false]);
});

Deno.test("isFile says which permission it lacks", {
  permissions: { read: false },
}, () => {
  assertRefused({
    "NotCapable: Cannot look for '/some/file': it needs the permission --allow-read=/some/file":
      () => isFile("/some/file"),
  });
});

Deno.test("findInstalled takes the file that a variable names, or the installed one", () => {
  const cache = Deno.makeTempDirSync(), own = `${cache}/own.so`;
  const variables = { BELLMAN_CACHE: cache, BELLMAN_TOYS: "" };
  const before = Object.keys(variables).map((name) => Deno.env.get(name));
  const find = () => findInstalled("toy", "BELLMAN_TOYS", "toys/lib.so");
  try {
    for (const [name, value] of Object.entries(variables)) {
      Deno.env.set(name, value);
    }
    assertEquals(find(), undefined);
    Deno.mkdirSync(`${cache}/toys`);
    Deno.writeTextFileSync(`${cache}/toys/lib.so`, "");
    assertEquals(find(), `${cache}/toys/lib.so`);
    Deno.env.set("BELLMAN_TOYS", own);
    assertRefused({
      [`RangeError: Cannot find the toy '${own}' that BELLMAN_TOYS names`]:
        find,
    });
    Deno.writeTextFileSync(own, "");
    assertEquals(find(), own);
  } finally {
    for (const [i, name] of Object.keys(variables).entries()) {
      if (before[i] === undefined) Deno.env.delete(name);
      else Deno.env.set(name, before[i]);
    }
    Deno.removeSync(cache, { recursive: true });
  }
});
