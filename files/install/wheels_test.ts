import { assertEquals } from "@std/assert";
import { downloadWheel, wheelFor } from "./wheels.ts";
import {
  inFolder,
  TOY_WHEEL,
  toyPackage,
  wheelOf,
  withoutWheel,
} from "./testdata/toys.ts";
import { assertRejected } from "../../tests/testdata/refused.ts";

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

Deno.test("wheelFor knows the tags that wheels of a platform have", () => {
  const platforms = {
    "manylinux_2_27_x86_64.manylinux_2_28_x86_64": "linux-x86_64",
    "manylinux_2_28_aarch64": "linux-aarch64",
    "musllinux_1_2_x86_64": "linux-x86_64",
    "macosx_11_0_arm64": "darwin-aarch64",
    "macosx_10_9_x86_64": "darwin-x86_64",
    "win_amd64": "windows-x86_64",
    "win_arm64": "windows-aarch64",
  };
  const wheelOn = (tags: string, on: string, isNative: boolean) =>
    wheelFor({ wheels: { [`a-1-cp312-cp312-${tags}.whl`]: "" }, isNative }, on);
  for (const tags of Object.keys(platforms)) {
    const fitting = new Set(Object.values(platforms)).values()
      .filter((on) => wheelOn(tags, on, true) !== undefined);
    assertEquals([...fitting], [platforms[tags as keyof typeof platforms]]);
    assertEquals(wheelOn(tags, "plan9-mips", true), undefined);
    assertEquals(typeof wheelOn(tags, "plan9-mips", false), "string");
  }
  for (const on of Object.values(platforms)) {
    assertEquals(typeof wheelOn("any", on, true), "string");
    assertEquals(wheelOn("win32", on, true), undefined);
  }
});

const test = (name: string, run: () => Promise<void>) =>
  Deno.test(name, { ignore: Deno.build.os === "windows" }, run);

test("downloadWheel asks pip for the pinned wheel", () =>
  withPython('echo "$*" > "${0%/*}/asked"', async (folder) => {
    const path = await downloadWheel(TOY, folder);
    assertEquals(path, `${folder}/${TOY_WHEEL}`);
    const asked = await Deno.readTextFile(`${folder}/asked`);
    assertEquals(
      asked.trim(),
      "-m pip download --quiet --no-deps --disable-pip-version-check " +
        "--only-binary :all: --implementation cp --abi cp311 " +
        "--python-version 311 --platform manylinux_2_28_x86_64 " +
        `--dest ${folder} toy-box==1.0`,
    );
  }));

test("downloadWheel tells pip's failure in one line", () =>
  withPython(
    'echo "WARNING: slow" >&2; echo "ERROR: no such thing" >&2; exit 1',
    (folder) =>
      assertRejected({
        "Error: pip cannot download toy-box 1.0: ERROR: no such thing": () =>
          downloadWheel(TOY, folder),
      }),
  ));

test("downloadWheel says what to do without Python", () =>
  withPython(undefined, (folder) =>
    assertRejected({
      "Error: give wheels with --wheel": () => downloadWheel(TOY, folder),
    })));

Deno.test("downloadWheel says what to do where no wheel fits", () =>
  assertRejected({
    [`Error: for ${Deno.build.os}-${Deno.build.arch}: set BELLMAN_TOYS`]: () =>
      downloadWheel(withoutWheel(TOY), "/nowhere"),
  }));
