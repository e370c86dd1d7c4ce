/**
 * Stand-in for `node:fs` in processes that are to be killed: the same
 * functions, which trace what is done in the run's folder, and end the process
 * by SIGKILL in the middle of it, as {@linkcode Order} says. The functions of
 * `Deno` that change files are replaced, too.
 */
import * as fs from "node:fs";
import { relative } from "node:path";
import process from "node:process";
import * as traced from "./filesystem.ts";

export * from "node:fs";
export default fs;

/** Moment at which a process is killed. */
export interface Order {
  /** The run's folder; what is done elsewhere does not count. */
  folder: string;
  /** File that lists each operation as `MILLISECONDS KEY`. */
  trace?: string;
  /** Kind of operation, such as `rename checkpoints/step_#.safetensors`; `*` is any. */
  key?: string;
  /** At which operation of that kind, counted from 1. */
  nth?: number;
  /** Before it, when half of it is written, or after it. */
  moment?: "before" | "half" | "after";
  /** Milliseconds until the parent kills; 0 is at once, by the process itself. */
  delay?: number;
}

/** Name of the variable with the order, as JSON. */
export const ORDER = "BELLMAN_KILL_ORDER";

/** Line on standard error that asks the parent to kill. */
export const KILL_ME = "kill me after the delay";

const order: Order | null = JSON.parse(Deno.env.get(ORDER) ?? "null");
// Workers load this as well, and are not to count.
if (order !== null) Deno.env.delete(ORDER);

let seen = 0;
const paths = new Map<number, string>();

function die(): void {
  if (order?.delay) Deno.stderr.writeSync(new TextEncoder().encode(KILL_ME));
  else Deno.kill(Deno.pid, "SIGKILL");
}

/** Notes an operation; the moment of it at which to die, if it is the one. */
function momentOf(operation: string, path: string): Order["moment"] {
  if (order === null) return undefined;
  const name = relative(order.folder, path);
  if (name.startsWith("..")) return undefined;
  const key = `${operation} ${name.replaceAll(/\d+/g, "#")}`;
  if (order.trace !== undefined) {
    fs.appendFileSync(order.trace, `${performance.now()} ${key}\n`);
  }
  if (order.key !== key && order.key !== "*") return undefined;
  return ++seen === order.nth ? order.moment : undefined;
}

function perform<T>(
  what: { operation: string; path: string; half?: () => void },
  act: () => T,
): T {
  const moment = momentOf(what.operation, what.path);
  if (moment === "before") die();
  if (moment === "half" && what.half) {
    what.half();
    die();
  }
  const result = act();
  if (moment === undefined || moment === "before") return result;
  if (result instanceof Promise) {
    return result.then((it) => (die(), it)) as T;
  }
  die();
  return result;
}

/** A function of paths whose last one is what it changes. */
function tracedBy<A extends unknown[], T>(
  operation: string,
  act: (...args: A) => T,
  place = 0,
): (...args: A) => T {
  return (...args) =>
    perform({ operation, path: String(args[place]) }, () => act(...args));
}

/** A function that writes a whole file. */
function tracedWrite<T>(
  act: (path: string, data: string | Uint8Array) => T,
): (path: string, data: string | Uint8Array) => T {
  return (name, data) => {
    const half = () =>
      fs.writeFileSync(name, data.slice(0, Math.floor(data.length / 2)));
    return perform(
      { operation: "write", path: name, half },
      () => act(name, data),
    );
  };
}

export const renameSync: typeof fs.renameSync = tracedBy(
  "rename",
  fs.renameSync,
  1,
);
export const rmSync: typeof fs.rmSync = tracedBy("remove", fs.rmSync);
export const unlinkSync: typeof fs.unlinkSync = tracedBy(
  "remove",
  fs.unlinkSync,
);
export const truncateSync: typeof fs.truncateSync = tracedBy(
  "truncate",
  fs.truncateSync,
);

export function openSync(
  ...args: Parameters<typeof fs.openSync>
): number {
  const [path, flags = "r"] = args;
  const file = flags === "r"
    ? fs.openSync(...args)
    : perform({ operation: "open", path: String(path) }, () =>
      fs.openSync(...args));
  paths.set(file, String(path));
  return file;
}

export function fsyncSync(file: number): void {
  const path = paths.get(file) ?? "..";
  perform({ operation: "sync", path }, () => fs.fsyncSync(file));
}

export function ftruncateSync(file: number, length?: number): void {
  const path = paths.get(file) ?? "..";
  perform(
    { operation: "truncate", path },
    () => fs.ftruncateSync(file, length),
  );
}

export function writeFileSync(
  file: number | string,
  data: Uint8Array | string,
): void {
  const path = typeof file === "number" ? paths.get(file) ?? ".." : file;
  const half = () => fs.writeFileSync(file, data.slice(0, data.length >> 1));
  perform(
    { operation: "write", path, half },
    () => fs.writeFileSync(file, data),
  );
}

export function writeSync(
  file: number,
  data: Uint8Array | string,
  offset?: number,
  length?: number,
  position?: number | null,
): number {
  const path = paths.get(file) ?? "..";
  const bytes = typeof data === "string"
    ? new TextEncoder().encode(data)
    : data.subarray(offset ?? 0, (offset ?? 0) + (length ?? data.length));
  const put = (part: Uint8Array) =>
    fs.writeSync(file, part, 0, part.length, position);
  const half = () => void put(bytes.subarray(0, bytes.length >> 1));
  return perform({ operation: "write", path, half }, () => put(bytes));
}

if (order !== null) {
  const { getBuiltinModule } = process;
  process.getBuiltinModule = ((name: string) =>
    name === "node:fs"
      ? traced
      : getBuiltinModule(name)) as typeof getBuiltinModule;
  const { rename, remove, removeSync, writeFile, writeTextFile } = Deno;
  Object.assign(Deno, {
    rename: tracedBy("rename", rename, 1),
    remove: tracedBy("remove", remove),
    removeSync: tracedBy("remove", removeSync),
    writeFile: tracedWrite((path, data) =>
      writeFile(path, data as Uint8Array)
    ),
    writeTextFile: tracedWrite((path, data) =>
      writeTextFile(path, data as string)
    ),
  });
}
