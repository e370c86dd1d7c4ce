import { checkDeno, permissionState } from "@bellman/files";
import { cacheFolder } from "@bellman/files/installed";
import { type ClientOptions, XlaClient } from "./client.ts";
import { findPlugin, type XlaDeviceName } from "./install/installed.ts";
import { XlaPlugin } from "./plugin.ts";

/** Options of {@linkcode openXla}. */
export interface XlaOptions extends ClientOptions {
  /**
   * Folder that keeps machine code from run to run, or false for none.
   *
   * @default `xla/programs` in the cache folder, where it may be written
   */
  readonly cache?: string | false;
  /**
   * Kind of device.
   *
   * @default "cpu"
   */
  readonly device?: XlaDeviceName;
  /**
   * File of a PJRT plugin.
   *
   * @default that of BELLMAN_XLA_PLUGIN, or the installed one of the device
   */
  readonly plugin?: string;
}

/**
 * Opens XLA on a device. Needs `--allow-ffi` without a path, as the plugin's
 * pointers are followed, and `--allow-env` and `--allow-read` to find it.
 *
 * @param options Device and plugin.
 * @returns A client of the plugin; `close` frees it.
 * @throws {Error} In Node.
 * @throws {RangeError} If there is no plugin, or it cannot be loaded, in one line.
 * @throws {XlaError} If it has no device.
 * @example
 * ```ts
 * import { isXlaInstalled, openXla } from "@bellman/compute/xla";
 * import { assertEquals } from "@std/assert";
 *
 * const program = `
 *   func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
 *     %sum = stablehlo.add %a, %b : tensor<2xf32>
 *     return %sum : tensor<2xf32>
 *   }
 * `;
 * if (isXlaInstalled()) {
 *   using client = openXla();
 *   const add = client.compile(program);
 *   using call = add.bind([
 *     { array: Float32Array.of(1, 2) },
 *     { array: Float32Array.of(3, 4) },
 *   ]);
 *   call.run();
 *   assertEquals(call.read(0), Float32Array.of(4, 6));
 * }
 * ```
 */
export function openXla(options: XlaOptions = {}): XlaClient {
  checkDeno("open XLA");
  const { device = "cpu", plugin = findPlugin(device) } = options;
  const { cache = usualCache() } = options;
  return new XlaClient(XlaPlugin.open(plugin), { ...options, cache });
}

/** Returns the usual folder, or false where a permission is missing. */
function usualCache(): string | false {
  try {
    const path = `${cacheFolder()}/xla/programs`;
    const isAllowed = (["read", "write"] as const).every((name) =>
      permissionState({ name, path }) === "granted"
    );
    return isAllowed && path;
  } catch {
    return false; // No cache folder is known.
  }
}
