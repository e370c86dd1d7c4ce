import { assertEquals } from "@std/assert";
import { readFileSync } from "node:fs";
import { asInputError } from "./input_errors.ts";
import { UsageError } from "./usage_error.ts";

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
  assertEquals(asInputError(new Error("it broke")), undefined);
  assertEquals(asInputError("text"), undefined);
});
