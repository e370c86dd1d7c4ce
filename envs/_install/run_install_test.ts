import { assertEquals } from "@std/assert";
import { runInstall } from "./run_install.ts";
import {
  inFolder,
  RecordedOutput,
  TOY_WHEEL,
  toyInstallation,
  wheelOf,
} from "./_testing.ts";

const WHEEL = wheelOf({ "toy_box/lib.so": "machine code", "toy_box/x.py": "" });

interface Install {
  code: number;
  output: RecordedOutput;
}

/** A folder with the wheel in it, and a task that installs it beside. */
async function withToys(
  run: (toys: {
    folder: string;
    dir: string;
    wheel: string;
    install(...args: string[]): Promise<Install>;
  }) => Promise<void>,
): Promise<void> {
  await inFolder(async (folder) => {
    const [dir, wheel] = [`${folder}/cache/toys`, `${folder}/${TOY_WHEEL}`];
    await Deno.writeFile(wheel, WHEEL);
    const installation = toyInstallation(WHEEL, dir);
    const install = async (...args: string[]): Promise<Install> => {
      const output = new RecordedOutput();
      return { code: await runInstall(installation, args, output), output };
    };
    await run({ folder, dir, wheel, install });
  });
}

async function entries(dir: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(dir)) names.push(name);
  return names.sort();
}

Deno.test("runInstall installs nothing before the licences are accepted", () =>
  withToys(async ({ folder, wheel, install }) => {
    const { code, output } = await install("--wheel", wheel);
    assertEquals(code, 2);
    assertEquals(output.lines, [
      "toy-box 1.0: toys, under no licence",
      "Toys are for playing.",
    ]);
    assertEquals(output.errors, [
      "Cannot install Toys: accept the licences above with --accept-license",
    ]);
    assertEquals(await entries(folder), [TOY_WHEEL]);
  }));

Deno.test("runInstall takes the wanted files and the licence", () =>
  withToys(async ({ dir, wheel, install }) => {
    const { code, output } = await install(
      "--wheel",
      wheel,
      "--accept-license",
    );
    assertEquals([code, output.errors], [0, []]);
    assertEquals(output.lines.at(-1), `toys ${dir}`);
    assertEquals(await entries(dir), ["installed.json", "lib.so", "licenses"]);
    assertEquals(await Deno.readTextFile(`${dir}/lib.so`), "machine code");
    assertEquals(
      await Deno.readTextFile(`${dir}/licenses/toy-box/LICENSE`),
      "Do as you like.",
    );
    assertEquals(await entries(`${dir}/..`), ["toys"]);
  }));

Deno.test("runInstall does nothing the second time", () =>
  withToys(async ({ dir, wheel, install }) => {
    await install("--wheel", wheel, "--accept-license");
    await Deno.writeTextFile(`${dir}/kept`, "");
    const { code, output } = await install();
    assertEquals([code, output.lines], [0, [`toys ${dir}`]]);
    assertEquals((await entries(dir)).includes("kept"), true);
  }));

Deno.test("runInstall installs again what lacks a file", () =>
  withToys(async ({ dir, wheel, install }) => {
    await install("--wheel", wheel, "--accept-license");
    await Deno.remove(`${dir}/lib.so`);
    assertEquals((await install()).code, 2);
    await install("--wheel", wheel, "--accept-license");
    assertEquals((await entries(dir)).includes("lib.so"), true);
  }));

Deno.test("runInstall installs into the folder that is asked for", () =>
  withToys(async ({ folder, wheel, install }) => {
    const there = `${folder}/there`;
    await Deno.mkdir(there);
    const args = ["--wheel", wheel, "--accept-license", "--dir", there];
    assertEquals((await install(...args)).output.lines.at(-1), `toys ${there}`);
    assertEquals((await entries(there)).includes("lib.so"), true);
  }));

Deno.test("runInstall replaces no folder of someone else", () =>
  withToys(async ({ folder, wheel, install }) => {
    const args = ["--wheel", wheel, "--accept-license", "--dir", folder];
    const { code, output } = await install(...args);
    assertEquals(code, 1);
    assertEquals(output.errors, [
      `Cannot install Toys: '${folder}' holds other files: give an empty or new folder with --dir`,
    ]);
    assertEquals(await entries(folder), [TOY_WHEEL]);
  }));

Deno.test("runInstall refuses wheels of another kind and leaves nothing", () =>
  withToys(async ({ folder, dir, wheel, install }) => {
    const other = wheelOf({ "toy_box/lib.so": "other code" });
    const wrong: [
      name: string,
      bytes: Uint8Array,
      args: string[],
      message: string,
    ][] = [
      [TOY_WHEEL, other, [], "which is none of toy-box 1.0's"],
      [TOY_WHEEL, wheelOf({}), ["--allow-other-version"], "holds no lib.so"],
      [
        TOY_WHEEL,
        Uint8Array.of(1, 2),
        ["--allow-other-version"],
        "cannot unzip",
      ],
      ["numpy-2.0-py3-none-any.whl", other, [], "is no wheel of toy-box"],
      ["toy_box-1.0.tar.gz", other, [], "is no wheel of toy-box"],
    ];
    await install("--wheel", wheel, "--accept-license");
    for (const [name, bytes, args, message] of wrong) {
      await Deno.writeFile(`${folder}/${name}`, bytes);
      const { code, output } = await install(
        ...["--accept-license", "--wheel", `${folder}/${name}`, ...args],
      );
      assertEquals([code, output.errors.length], [1, 1]);
      assertEquals(output.errors[0].includes(message), true, output.errors[0]);
      assertEquals(output.errors[0].includes("\n"), false);
      assertEquals(await Deno.readTextFile(`${dir}/lib.so`), "machine code");
      assertEquals(await entries(`${dir}/..`), ["toys"]);
    }
  }));

Deno.test("runInstall takes another version where that is allowed", () =>
  withToys(async ({ dir, wheel, install }) => {
    await Deno.writeFile(wheel, wheelOf({ "toy_box/lib.so": "other code" }));
    const args = [
      "--wheel",
      wheel,
      "--allow-other-version",
      "--accept-license",
    ];
    assertEquals((await install(...args)).code, 0);
    assertEquals(await Deno.readTextFile(`${dir}/lib.so`), "other code");
  }));

Deno.test("runInstall says which file cannot be read", () =>
  withToys(async ({ folder, install }) => {
    const gone = `${folder}/gone/${TOY_WHEEL}`;
    const { output } = await install("--wheel", gone, "--accept-license");
    assertEquals(output.errors, [
      `Cannot install Toys: cannot read the wheel '${gone}'`,
    ]);
  }));
