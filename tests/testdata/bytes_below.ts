import { join } from "node:path";

/** Returns the bytes of all files below a folder. */
export function bytesBelow(folder: string): number {
  return [...Deno.readDirSync(folder)].reduce((sum, { name, isDirectory }) => {
    const path = join(folder, name);
    return sum + (isDirectory ? bytesBelow(path) : Deno.lstatSync(path).size);
  }, 0);
}
