import { assertEquals, assertRejects } from "@std/assert";
import { downloadWheel } from "./wheels.ts";
import { InstallError } from "./pinned_package.ts";
import {
  inFolder,
  TOY_WHEEL,
  toyPackage,
  wheelOf,
  withoutWheel,
} from "./testdata/toys.ts";

const TOY = toyPackage(wheelOf({}));

/** Runs with a `python3` that is this shell script. */
async function withPython(
  script: string | undefined,
  run: (folder: string) => Promise<void>,
): Promise<void> {
  const before = Deno.env.get("PATH")!;
  await inFolder(async (folder) => {
    if (script !== undefined) {
      await Deno.writeTextFile(`${folder}/python3`, `#!/bin/sh\n${script}\n`);
      await Deno.chmod(`${folder}/python3`, 0o755);
    }
    Deno.env.set("PATH", folder);
    try {
      await run(folder);
    } finally {
      Deno.env.set("PATH", before);
    }
  });
}

const ignore = Deno.build.os === "windows";

Deno.test({
  name: "downloadWheel asks pip for the pinned wheel and its hash",
  ignore,
  fn: () =>
    withPython('echo "$*" > "${0%/*}/asked"', async (folder) => {
      const path = await downloadWheel(TOY, folder);
      assertEquals(path, `${folder}/${TOY_WHEEL}`);
      const asked = await Deno.readTextFile(`${folder}/asked`);
      assertEquals(
        asked.trim(),
        "-m pip download --quiet --no-deps --disable-pip-version-check " +
          "--require-hashes --only-binary :all: --implementation cp " +
          "--python-version 311 --abi cp311 --platform manylinux_2_28_x86_64 " +
          `--dest ${folder} --requirement ${folder}/toy-box.txt`,
      );
      const requirements = await Deno.readTextFile(`${folder}/toy-box.txt`);
      const hash = TOY.wheels[TOY_WHEEL];
      assertEquals(requirements, `toy-box==1.0 --hash=sha256:${hash}\n`);
    }),
});

Deno.test({
  name: "downloadWheel tells pip's failure in one line",
  ignore,
  fn: () =>
    withPython(
      'echo "WARNING: slow" >&2; echo "ERROR: no such thing" >&2; exit 1',
      async (folder) => {
        await assertRejects(
          () => downloadWheel(TOY, folder),
          InstallError,
          "pip cannot download toy-box 1.0: ERROR: no such thing",
        );
      },
    ),
});

Deno.test({
  name: "downloadWheel says what to do without Python",
  ignore,
  fn: () =>
    withPython(undefined, async (folder) => {
      await assertRejects(
        () => downloadWheel(TOY, folder),
        InstallError,
        "give wheels with --wheel PATH",
      );
    }),
});

Deno.test("downloadWheel says what to do where no wheel fits", async () => {
  const none = withoutWheel(TOY);
  await assertRejects(
    () => downloadWheel(none, "/nowhere"),
    InstallError,
    `for ${Deno.build.os}-${Deno.build.arch}: set BELLMAN_TOYS`,
  );
});
