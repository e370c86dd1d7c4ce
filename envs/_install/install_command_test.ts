import { assertEquals } from "@std/assert";
import { installCommand } from "./install_command.ts";

Deno.test("in the repository the command is its task", () => {
  assertEquals(
    installCommand("atari"),
    "deno task install-atari --accept-license",
  );
});

Deno.test("loaded from JSR the command is that of the package", () => {
  assertEquals(
    installCommand(
      "mujoco",
      "https://jsr.io/@bellman/envs/1.0.0/_install/install_command.ts",
    ),
    "deno run -A jsr:@bellman/envs/mujoco/install --accept-license",
  );
});
