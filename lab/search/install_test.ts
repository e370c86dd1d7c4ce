import {
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { existsSync } from "node:fs";
import { installOptuna } from "./install.ts";
import { OPTUNA_VERSION } from "./optuna.ts";

/** Runs `act` with a Python of a script, whose environments have the other one. */
async function withPython(
  scripts: { python: string; pip: string },
  act: (folder: string, python: string) => Promise<void>,
): Promise<void> {
  const dir = await Deno.makeTempDir();
  const write = (name: string, text: string) =>
    Deno.writeTextFile(`${dir}/${name}`, `#!/bin/sh\n${text}\n`, {
      mode: 0o755,
    });
  try {
    await write("pip", scripts.pip);
    await write("python", scripts.python.replaceAll("DIR", dir));
    await act(`${dir}/cache/optuna`, `${dir}/python`);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

const VENV = 'mkdir -p "$3/bin" && cp DIR/pip "$3/bin/python3"';
const ignore = Deno.build.os === "windows";

Deno.test({
  name: "Optuna is installed once, with pinned versions and hashes",
  ignore,
  fn: () =>
    withPython({
      python: VENV,
      pip: 'echo "$@" > "$(dirname "$0")/../asked"',
    }, async (folder, python) => {
      assertEquals(await installOptuna(folder, python), true);
      assertEquals(
        await installOptuna(folder, `${python}-that-is-gone`),
        false,
      );
      const asked = await Deno.readTextFile(`${folder}/asked`);
      assertMatch(asked, /--require-hashes -r \S+\n$/);
      const pinned = await Deno.readTextFile(`${folder}/installed.txt`);
      assertStringIncludes(pinned, `\noptuna==${OPTUNA_VERSION} \\\n`);
      // Nothing without a version and hashes of 256 bits.
      const lines = pinned.split("\n").filter((it) => !it.startsWith("#"));
      for (
        const it of lines.join("\n").replaceAll("\\\n", "").trim().split("\n")
      ) {
        assertMatch(
          it,
          /^[\w-]+==[\w.]+( ; [^;]+)?( +--hash=sha256:[0-9a-f]{64})+$/,
        );
      }
      // Another version is replaced.
      await Deno.writeTextFile(`${folder}/installed.txt`, "optuna==4.0.0\n");
      assertEquals(await installOptuna(folder, python), true);
    }),
});

Deno.test({
  name: "what cannot be installed is told, and leaves what was there",
  ignore,
  async fn() {
    await withPython({
      python: VENV,
      pip: "echo some; echo 'ERROR: No matching distribution' >&2; exit 1",
    }, async (folder, python) => {
      await Deno.mkdir(folder, { recursive: true });
      await Deno.writeTextFile(`${folder}/mine`, "");
      await assertRejects(
        () => installOptuna(folder, python),
        Error,
        "/python3 ended with 1: ERROR: No matching distribution",
      );
      assertEquals(existsSync(`${folder}/mine`), true);
      assertEquals(existsSync(`${folder}.new`), false);
      await assertRejects(
        () => installOptuna(folder, `${python}-that-is-gone`),
        Error,
        "cannot be run",
      );
    });
  },
});
