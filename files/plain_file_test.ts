import { assertEquals, assertThrows } from "@std/assert";
import { closeSync, writeFileSync } from "node:fs";
import { openPlainSync, type PlainFileUse } from "./plain_file.ts";

const USES: PlainFileUse[] = ["read", "append", "update"];

Deno.test("files are opened for each use", async () => {
  const dir = await Deno.makeTempDir();
  for (const [i, use] of [...USES, "create" as const].entries()) {
    const path = `${dir}/${i}`;
    await Deno.writeTextFile(path, "abc");
    const file = openPlainSync(path, use);
    if (use !== "read") writeFileSync(file, "XY");
    closeSync(file);
    const wanted = {
      read: "abc",
      append: "abcXY",
      update: "XYc",
      create: "XY",
    };
    assertEquals(await Deno.readTextFile(path), wanted[use], use);
  }
  await Deno.remove(dir, { recursive: true });
});

Deno.test("what is no file is refused at once", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const dir = await Deno.makeTempDir();
  await Deno.writeTextFile(`${dir}/file`, "");
  await Deno.symlink(`${dir}/file`, `${dir}/link`);
  await new Deno.Command("mkfifo", { args: [`${dir}/pipe`] }).output();
  const kinds = [["pipe", "a pipe"], ["link", "a link"], [".", "a folder"]];
  for (const use of USES) {
    for (const [name, words] of [...kinds, ["/dev/zero", "a device"]]) {
      const path = name.startsWith("/") ? name : `${dir}/${name}`;
      if (use === "read" && name === "link") {
        closeSync(openPlainSync(path, use));
        continue;
      }
      const says = `Cannot open ${path}: it is ${words}, expected a file`;
      assertThrows(
        () => openPlainSync(path, use),
        Error,
        says,
        `${use} ${path}`,
      );
    }
  }
  await Deno.remove(dir, { recursive: true });
});

Deno.test("a new file takes the place of a link or a pipe", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const dir = await Deno.makeTempDir();
  for (const target of ["kept", "nowhere"]) {
    await Deno.writeTextFile(`${dir}/kept`, "");
    await Deno.symlink(target, `${dir}/link`);
    await new Deno.Command("mkfifo", { args: [`${dir}/pipe`] }).output();
    for (const name of ["link", "pipe"]) {
      const file = openPlainSync(`${dir}/${name}`, "create");
      writeFileSync(file, "new");
      closeSync(file);
      assertEquals(await Deno.readTextFile(`${dir}/${name}`), "new");
      await Deno.remove(`${dir}/${name}`);
    }
    const names = [...Deno.readDirSync(dir)].map(({ name }) => name);
    assertEquals(names, ["kept"]);
    assertEquals(await Deno.readTextFile(`${dir}/kept`), "");
  }
  await Deno.remove(dir, { recursive: true });
});
