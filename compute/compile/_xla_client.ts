import { isDeno, memoryBytes, permissionState } from "@bellman/files";
import type { XlaClient } from "../xla/client.ts";
import type { Executable } from "../xla/executable.ts";
import { isXlaInstalled } from "../xla/install/installed.ts";
import { openXla } from "../xla/open_xla.ts";
import { XlaError } from "../xla/plugin.ts";

let shared: XlaClient | undefined;
let gpu: XlaClient | null | undefined;

/**
 * Opens XLA for all functions of the process: on a GPU, if there is one.
 *
 * @throws {Error} If there is no plugin or it cannot be loaded, in one line.
 */
export function requireXla(): XlaClient {
  return shared ??= findGpu() ?? openXla();
}

/** Opens XLA on a GPU, if a plugin for GPUs is installed and there is one. */
export function findGpu(): XlaClient | undefined {
  gpu ??= openGpu() ?? null;
  return gpu ?? undefined;
}

function openGpu(): XlaClient | undefined {
  if (!mayLook() || !isXlaInstalled("cuda")) return undefined;
  try {
    const client = openXla({ device: "cuda" });
    if (!client.isHost) return client;
    // The one plugin that a variable names may be that of a CPU.
    shared ??= client;
    return undefined;
  } catch {
    return undefined;
  }
}

/** True where a plugin can be looked for without asking the user. */
function mayLook(): boolean {
  return isDeno() &&
    (["env", "read"] as const).every((name) =>
      permissionState({ name }) === "granted"
    );
}

/** Names the plugin's library and the device. */
export function describeXla(): { library: string; device: string } {
  const { apiVersion, devices } = requireXla();
  const [{ kind }] = devices;
  return {
    library: `XLA (PJRT ${apiVersion})`,
    device: kind,
  };
}

/** Code of the errors of programs that the device has no memory for. */
const NO_MEMORY = "RESOURCE_EXHAUSTED";
/** Ways to a program that takes less. */
const ADVICE = "take fewer environments, smaller batches or a smaller network";

/**
 * Refuses a program that the device can have no memory for, before it runs.
 *
 * @param program The program.
 * @param name Its name in messages.
 * @throws {XlaError} If it takes more than there is.
 */
export function checkMemory(program: Executable, name: string): void {
  const taken = memoryOf(program), most = deviceMemory();
  if (taken === undefined || most === undefined || taken <= most) return;
  throw outOfMemory(name, taken, `the device has ${inGibibytes(most)}`);
}

/** Says what to do where a program of a name ran out of memory. */
export function explainMemory(
  error: unknown,
  program: Executable,
  name: string,
): unknown {
  if (!(error instanceof XlaError && error.code === NO_MEMORY)) return error;
  return outOfMemory(name, memoryOf(program), error.words);
}

function outOfMemory(
  name: string,
  taken: number | undefined,
  words: string,
): XlaError {
  const size = taken === undefined
    ? ""
    : `, which takes ${inGibibytes(taken)} of memory`;
  const why = words.replace(/\.$/, "");
  return new XlaError(`run ${name}${size}`, NO_MEMORY, `${why}: ${ADVICE}`);
}

/** Returns the bytes that a program needs, if its plugin reports them. */
function memoryOf(program: Executable): number | undefined {
  try {
    const { code, inputs, outputs, aliased, temporary } = program.memory;
    return code + inputs + outputs - aliased + temporary;
  } catch (error) {
    if (error instanceof XlaError) return undefined;
    throw error;
  }
}

/** Returns the bytes of the device, if they are known. */
function deviceMemory(): number | undefined {
  const { isHost, devices: [device] } = requireXla();
  return isHost ? memoryBytes() : device.memory()?.limit;
}

function inGibibytes(bytes: number): string {
  const digits = { maximumSignificantDigits: 3 };
  return `${(bytes / 2 ** 30).toLocaleString("en-US", digits)} GiB`;
}
