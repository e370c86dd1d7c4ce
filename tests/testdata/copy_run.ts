import { loadStateSync, saveStateSync } from "@bellman/files";

/** Files that a run writes and no copy of it needs. */
const LEFT_OUT = /^(events\.|.*\.lock$)/;

/**
 * Copies a run's files and checkpoints, but neither its pictures nor its videos.
 *
 * @returns The new folder.
 */
export function copyRun(source: string, target: string): string {
  Deno.mkdirSync(`${target}/checkpoints`, { recursive: true });
  for (const sub of ["", "/checkpoints"]) {
    for (const { name, isFile } of Deno.readDirSync(source + sub)) {
      if (!isFile || LEFT_OUT.test(name)) continue;
      Deno.copyFileSync(`${source}${sub}/${name}`, `${target}${sub}/${name}`);
    }
  }
  return target;
}

/** Changes the configuration that a run's checkpoints were made with. */
export function editCheckpoints(
  dir: string,
  edit: (config: string) => string,
): void {
  for (const { name } of Deno.readDirSync(`${dir}/checkpoints`)) {
    const path = `${dir}/checkpoints/${name}`;
    const { state, notes } = loadStateSync(path);
    const inner = notes.notes as { config: string };
    const changed = { ...inner, config: edit(inner.config) };
    saveStateSync(state, path, { notes: { ...notes, notes: changed } });
  }
}
