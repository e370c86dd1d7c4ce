import { toPath } from "@bellman/files";

/** Bundles a module for pages, which run only what is no host's own. */
export async function bundleForPages(
  entry: string | URL,
  output: string,
): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "bundle",
      "--quiet",
      "--platform=browser",
      `--output=${output}`,
      toPath(entry),
    ],
    env: { NO_COLOR: "1" },
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}
