/** The kernels' tests with all of their runs. */
import { assertEquals } from "@std/assert";
import { ROOT } from "../tools/packages.ts";

Deno.test("compiled functions agree with eager ones in all runs", async () => {
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "-q", "--no-check", "-P=test", "compute/kernels"],
    cwd: ROOT,
    env: { BELLMAN_LONG_TESTS: "1" },
  }).spawn().status;
  assertEquals(success, true);
});
