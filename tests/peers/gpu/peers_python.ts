/** Device, versions and plugin, as the Python of the peers tells them. */
export interface Peers {
  readonly device: "cuda" | "cpu";
  /** Name of the device, such as NVIDIA H100. */
  readonly name: string;
  /** The Python; undefined where it cannot be run. */
  readonly python?: string;
  readonly versions: { readonly jax: string; readonly torch: string };
  /** Why a peer takes no part; empty where it does. */
  readonly missing: { readonly jax: string; readonly torch: string };
  /** The variable with jax's plugin, which ours takes where none is set. */
  readonly plugin: Record<string, string>;
}

/** What Python prints: versions, device and the folder of jax's plugin. */
const LOOK = `
import importlib.metadata as m, importlib.util as u, json, os
def version(name):
    try: return m.version(name)
    except m.PackageNotFoundError: return ""
plugins = [os.path.join(place, "xla_cuda_plugin.so")
    for name in ("xla_cuda13", "xla_cuda12")
    for spec in [u.find_spec("jax_plugins") and u.find_spec("jax_plugins." + name)]
    if spec for place in spec.submodule_search_locations]
print(json.dumps({it: version(it) for it in ("jax", "optax", "torch")}
    | {"plugins": [it for it in plugins if os.path.exists(it)]}))
`;

interface Looked {
  jax: string;
  optax: string;
  torch: string;
  plugins: string[];
}

async function look(python: string): Promise<Looked | undefined> {
  try {
    const { success, stdout } = await new Deno.Command(python, {
      args: ["-c", LOOK],
    }).output();
    return success ? JSON.parse(new TextDecoder().decode(stdout)) : undefined;
  } catch {
    return undefined;
  }
}

/** Name of the first GPU, as its driver tells it. */
async function gpuName(): Promise<string> {
  try {
    const { success, stdout } = await new Deno.Command("nvidia-smi", {
      args: ["--query-gpu=name", "--format=csv,noheader"],
    }).output();
    const [name] = new TextDecoder().decode(stdout).split("\n");
    if (success && name) return name.trim();
  } catch {
    // There is no driver.
  }
  throw new Error(
    "Cannot bench a GPU as nvidia-smi names none: --device cpu tries the programs on the CPU",
  );
}

/**
 * Looks for the device and the peers.
 *
 * @param device Kind of device.
 * @param python Python of the peers: by default the variable BELLMAN_PYTHON, or
 * python3.
 * @throws {Error} If there is no such device, in one line.
 */
export async function findPeers(
  device: "cuda" | "cpu",
  python: string = Deno.env.get("BELLMAN_PYTHON") || "python3",
): Promise<Peers> {
  const name = device === "cuda"
    ? await gpuName()
    : `CPU of ${navigator.hardwareConcurrency} cores`;
  const found = await look(python);
  const missing = (...names: ("jax" | "optax" | "torch")[]) =>
    names.filter((it) => !found?.[it])
      .map((it) => `${python} has no ${it}`).join(", ");
  const path = device === "cuda" && !Deno.env.get("BELLMAN_XLA_PLUGIN")
    ? found?.plugins[0]
    : undefined;
  return {
    device,
    name,
    python: found && python,
    versions: { jax: found?.jax ?? "", torch: found?.torch ?? "" },
    missing: { jax: missing("jax", "optax"), torch: missing("torch") },
    plugin: path === undefined ? {} : { BELLMAN_XLA_PLUGIN: path },
  };
}
