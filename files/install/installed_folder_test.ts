import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  CODE,
  entries,
  TOY_WHEEL,
  wheelOf,
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
        const { code, output } = await install(...args);
        assertEquals([code, output.errors], [0, []]);
        assertEquals(output.lines.at(-2), `toys ${folder}/${name}/lib.so`);
        const library = `${folder}/${name}/lib.so`;
        assertEquals(await Deno.readTextFile(library), CODE);
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
    assertEquals(await entries(folder), ["disk", "link", TOY_WHEEL]);
    await Deno.remove(disk, { recursive: true });
    const { code, output } = await install(...args);
    assertEquals([code, output.errors], [2, [
      `Cannot install Toys: '${link}' is a link that leads nowhere: give an empty or new folder with --dir`,
    ]]);
  }));

Deno.test("runInstall takes what is gone or lacks bytes for missing", () =>
  withToys(async ({ dir, wheel, install }) => {
    await install("--wheel", wheel, "--accept-license");
    for (const text of [undefined, "", "machine"]) {
      if (text === undefined) await Deno.remove(`${dir}/lib.so`);
      else await Deno.writeTextFile(`${dir}/lib.so`, text);
      assertEquals((await install()).code, 2);
      await install("--wheel", wheel, "--accept-license");
      assertEquals(await Deno.readTextFile(`${dir}/lib.so`), CODE);
    }
  }));

Deno.test("runInstall leaves the former installation where it is ended", () =>
  withToys(async ({ folder, dir, wheel, install }) => {
    const bin = `${folder}/bin`, parent = `${folder}/cache`;
    await Deno.mkdir(bin);
    await Deno.writeTextFile(
      `${bin}/python3`,
      `#!/bin/sh\necho $$ > '${folder}/pid'\nexec sleep 60\n`,
    );
    await Deno.chmod(`${bin}/python3`, 0o755);
    assertEquals((await install("--accept-license", "--wheel", wheel)).code, 0);
    const before = await Deno.readTextFile(`${dir}/installed.json`);
    const signals: [Deno.Signal, exitCode: number][] = [
      ["SIGINT", 130],
      ["SIGTERM", 143],
      ["SIGKILL", 137],
    ];
    for (const [signal, exitCode] of signals) {
      const program = new URL("./testdata/install_toys.ts", import.meta.url);
      const child = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-check", program.href, dir],
        env: { PATH: `${bin}:${Deno.env.get("PATH")}` },
        stdout: "null",
        stderr: "piped",
      }).spawn();
      let pid = "";
      while (!pid.endsWith("\n")) {
        await new Promise((done) => setTimeout(done, 20));
        pid = await Deno.readTextFile(`${folder}/pid`).catch(() => "");
      }
      assertEquals((await entries(parent)).length, 2);
      child.kill(signal);
      // Pip holds the pipe open where it is not ended.
      if (signal === "SIGKILL") Deno.kill(Number(pid), "SIGKILL");
      const { code, stderr } = await child.output();
      assertEquals(code, exitCode);
      assertEquals(await Deno.readTextFile(`${dir}/lib.so`), CODE);
      assertEquals(await Deno.readTextFile(`${dir}/installed.json`), before);
      await Deno.remove(`${folder}/pid`);
      if (signal === "SIGKILL") continue;
      assertEquals(
        new TextDecoder().decode(stderr),
        "Cannot install Toys: it was interrupted\n",
      );
      assertEquals(await entries(parent), ["toys"]);
      // Nor does pip continue.
      assertThrows(() => Deno.kill(Number(pid), "SIGCONT"));
    }
  }));

Deno.test("runInstall refuses what pip gives it with another hash", () =>
  withToys(async ({ folder, dir, wheel, install }) => {
    const bin = `${folder}/bin`;
    await Deno.mkdir(bin);
    await Deno.writeFile(`${bin}/wheel`, wheelOf({ "toy_box/lib.so": "evil" }));
    // Of pip's arguments the one before the last is the folder.
    await Deno.writeTextFile(
      `${bin}/python3`,
      `#!/bin/sh\nwhile [ $# -gt 2 ]; do shift; done\ncp '${bin}/wheel' "$1/${TOY_WHEEL}"\n`,
    );
    await Deno.chmod(`${bin}/python3`, 0o755);
    await install("--accept-license", "--wheel", wheel);
    await Deno.remove(`${dir}/lib.so`);
    const path = Deno.env.get("PATH")!;
    Deno.env.set("PATH", `${bin}:${path}`);
    try {
      const { code, output: { errors } } = await install("--accept-license");
      assertEquals([code, errors.length], [2, 1]);
      assertMatch(
        errors[0],
        /^Cannot install Toys: '.*' has the SHA-256 \w{64}, which is that of no wheel of toy-box 1\.0$/,
      );
    } finally {
      Deno.env.set("PATH", path);
    }
    assertEquals(await entries(dir), ["installed.json", "licenses"]);
    assertEquals(await entries(`${folder}/cache`), ["toys"]);
  }));
