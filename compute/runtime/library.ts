/** Where ONNX Runtime's native library is: the npm package carries it. */
import metadata from "onnxruntime-node/package.json" with { type: "json" };

/** File of the library in the package's folder for a platform. */
const FILES: Readonly<Record<string, string>> = {
  linux: "libonnxruntime.so.1",
  darwin: "libonnxruntime.1.dylib",
  windows: "onnxruntime.dll",
};

const PLATFORMS: Readonly<Record<string, string>> = {
  linux: "linux",
  darwin: "darwin",
  windows: "win32",
};

const MACHINES: Readonly<Record<typeof Deno.build.arch, string>> = {
  x86_64: "x64",
  aarch64: "arm64",
};

/** Version of the package whose library is used. */
export const RUNTIME_VERSION: string = metadata.version;

/**
 * The library's file: of `BELLMAN_ONNXRUNTIME` where that is set, else of the
 * npm package.
 *
 * @throws {Error} If there is none for this platform, in one line.
 */
export function libraryPath(): string {
  const chosen = environment("BELLMAN_ONNXRUNTIME");
  if (chosen !== undefined) return chosen;
  const file = FILES[Deno.build.os];
  if (file === undefined) {
    throw new Error(`ONNX Runtime has no library for ${Deno.build.os}`);
  }
  const folder = import.meta.resolve("onnxruntime-node/package.json");
  const url = new URL(
    `bin/napi-v6/${PLATFORMS[Deno.build.os]}/${
      MACHINES[Deno.build.arch]
    }/${file}`,
    folder,
  );
  if (url.protocol !== "file:") {
    throw new Error("the npm package onnxruntime-node is in no local folder");
  }
  return toPath(url);
}

function toPath(url: URL): string {
  const path = decodeURIComponent(url.pathname);
  return Deno.build.os === "windows" ? path.slice(1) : path;
}

function environment(name: string): string | undefined {
  const asked = { name: "env", variable: name } as const;
  // Without the permission, reading it would ask for it at the terminal.
  if (Deno.permissions.querySync(asked).state !== "granted") return undefined;
  return Deno.env.get(name) || undefined;
}
