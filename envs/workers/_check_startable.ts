/**
 * Checks that a worker with a module could start: a thread that waits for it would
 * not hear of an error.
 */
export function checkStartable(module: string): void {
  const path = new URL(".", module);
  if (path.protocol !== "file:") return;
  const { state } = Deno.permissions.querySync({ name: "read", path });
  if (state === "granted") return;
  throw new Deno.errors.NotCapable(
    `Cannot start workers without the permission to read ${path.pathname}: add --allow-read`,
  );
}
