import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { runInstall } from "./run_install.ts";
import {
  CODE,
  entries,
  RecordedOutput,
  TOY_WHEEL,
  toyInstallation,
  WHEEL,
  withToys,
} from "./testdata/toys.ts";

Deno.test("runInstall takes the folder that it is run in", () =>
  withToys(async ({ folder, wheel, install }) => {
    const before = Deno.cwd();
    try {
      for (const [name, dir] of [["a", "."], ["b", "./"], ["c", "x/.."]]) {
        await Deno.mkdir(`${folder}/${name}`);
        Deno.chdir(`${folder}/${name}`);
        const args = ["--wheel", wheel, "--accept-license", "--dir", dir];
        for (let times = 0; times < 2; times++) {
          const { code, output } = await install(...args);
          assertEquals([code, output.errors], [0, []]);
          assertEquals(output.lines.at(-2), `toys ${folder}/${name}/lib.so`);
          // It is still the folder that the process is in.
          assertEquals(await Deno.readTextFile("lib.so"), CODE);
        }
      }
    } finally {
      Deno.chdir(before);
    }
    assertEquals(await entries(folder), ["a", "b", "c", TOY_WHEEL]);
  }));

Deno.test("runInstall replaces no other installation and no file of someone", () =>
  withToys(async ({ folder, dir, wheel, install }) => {
    const args = ["--wheel", wheel, "--accept-license"];
    await install(...args);
    const help = "give an empty or new folder with --dir";
    await Deno.writeTextFile(`${dir}/mine`, "");
    assertEquals((await install(...args)).output.errors, [
      `Cannot install Toys: '${dir}/mine' is not listed in its installed.json and would be lost: move it away, or ${help}`,
    ]);
    assertEquals((await entries(dir)).includes("mine"), true);
    const other = `${folder}/other`, manifest = `${other}/installed.json`;
    await Deno.mkdir(other);
    const package_ = { version: "1", wheel: "w", sha256: "", files: {} };
    await Deno.writeTextFile(
      manifest,
      JSON.stringify({ packages: [{ name: "balls", ...package_ }] }),
    );
    const refused = await install(...args, "--dir", other);
    assertEquals([refused.code, refused.output.errors], [2, [
      `Cannot install Toys: '${other}' holds balls: ${help}`,
    ]]);
    for (const text of ["", "null", `{"packages": 3}`, `{"packages": [3]}`]) {
      await Deno.writeTextFile(manifest, text);
      for (const it of [args, ["--accept-license"]]) {
        const { code, output } = await install(...it, "--dir", other);
        assertEquals([code, output.errors], [2, [
          `Cannot install Toys: '${manifest}' is damaged: remove that folder, or ${help}`,
        ]]);
      }
      assertEquals(await Deno.readTextFile(manifest), text);
    }
    const file = await install(...args, "--dir", wheel);
    assertEquals([file.code, file.output.errors], [2, [
      `Cannot install Toys: '${wheel}' is no folder: ${help}`,
    ]]);
  }));

Deno.test("runInstall fills the folder that a link leads to", () =>
  withToys(async ({ folder, wheel, install }) => {
    const disk = `${folder}/disk`, link = `${folder}/link`;
    await Deno.mkdir(disk);
    await Deno.symlink(disk, link);
    const args = ["--wheel", wheel, "--accept-license", "--dir", link];
    const { output: { lines } } = await install(...args);
    assertEquals(lines.at(-2), `toys ${link}/lib.so`);
    assertEquals(await Deno.readTextFile(`${disk}/lib.so`), CODE);
    assertEquals((await Deno.lstat(link)).isSymlink, true);
    await Deno.remove(disk, { recursive: true });
    const { code, output } = await install(...args);
    assertEquals([code, output.errors], [2, [
      `Cannot install Toys: '${link}' is a link that leads nowhere: give an empty or new folder with --dir`,
    ]]);
  }));

Deno.test("runInstall takes what lacks bytes for missing", () =>
  withToys(async ({ dir, wheel, install }) => {
    await install("--wheel", wheel, "--accept-license");
    for (const text of ["", "machine"]) {
      await Deno.writeTextFile(`${dir}/lib.so`, text);
      assertEquals((await install()).code, 2);
      await install("--wheel", wheel, "--accept-license");
      assertEquals(await Deno.readTextFile(`${dir}/lib.so`), CODE);
    }
  }));

Deno.test("runInstall keeps what is there of other packages", () =>
  withToys(async ({ folder, dir, wheel }) => {
    const toys = toyInstallation(WHEEL, dir);
    const [toyBox] = toys.packages;
    const place = (entry: string) =>
      entry === "toy_box/lib.so" ? "balls/lib.so" : undefined;
    const files = ["balls/lib.so"];
    const balls = { ...toyBox, name: "balls", place, files };
    const both = { ...toys, packages: [toyBox, balls] };
    const second = `${folder}/balls-1.0-py3-none-any.whl`;
    await Deno.writeFile(second, WHEEL);
    const install = async (...wheels: string[]) => {
      const output = new RecordedOutput();
      const args = wheels.flatMap((it) => ["--wheel", it]);
      args.push("--accept-license");
      return [await runInstall(both, args, output), ...output.errors];
    };
    assertEquals(await install(wheel, second), [0]);
    const before = await Deno.readTextFile(`${dir}/installed.json`);
    for (const one of [wheel, second]) {
      assertEquals(await install(one), [0]);
      const lines = (await Deno.readTextFile(`${dir}/installed.json`)).split(
        "\n",
      );
      assertEquals(lines.length, before.split("\n").length);
    }
    assertEquals(await Deno.readTextFile(`${dir}/balls/lib.so`), CODE);
    await Deno.remove(`${dir}/lib.so`);
    assertEquals(await install(wheel), [0]);
    assertEquals(await install(), [0]);
    assertEquals(await entries(dir), [
      ...["balls", "installed.json", "lib.so", "licenses"],
    ]);
  }));

Deno.test("runInstall leaves nothing where it is interrupted", () =>
  withToys(async ({ folder }) => {
    const bin = `${folder}/bin`, parent = `${folder}/new`;
    await Deno.mkdir(bin);
    await Deno.writeTextFile(
      `${bin}/python3`,
      `#!/bin/sh\necho $$ > '${folder}/pid'\nexec sleep 60\n`,
    );
    await Deno.chmod(`${bin}/python3`, 0o755);
    for (const [signal, exitCode] of [["SIGINT", 130], ["SIGTERM", 143]]) {
      const program = new URL("./testdata/install_toys.ts", import.meta.url);
      const child = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-check", program.href, `${parent}/toys`],
        env: { PATH: `${bin}:${Deno.env.get("PATH")}` },
        stdout: "null",
        stderr: "piped",
      }).spawn();
      let pid = "";
      while (!pid.endsWith("\n")) {
        await new Promise((done) => setTimeout(done, 20));
        pid = await Deno.readTextFile(`${folder}/pid`).catch(() => "");
      }
      assertEquals((await entries(parent)).length, 1);
      child.kill(signal as Deno.Signal);
      const { code, stderr } = await child.output();
      assertEquals(
        new TextDecoder().decode(stderr),
        "Cannot install Toys: it was interrupted\n",
      );
      assertEquals(code, exitCode);
      await assertRejects(() => Deno.stat(parent), Deno.errors.NotFound);
      // Nor does pip go on.
      assertThrows(() => Deno.kill(Number(pid), "SIGCONT"));
      await Deno.remove(`${folder}/pid`);
    }
  }));
