/**
 * The command that sets a simulator up: the repository's task, or the published
 * module where this code was itself loaded from there.
 *
 * @param simulator The folder of its package.
 * @param loadedFrom The address of this code.
 */
export function installCommand(
  simulator: "atari" | "mujoco",
  loadedFrom: string = import.meta.url,
): string {
  const program = loadedFrom.startsWith("file:")
    ? `deno task install-${simulator}`
    : `deno run -A jsr:@bellman/envs/${simulator}/install`;
  return `${program} --accept-license`;
}
