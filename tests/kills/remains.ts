/** Files that runs leave: equal for a run in one go and one that was killed. */
import { equal } from "@std/assert";
import { remainsOf as logsOf } from "../runs.ts";

/** Everything that a run leaves but the time it took, by name. */
export type Remains = Record<string, unknown>;

function namesIn(folder: string, inside = ""): string[] {
  return [...Deno.readDirSync(`${folder}/${inside}`)].flatMap((entry) => {
    const name = inside + entry.name;
    return entry.isDirectory ? namesIn(folder, `${name}/`) : [name];
  });
}

/**
 * Reads what a run left.
 *
 * @param folder Its folder.
 * @throws {Error} When something is missing or broken.
 */
export function remainsOf(folder: string): Remains {
  const names = namesIn(folder)
    // Each process writes events into a separate file, and one that was
    // killed after its record leaves its lock. What rows a file has is in their
    // checksums, where it has them is by chance.
    .filter((it) => !/^(events|replay)\.|^run\.lock$/.test(it)).sort();
  const remains: Remains = {
    "names of files": names,
    "config.yaml": Deno.readTextFileSync(`${folder}/config.yaml`),
    ...logsOf(folder),
  };
  for (const name of names) {
    if (name !== "policy.onnx" && !name.startsWith("plots/")) continue;
    remains[name] = Deno.readFileSync(`${folder}/${name}`);
  }
  return remains;
}

/** A path's place in a tree where two differ, and both values. */
function placeOf(ours: unknown, theirs: unknown, path: string): string {
  const isTree = (it: unknown): it is Record<string, unknown> =>
    typeof it === "object" && it !== null && !ArrayBuffer.isView(it);
  if (isTree(ours) && isTree(theirs)) {
    for (const key of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
      if (!equal(ours[key], theirs[key])) {
        return placeOf(ours[key], theirs[key], `${path} > ${key}`);
      }
    }
  }
  if (typeof ours === "string" && typeof theirs === "string") {
    const [a, b] = [ours.split("\n"), theirs.split("\n")];
    const line = a.findIndex((it, i) => it !== b[i]);
    const at = line < 0 ? a.length : line;
    return `${path}, line ${at + 1}: '${a[at]}' became '${b[at]}'`;
  }
  const shown = (it: unknown) => String(JSON.stringify(it)).slice(0, 80);
  return ArrayBuffer.isView(ours) && ArrayBuffer.isView(theirs)
    ? `${path}: other numbers`
    : `${path}: ${shown(ours)} became ${shown(theirs)}`;
}

/** In words, each thing in which a killed run differs from the whole one. */
export function differences(whole: Remains, killed: Remains): string[] {
  return Object.keys({ ...whole, ...killed })
    .filter((name) => !equal(whole[name], killed[name]))
    .map((name) => placeOf(whole[name], killed[name], name));
}
