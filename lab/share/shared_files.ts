/** Files of a shared folder and their checksums; contents are untrusted. */
import { kindOf, openPlainSync } from "@bellman/files";
import { createHash } from "node:crypto";
import {
  closeSync,
  fstatSync,
  lstatSync,
  readdirSync,
  readFileSync,
} from "node:fs";
import {
  AGENT_FILE,
  EVALUATIONS_CSV,
  MODULES_FOLDER,
} from "@bellman/runs/settings";
import { fileProblem, messageOf, UsageError } from "@bellman/runs/program";

export const CARD_FILE = "README.md";
export const PICTURE_FILE = "play.gif";
export const SUMS_FILE = "SHA256SUMS";

/** Largest size of a GIF in bytes. */
export const MOST_PICTURE_BYTES = 500_000;

const MEGABYTE = 1 << 20;

/** Files of a shared folder, with their largest sizes in bytes. */
const MOST_BYTES: Readonly<Record<string, number>> = {
  "config.yaml": MEGABYTE,
  [AGENT_FILE]: 256 * MEGABYTE,
  "policy.onnx": 256 * MEGABYTE,
  [EVALUATIONS_CSV]: 16 * MEGABYTE,
  [PICTURE_FILE]: MOST_PICTURE_BYTES,
  [CARD_FILE]: MEGABYTE,
  [SUMS_FILE]: MEGABYTE,
};

/** Required files of a shared folder. */
const NEEDED = Object.keys(MOST_BYTES)
  .filter((it) => it !== PICTURE_FILE && it !== SUMS_FILE);

const MODULE = new RegExp(
  `^${MODULES_FOLDER}/[\\w-][\\w.-]*\\.([cm]?[jt]s|py)$`,
);

/** Returns the largest size of a file; undefined for an unknown name. */
function mostBytesOf(name: string): number | undefined {
  if (Object.hasOwn(MOST_BYTES, name)) return MOST_BYTES[name];
  return MODULE.test(name) ? MEGABYTE : undefined;
}

/**
 * Reads a file of a shared folder, unless it is a link or too large.
 *
 * @param dir Folder of the agent.
 * @param name Name of the file.
 * @param as Name in a shared folder.
 */
export function readShared(dir: string, name: string, as = name): Uint8Array {
  const path = `${dir}/${name}`, most = mostBytesOf(as) ?? 0;
  const kind = kindOf(lstatSync(path));
  if (kind !== undefined) throw new SyntaxError(`it is ${kind}`);
  const file = openPlainSync(path, "read");
  try {
    const { size } = fstatSync(file);
    if (size > most) {
      throw new SyntaxError(`it has ${size} bytes, expected at most ${most}`);
    }
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function sumOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Writes checksums as `sha256sum` does. */
export function sumsText(files: ReadonlyMap<string, Uint8Array>): string {
  return [...files].sort(([a], [b]) => a < b ? -1 : 1)
    .map(([name, bytes]) => `${sumOf(bytes)}  ${name}\n`).join("");
}

/** Lists the files of a shared folder, including modules. */
function namesIn(dir: string): string[] {
  return readdirSync(dir).flatMap((name) =>
    name === MODULES_FOLDER && lstatSync(`${dir}/${name}`).isDirectory()
      ? readdirSync(`${dir}/${name}`).map((it) => `${name}/${it}`)
      : [name]
  ).sort();
}

/**
 * Compares the files of a shared folder with its checksums, without parsing them.
 *
 * @param dir Folder of the agent.
 * @returns A line for each file that was changed.
 * @throws {UsageError} If there is no such folder.
 */
export function checkFilesOf(dir: string): string[] {
  let names: string[];
  try {
    if (!lstatSync(`${dir}/.`).isDirectory()) throw new Error("no folder");
    names = namesIn(dir);
  } catch (error) {
    throw new UsageError(
      `Cannot check ${dir}: expected the folder of a shared agent`,
      { cause: error },
    );
  }
  if (!names.includes(SUMS_FILE) && !names.includes(AGENT_FILE)) {
    throw new UsageError(
      `Cannot check ${dir}: it is not the folder of a shared agent, which has a file ${SUMS_FILE}; 'share ${dir} --out FOLDER' makes one of a run`,
    );
  }
  const problems: string[] = [];
  const sums = new Map<string, string>();
  const whyOf = (error: unknown) => fileProblem(error) ?? messageOf(error);
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const text = decoder.decode(readShared(dir, SUMS_FILE));
    const lines = text.split("\n");
    if (lines.pop() !== "") throw new SyntaxError("its last line is cut");
    for (const line of lines) {
      const [, sum, name] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
      if (name === undefined || name === SUMS_FILE || sums.has(name)) {
        throw new SyntaxError(
          `'${line.slice(0, 100)}' is no checksum of a file`,
        );
      }
      // No file outside of the folder, and none that a run would not have.
      if (mostBytesOf(name) === undefined) {
        throw new SyntaxError(`it names ${JSON.stringify(name.slice(0, 100))}`);
      }
      sums.set(name, sum);
    }
  } catch (error) {
    return [`${SUMS_FILE} cannot be used: ${whyOf(error)}`];
  }
  for (const name of [...NEEDED, ...names]) {
    if (name === SUMS_FILE || sums.has(name)) continue;
    problems.push(`${name} is not in ${SUMS_FILE}`);
    sums.set(name, "");
  }
  for (const [name, sum] of sums) {
    if (sum === "") continue;
    try {
      if (sumOf(readShared(dir, name)) === sum) continue;
      problems.push(`${name} is not the file that was shared`);
    } catch (error) {
      problems.push(`${name} cannot be read: ${whyOf(error)}`);
    }
  }
  return problems;
}
