import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { readFileSync } from "node:fs";
import {
  asInputError,
  checkWritable,
  UsageError,
  writeWhole,
} from "./errors.ts";

function caught(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
}

Deno.test("errors of the file system are told in words, by either API", () => {
  for (const read of [readFileSync, Deno.readFileSync]) {
    const error = asInputError(caught(() => read("/nowhere/to/be.found")));
    assertEquals(error instanceof UsageError, true);
    assertEquals(
      /there is no such file or folder/.test(error!.message),
      true,
      error!.message,
    );
  }
});

Deno.test("a move that fails is told by the path that was meant", async () => {
  const dir = await Deno.makeTempDir();
  await Deno.writeTextFile(`${dir}/file`, "");
  await Deno.mkdir(`${dir}/taken`);
  const move = () => Deno.renameSync(`${dir}/file`, `${dir}/taken`);
  const error = caught(move);
  await Deno.remove(dir, { recursive: true });
  assertEquals(
    asInputError(error)?.message,
    `Cannot use the file ${dir}/taken: it is a folder`,
  );
});

Deno.test("mistakes of the input pass as they are, failures do not", () => {
  for (const kind of [RangeError, TypeError, SyntaxError, UsageError]) {
    const error = new kind("Cannot");
    assertEquals(asInputError(error), error);
  }
  const capable = new Deno.errors.NotCapable(
    'Requires all access to "/dev/null/x", run again with the --allow-all flag',
  );
  assertEquals(
    asInputError(capable)?.message,
    'Cannot use "/dev/null/x": the permissions of this command leave out all access to it',
  );
  assertEquals(asInputError(new Error("it broke")), undefined);
  assertEquals(asInputError("text"), undefined);
});

async function inFolder(use: (dir: string) => Promise<void>): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "bellman-file-" });
  try {
    await use(dir);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

function namesIn(dir: string): string[] {
  return [...Deno.readDirSync(dir)].map(({ name }) => name);
}

Deno.test("a file that cannot be written is told by its own path, nothing is left", () =>
  inFolder(async (dir) => {
    await Deno.mkdir(`${dir}/taken`);
    const cases: [string, string][] = [
      ["taken", "it is a folder"],
      ["none/a.txt", "there is no such file or folder"],
    ];
    for (const [name, problem] of cases) {
      const path = `${dir}/${name}`;
      const error = assertThrows(() => writeWhole(path, "text"), UsageError);
      assertEquals(error.message, `Cannot use the file ${path}: ${problem}`);
    }
    assertEquals(namesIn(dir), ["taken"]);
  }));

Deno.test("what cannot be written to is told before, what can is left as it is", () =>
  inFolder(async (dir) => {
    await Deno.mkdir(`${dir}/taken`);
    await Deno.writeTextFile(`${dir}/old`, "text");
    const isFolder = "expected a file, this is a folder";
    const cases: [string, string][] = [
      ["taken", isFolder],
      ["taken/", isFolder],
      ["new/", isFolder],
      ["none/a.txt", `the folder ${dir}/none is not there`],
      ["old/a.txt", `the folder ${dir}/old cannot be written to`],
    ];
    for (const [name, problem] of cases) {
      const path = `${dir}/${name}`;
      const error = await assertRejects(
        () => checkWritable(path, "the policy"),
        UsageError,
      );
      assertEquals(
        error.message,
        `Cannot write the policy to ${path}: ${problem}`,
      );
    }
    for (const name of ["old", "new"]) {
      await checkWritable(`${dir}/${name}`, "the policy");
    }
    assertEquals(namesIn(dir).sort(), ["old", "taken"]);
    assertEquals(await Deno.readTextFile(`${dir}/old`), "text");
  }));
