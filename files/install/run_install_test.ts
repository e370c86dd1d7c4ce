import { assertEquals } from "@std/assert";
import { type Installation, runInstall } from "./run_install.ts";
import { platform } from "./wheels.ts";
import {
  entries,
  pinned,
  RecordedOutput,
  TOY_WHEEL,
  toyInstallation,
  toyPackage,
  WHEEL,
  wheelOf,
  withoutWheel,
  withToys,
} from "./testdata/toys.ts";

Deno.test("runInstall refuses options that it does not know or that lack a value", () =>
  withToys(async ({ folder, install }) => {
    const usage =
      ", usage: install-toys [--accept-license] [--wheel PATH ...] [--dir DIR]";
    const refused: Record<string, string[]> = {
      "Unknown option '--accept-licence'": ["--accept-licence"],
      "Option '--wheel <value>' argument missing": ["--wheel"],
      "Option '--wheel' argument is ambiguous.": ["--wheel", "--help"],
      "--dir lacks its path": ["--dir="],
      "--wheel lacks its path": ["--wheel", "a.whl", "--wheel="],
      "Option '--accept-license' does not take an argument": [
        "--accept-license=no",
      ],
      "Unexpected argument 'toys'. This command does not take positional arguments":
        ["toys"],
    };
    for (const [message, args] of Object.entries(refused)) {
      const { code, output } = await install(...args);
      assertEquals([code, output.lines], [2, []]);
      assertEquals(output.errors, [`Cannot install Toys: ${message}${usage}`]);
    }
    assertEquals(await entries(folder), [TOY_WHEEL]);
  }));

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
    assertEquals(output.lines.at(-1), `toys ${dir}/lib.so`);
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
    assertEquals([code, output.lines], [0, [`toys ${dir}/lib.so`]]);
    assertEquals((await entries(dir)).includes("kept"), true);
  }));

Deno.test("runInstall installs into the folder that is asked for", () =>
  withToys(async ({ folder, wheel, install }) => {
    const there = `${folder}/there`;
    await Deno.mkdir(there);
    const args = ["--wheel", wheel, "--accept-license", "--dir", there];
    assertEquals((await install(...args)).output.lines.slice(-2), [
      `toys ${there}/lib.so`,
      `To use them, set BELLMAN_TOYS=${there}/lib.so`,
    ]);
    assertEquals((await entries(there)).includes("lib.so"), true);
  }));

Deno.test("runInstall replaces no folder of someone else", () =>
  withToys(async ({ folder, wheel, install }) => {
    const args = ["--wheel", wheel, "--accept-license", "--dir", folder];
    const { code, output } = await install(...args);
    assertEquals(code, 2);
    assertEquals(output.errors, [
      `Cannot install Toys: '${folder}' holds other files: give an empty or new folder with --dir`,
    ]);
    assertEquals(await entries(folder), [TOY_WHEEL]);
  }));

Deno.test("runInstall refuses wheels of another kind and leaves nothing", () =>
  withToys(async ({ dir, wheel, install }) => {
    const other = wheelOf({ "toy_box/lib.so": "other code" });
    await install("--wheel", wheel, "--accept-license");
    for (const bytes of [other, wheelOf({}), Uint8Array.of(1, 2)]) {
      await Deno.writeFile(wheel, bytes);
      const { code, output } = await install(
        ...["--accept-license", "--wheel", wheel],
      );
      const [sha256] = Object.values(pinned(TOY_WHEEL, bytes));
      assertEquals([code, output.errors], [2, [
        `Cannot install Toys: '${wheel}' has the SHA-256 ${sha256}, which is that of no wheel of toy-box 1.0`,
      ]]);
      assertEquals(await Deno.readTextFile(`${dir}/lib.so`), "machine code");
      assertEquals(await entries(`${dir}/..`), ["toys"]);
    }
  }));

