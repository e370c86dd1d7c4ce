/**
 * Writes a file that is there only when it is whole: its presence tells that
 * the writing has ended, and one that was there is kept until then.
 */
export async function writeWhole(
  path: string,
  content: string | Uint8Array,
): Promise<void> {
  const unfinished = `${path}.tmp`;
  if (typeof content === "string") {
    await Deno.writeTextFile(unfinished, content);
  } else await Deno.writeFile(unfinished, content);
  await Deno.rename(unfinished, path);
}
