/**
 * Finds a native TensorFlow. Only files are looked at: starting Python to ask
 * would cost `auto` seconds on machines that have none.
 */

/** A native file that was found, or that a variable names. */
export interface NativeLibrary {
  /** A library with TensorFlow's C interface, or tfjs-node's own addon. */
  kind: "library" | "addon";
  /** Its file. */
  path: string;
}

/** Names of the library that exports the C interface, the likeliest first. */
const LIBRARY_NAMES = [
  "libtensorflow_cc.so.2",
  "libtensorflow_cc.2.dylib",
  "libtensorflow.so.2",
  "libtensorflow.so",
  "libtensorflow.2.dylib",
  "python/_pywrap_tensorflow_internal.so",
  "python/_pywrap_tensorflow_internal.pyd",
];

const ADDON_PACKAGES = [
  "@tensorflow/tfjs-node-gpu",
  "@tensorflow/tfjs-node",
];

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

function entries(dir: string): string[] {
  try {
    return [...Deno.readDirSync(dir)].map((entry) => entry.name).sort();
  } catch {
    return [];
  }
}

/** Reads a variable of the environment, if it is set and may be read. */
export function environment(name: string): string | undefined {
  try {
    return Deno.env.get(name) || undefined;
  } catch {
    return undefined;
  }
}

/**
 * Finds the C library of the `tensorflow` package in a Python environment.
 *
 * @param dir The environment's root, such as `.venv/tensorflow` or `/usr`.
 */
export function libraryInEnvironment(dir: string): string | undefined {
  const packages = [`${dir}/Lib/site-packages`];
  for (const lib of ["lib", "lib64", "local/lib"]) {
    for (const name of entries(`${dir}/${lib}`)) {
      if (!name.startsWith("python3")) continue;
      packages.push(`${dir}/${lib}/${name}/site-packages`);
      packages.push(`${dir}/${lib}/${name}/dist-packages`);
    }
  }
  for (const folder of packages) {
    for (const name of LIBRARY_NAMES) {
      const path = `${folder}/tensorflow/${name}`;
      if (isFile(path)) return path;
    }
  }
  return undefined;
}

/** Lists `dir` and the folders that it lies in. */
function upwards(dir: string): string[] {
  const parts = dir.replaceAll("\\", "/").replace(/\/+$/, "").split("/");
  return parts.map((_, i) => parts.slice(0, parts.length - i).join("/"))
    .filter((path) => path !== "");
}

/** Lists the folders that may hold `.venv` or `node_modules`. */
function startingPoints(): string[] {
  const points: string[] = [];
  try {
    points.push(Deno.cwd());
  } catch {
    // No permission to read: the module's own place is left.
  }
  const here = new URL(import.meta.url);
  if (here.protocol === "file:") points.push(decodeURIComponent(here.pathname));
  return [...new Set(points.flatMap(upwards))];
}

/** Lists the roots of the Pythons on PATH: the folders above their `bin`. */
function pythonRoots(): string[] {
  const windows = Deno.build.os === "windows";
  const roots: string[] = [];
  const folders = environment("PATH")?.split(windows ? ";" : ":") ?? [];
  for (const folder of folders) {
    const file = `${folder}/${windows ? "python.exe" : "python3"}`;
    if (!isFile(file)) continue;
    roots.push(windows ? folder : `${folder}/..`);
    try {
      roots.push(`${Deno.realPathSync(file)}/../..`);
    } catch {
      // The link's target is not readable; its folder was added above.
    }
  }
  return roots;
}

function findAddon(points: string[]): string | undefined {
  for (const point of points) {
    for (const name of ADDON_PACKAGES) {
      const lib = `${point}/node_modules/${name}/lib`;
      // One folder per version of the addon interface: the newest first.
      for (const version of entries(lib).reverse()) {
        const path = `${lib}/${version}/tfjs_binding.node`;
        if (isFile(path)) return path;
      }
    }
  }
  return undefined;
}

function findInPython(points: string[]): string | undefined {
  const virtual = environment("VIRTUAL_ENV");
  const roots = [
    ...points.map((point) => `${point}/.venv/tensorflow`),
    ...(virtual ? [virtual] : []),
    ...points.map((point) => `${point}/.venv`),
    ...pythonRoots(),
  ];
  for (const root of roots) {
    const path = libraryInEnvironment(root);
    if (path) return path;
  }
  return undefined;
}

function requested(): NativeLibrary | undefined {
  const library = environment("BELLMAN_LIBTENSORFLOW");
  if (library) return { kind: "library", path: library };
  const addon = environment("BELLMAN_TENSORFLOW_ADDON");
  return addon ? { kind: "addon", path: addon } : undefined;
}

/**
 * Finds what the `tensorflow` backend can run on: what the environment asks
 * for, then tfjs-node's addon, then a library in a Python environment.
 *
 * @throws {Error} If a variable names no file.
 */
export function findNativeLibrary(): NativeLibrary | undefined {
  const asked = requested();
  if (asked) {
    if (isFile(asked.path)) return asked;
    throw new Error(`Cannot find the TensorFlow ${asked.kind} '${asked.path}'`);
  }
  const points = startingPoints();
  const addon = findAddon(points);
  if (addon) return { kind: "addon", path: addon };
  const library = findInPython(points);
  return library ? { kind: "library", path: library } : undefined;
}
