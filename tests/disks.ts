/** Disks of memory for tests, whose names end with `[mount]`. */
import { assert } from "@std/assert";

/** Mounts a disk, or mounts it anew with other options. */
export async function mount(folder: string, options: string): Promise<void> {
  const args = ["-t", "tmpfs", "-o", options, "tmpfs", folder];
  assert((await new Deno.Command("mount", { args }).output()).success);
}

/** Makes a folder a disk of memory, such as one of `size=64k`, meanwhile. */
async function withDisk(
  options: string,
  use: (disk: string) => Promise<void>,
): Promise<void> {
  const disk = await Deno.makeTempDir({ prefix: "bellman-disk-" });
  try {
    await mount(disk, options);
    try {
      await use(disk);
    } finally {
      // What failed on it may have left files open.
      await new Deno.Command("umount", { args: ["--lazy", disk] }).output();
    }
  } finally {
    await Deno.remove(disk);
  }
}

/** True where this user may mount disks: in containers, root often may. */
const mayMount = Deno.build.os === "linux" &&
  await withDisk("size=64k", async () => {}).then(() => true, () => false);

/** Adds a test with a disk, which is ignored where nobody may mount one. */
export function testWithDisk(
  name: string,
  options: string,
  use: (disk: string) => Promise<void>,
): void {
  Deno.test({
    name: `${name} [mount]`,
    ignore: !mayMount,
    fn: () => withDisk(options, use),
  });
}
