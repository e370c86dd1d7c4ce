import {
  assertEquals,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import type { CStruct } from "./c_struct.ts";
import { newArguments, problemOfApi, XlaError, XlaPlugin } from "./plugin.ts";
import { findPlugin } from "./install/installed.ts";
import { test } from "./testdata/programs.ts";

const CHILD = new URL("testdata/child.ts", import.meta.url).pathname;

/** Runs a child until it ends by itself. */
async function child(
  name: string,
  options: { flags?: string[]; env?: Record<string, string> } = {},
) {
  const { flags = ["-A"], env = {} } = options;
  const { code, signal, stdout, stderr } = await new Deno.Command(
    Deno.execPath(),
    {
      args: ["run", "-q", "--no-check", "--no-prompt", ...flags, CHILD, name],
      env: { NO_COLOR: "1", ...env },
    },
  ).output();
  const [out, error] = [stdout, stderr].map((it) =>
    new TextDecoder().decode(it).trim()
  );
  return { code, signal, out, error };
}

/** Ends of a process that printed a line and nothing else. */
const clean = (out: string) => ({ code: 0, signal: null, out, error: "" });

for (const name of ["leaves", "closes"]) {
  // Without RTLD_NODELETE it ends by SIGSEGV.
  test(`a process that ${name} a client ends clean`, async () =>
    assertEquals(await child(name), clean("2 2 2 2")));
}

test("a process in which a program failed ends clean", async () => {
  const { out, ...rest } = await child("fails");
  assertEquals(rest, { code: 0, signal: null, error: "" });
  assertStringIncludes(out, "Cannot read the program's signature");
});

test("what was forgotten is freed, and what is in use stays", async () => {
  const flags = ["-A", "--v8-flags=--expose-gc"];
  assertEquals(await child("forgets", { flags }), clean("2 2 2 2"));
});

test("a call keeps its program, its buffers and its client", async () => {
  const flags = ["-A", "--v8-flags=--expose-gc"];
  assertEquals(await child("keeps", { flags }), clean("6 6 6 6"));
});

test("a permission for the plugin's path alone is not enough", async () => {
  const plugin = findPlugin("cpu");
  const flags = [`--allow-ffi=${plugin}`, "--allow-read", "--allow-env"];
  assertEquals(
    await child("opens", { flags }),
    clean(
      `NotCapable: Cannot load the XLA plugin '${plugin}': it needs the permission --allow-ffi, without a path`,
    ),
  );
});

Deno.test("without a plugin one line says what to do", async () => {
  const BELLMAN_CACHE = await Deno.makeTempDir();
  const env = { BELLMAN_CACHE, BELLMAN_XLA_PLUGIN: "" };
  assertEquals(
    await child("opens", { env }),
    clean(
      "RangeError: Cannot find an XLA plugin for cpu: run 'deno task install-xla --accept-license', or set BELLMAN_XLA_PLUGIN to one",
    ),
  );
  assertEquals([...Deno.readDirSync(BELLMAN_CACHE)], []);
  await Deno.remove(BELLMAN_CACHE);
});

Deno.test("a file that is no plugin is refused in one line [Linux]", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  const text = await Deno.makeTempFile({ suffix: ".so" });
  await Deno.writeTextFile(text, "no library");
  const gone = `${text}.gone`;
  const cases = [
    [text, `Cannot load the XLA plugin '${text}': file too short`],
    [
      gone,
      `Cannot find the XLA plugin '${gone}' that BELLMAN_XLA_PLUGIN names`,
    ],
    [
      libm(),
      `Cannot load the XLA plugin '${libm()}': expected a PJRT plugin, which has a function GetPjrtApi`,
    ],
  ];
  for (const [path, message] of cases) {
    const env = { BELLMAN_XLA_PLUGIN: path };
    assertEquals(
      await child("opens", { env }),
      clean(`RangeError: ${message}`),
    );
  }
  await Deno.remove(text);
});

/** A library that every Linux has and that is no plugin. */
function libm(): string {
  const folders = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"].flatMap((
    it,
  ) => [it, `${it}/${Deno.build.arch}-linux-gnu`]);
  return folders.map((it) => `${it}/libm.so.6`).find((it) => {
    try {
      return Deno.statSync(it).isFile;
    } catch {
      return false;
    }
  })!;
}

test("arguments of fewer bytes than the plugin's are refused, more are taken", () => {
  const plugin = XlaPlugin.open(findPlugin("cpu"));
  // An event of address 0 is none.
  const call = (args: CStruct) =>
    plugin.call("PJRT_Event_Destroy", args, "free an event");
  call(newArguments());
  const error = assertThrows(() => call(newArguments().set(0, 8)), XlaError);
  assertEquals(error.code, "INVALID_ARGUMENT");
  assertMatch(error.words, /expected \d+.*\b8\b/);
});

Deno.test("plugins of an older or another API are refused", () => {
  const sizes = [1144, 24];
  assertEquals(problemOfApi(0, 81, [984, 24]), undefined);
  assertEquals(problemOfApi(0, 200, [2000, 24]), undefined);
  for (const [major, minor] of [[0, 80], [0, 0], [1, 115]]) {
    assertEquals(
      problemOfApi(major, minor, sizes),
      `it has PJRT API ${major}.${minor}, expected 0.81 or newer`,
    );
  }
  for (const wrong of [[808, 24], [1144, 32]]) {
    assertEquals(
      problemOfApi(0, 115, wrong),
      `its API's table has ${wrong[0]} bytes (${
        wrong[1]
      } of the version), expected 816 or more (24)`,
    );
  }
});