Deno.test("runInstall says which file cannot be read", () =>
  withToys(async ({ folder, install }) => {
    const gone = `${folder}/gone/${TOY_WHEEL}`;
    const { code, output } = await install("--wheel", gone, "--accept-license");
    assertEquals(code, 2);
    assertEquals(output.errors, [
      `Cannot install Toys: cannot read the wheel '${gone}'`,
    ]);
    assertEquals(await entries(folder), [TOY_WHEEL]);
  }));

/** A wheel for any platform, and one for a platform that no test runs on. */
const OWN_WHEEL = "toy_box-1.0-py3-none-any.whl";
const FOREIGN_WHEEL = "toy_box-1.0-cp311-cp311-win_arm64.whl";
const FOREIGN = wheelOf({ "toy_box/lib.so": "foreign code" });

/** Toys that are known in both. */
function toysOfPlatforms(dir: string, isNative: boolean): Installation {
  const wheels = {
    ...pinned(OWN_WHEEL, WHEEL),
    ...pinned(FOREIGN_WHEEL, FOREIGN),
  };
  return {
    ...toyInstallation(WHEEL, dir),
    packages: [{ ...toyPackage(WHEEL), wheels, isNative }],
  };
}

Deno.test("runInstall refuses machine code of another platform", () =>
  withToys(async ({ folder, dir, wheel }) => {
    const foreign = `${folder}/${FOREIGN_WHEEL}`;
    const renamed = `${folder}/${OWN_WHEEL}`;
    for (const it of [foreign, renamed]) await Deno.writeFile(it, FOREIGN);
    const install = async (isNative: boolean, ...args: string[]) => {
      const output = new RecordedOutput();
      const all = ["--accept-license", "--wheel", ...args];
      const code = await runInstall(
        toysOfPlatforms(dir, isNative),
        all,
        output,
      );
      return [code, ...output.errors];
    };
    const refusal = (name: string) => [
      2,
      `Cannot install Toys: '${name}' is for another platform, expected one for ${platform()}`,
    ];
    assertEquals(await install(true, wheel), [0]);
    assertEquals(await install(true, foreign), refusal(foreign));
    assertEquals(await install(true, renamed), refusal(renamed));
    assertEquals(await Deno.readTextFile(`${dir}/lib.so`), "machine code");
    assertEquals(await install(false, foreign), [0]);
    assertEquals(await Deno.readTextFile(`${dir}/lib.so`), "foreign code");
  }));

Deno.test("runInstall does not take another platform's for installed", () =>
  withToys(async ({ folder, dir }) => {
    // As it may be where machines of two kinds share a cache.
    const foreign = `${folder}/${FOREIGN_WHEEL}`;
    await Deno.writeFile(foreign, FOREIGN);
    const install = (isNative: boolean, ...args: string[]) =>
      runInstall(toysOfPlatforms(dir, isNative), args, new RecordedOutput());
    assertEquals(
      await install(false, "--wheel", foreign, "--accept-license"),
      0,
    );
    assertEquals([await install(false), await install(true)], [0, 2]);
  }));

Deno.test("runInstall leaves no file where it fails", () =>
  withToys(async ({ folder, dir }) => {
    const toys = toyInstallation(WHEEL, dir);
    const packages = toys.packages.map(withoutWheel);
    const output = new RecordedOutput();
    const args = ["--accept-license"];
    assertEquals(await runInstall({ ...toys, packages }, args, output), 1);
    assertEquals(output.errors, [
      `Cannot install Toys: there is no wheel of toy-box 1.0 for ${platform()}: set BELLMAN_TOYS to your own copy`,
    ]);
    assertEquals(await entries(folder), ["cache", TOY_WHEEL]);
    assertEquals(await entries(`${folder}/cache`), []);
  }));

Deno.test("runInstall says how it is used", () =>
  withToys(async ({ folder, install }) => {
    for (const args of [["--help"], ["-h"], ["--wheel", "w.whl", "--help"]]) {
      const { code, output } = await install(...args);
      assertEquals([code, output.errors], [0, []]);
      assertEquals(output.lines, [
        "usage: install-toys [--accept-license] [--wheel PATH ...] [--dir DIR]",
      ]);
    }
    assertEquals(await entries(folder), [TOY_WHEEL]);
  }));
