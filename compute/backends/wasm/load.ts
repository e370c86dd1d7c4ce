import {
  builtin,
  isDeno,
  permissionState,
  platform,
  toPath,
} from "@bellman/files";
import * as tf from "@tensorflow/tfjs";
import { packageFile } from "../../runtime/npm_packages.ts";
import { registerWasmKernels } from "./mod.ts";

/** The binary that every present runtime takes. */
const BINARY = "tfjs-backend-wasm-simd.wasm";
/** First bytes of every binary. */
const MAGIC = "\0asm";

/**
 * Registers the wasm backend with the kernels that it lacks.
 *
 * @param folder Folder of the binaries; by default the package's own, in pages
 * that of the page or the worker.
 * @returns One line about it.
 * @throws {Error} If the binaries cannot be read, in one line.
 */
export async function loadWasmBackend(folder?: string | URL): Promise<string> {
  const isPage = platform().os === "page";
  const address = isPage
    ? await servedFolder(folder ?? ".")
    : folder ?? ownFolder();
  if (!isPage) checkReadable(address);
  const { setWasmPaths } = await import("@tensorflow/tfjs-backend-wasm");
  const isLoaded = "wasm" in tf.engine().registry;
  if (address !== undefined && !isLoaded) {
    setWasmPaths(withSlash(pathOf(address)));
  }
  // On several threads sums are added up in another order each time.
  tf.env().set("WASM_HAS_MULTITHREAD_SUPPORT", false);
  registerWasmKernels();
  return "WebAssembly on one thread";
}

const withSlash = (path: string) => path.endsWith("/") ? path : `${path}/`;

const pathOf = (folder: string | URL) =>
  `${folder}`.startsWith("file:") ? toPath(new URL(folder)) : `${folder}`;

/**
 * Returns the address of a folder that a page loads its binary from. Without
 * this check the binary's own loader prints its complaints.
 *
 * @throws {Error} If there is none.
 */
async function servedFolder(folder: string | URL): Promise<string> {
  const address = new URL(withSlash(`${folder}`), location.href).href;
  const response = await fetch(address + BINARY).catch(() => undefined);
  const reader = response?.body?.getReader();
  const { value } = await reader?.read() ?? {};
  await reader?.cancel();
  const begin = String.fromCharCode(...value?.subarray(0, 4) ?? []);
  if (response?.ok && begin === MAGIC) return address;
  throw new Error(missing(address));
}

/** Returns the package's folder in the npm cache, if it is known. */
function ownFolder(): string | undefined {
  try {
    const file = packageFile("@tensorflow/tfjs-backend-wasm");
    return file && builtin("node:path").dirname(file);
  } catch {
    return undefined;
  }
}

/**
 * Checks that the binaries are there and may be read; at a terminal, Deno asks.
 * Without this check the binary's own loader prints its complaints.
 *
 * @throws {Error} If they are not, or the permission is not given.
 */
function checkReadable(folder: string | URL | undefined): void {
  // Deno finds a package by its cache, Node by the folders around this file.
  if (folder === undefined && isDeno()) return;
  const path = folder && pathOf(folder);
  if (permissionState({ name: "read", path }, { ask: true }) !== "granted") {
    throw new Error(
      `its binary cannot be read: allow it with --allow-read=${path}`,
    );
  }
  const binary = path && `${withSlash(path)}${BINARY}`;
  if (binary && builtin("node:fs").existsSync(binary)) return;
  throw new Error(missing(path ?? "this bundle"));
}

const missing = (where: string) =>
  `${where} has no ${BINARY}: put the binaries of npm's @tensorflow/tfjs-backend-wasm there, or name their folder by selectBackend("wasm", { wasmPaths })`;
