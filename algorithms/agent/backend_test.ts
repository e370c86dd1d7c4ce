import { assertEquals } from "@std/assert";
import { runDeno } from "../../tests/testdata/run_deno.ts";

const PROGRAM = new URL("testdata/unselected_backend.ts", import.meta.url);
const PLAIN =
  "Computing in plain JavaScript, 4 to 17 times slower than WebAssembly: ";

/** Lines that the program prints with these permissions. */
async function linesWith(...flags: string[]): Promise<string[]> {
  const args = ["--no-prompt", ...flags, PROGRAM.pathname];
  const { code, out, err } = await runDeno(args);
  assertEquals([code, err], [0, ""]);
  return out.trim().split("\n");
}

Deno.test("where no backend is selected, train selects wasm; other loops are told", async () => {
  assertEquals(await linesWith("--allow-read"), [
    `${PLAIN}no backend is selected, expected 'await selectBackend()' of @bellman/compute first`,
    "cpu",
    "wasm",
  ]);
});

Deno.test("train goes on with cpu where WebAssembly is not to be had", async () => {
  const [, before, plain, after] = await linesWith();
  assertEquals([before, after], ["cpu", "cpu"]);
  assertEquals(
    plain.startsWith(`${PLAIN}its binary cannot be read: allow it with `),
    true,
    plain,
  );
});
