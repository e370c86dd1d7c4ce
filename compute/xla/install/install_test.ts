import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import {
  type InstallOutput,
  runInstall,
  wheelFor,
} from "@bellman/files/install";
import { strToU8, zipSync } from "fflate";
import { inFolder, pinned } from "../../../files/install/testdata/toys.ts";
import { installXla } from "./install.ts";
import {
  CPU_PLUGIN,
  CUDA_LIBRARIES,
  CUDA_PLUGIN,
  hasGpu,
  OFFICIAL_CPU_PLUGIN,
  XLA_INSTALLATION,
} from "./installed.ts";

/** An install, with its exit code and lines. */
async function said(
  install: (output: InstallOutput) => Promise<number>,
) {
  const out: string[] = [], error: string[] = [];
  const code = await install({
    log: (line) => out.push(line),
    error: (line) => error.push(line),
  });
  return { code, out, error };
}

function wheel(files: Record<string, string>): Uint8Array {
  return zipSync(Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, strToU8(text)]),
  ));
}

/** The folders and files below a folder. */
function listed(dir: string, prefix = ""): string[] {
  return [...Deno.readDirSync(dir)].flatMap(({ name, isDirectory }) =>
    isDirectory
      ? listed(`${dir}/${name}`, `${prefix}${name}/`)
      : [`${prefix}${name}`]
  ).sort();
}

Deno.test("each platform has a plugin whose hash is known", () => {
  const pluginOn = (platform: string) =>
    XLA_INSTALLATION.packages.filter((it) => wheelFor(it, platform));
  assertEquals(pluginOn("linux-x86_64"), [CPU_PLUGIN]);
  assertEquals(pluginOn("linux-aarch64"), [OFFICIAL_CPU_PLUGIN]);
  const all = [CUDA_PLUGIN, ...CUDA_LIBRARIES];
  for (const platform of ["linux-x86_64", "linux-aarch64"]) {
    for (const it of all) {
      const file = wheelFor(it, platform)!;
      assertMatch(file, new RegExp(`linux.*${platform.split("-")[1]}`));
      assertStringIncludes(file, it.version);
      assertEquals(it.wheels[file].length, 64);
    }
  }
});

Deno.test("plugin and licences are taken from the wheel", () =>
  inFolder(async (folder) => {
    const file = `${folder}/lammps_jax_pjrt_cpu-0.11.2-py3-none-any.whl`;
    const info = "lammps_jax_pjrt_cpu-0.11.2.dist-info";
    const bytes = wheel({
      "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so": "plugin",
      "lammps_jax_pjrt_cpu/__init__.py": "python",
      [`${info}/licenses/LICENSE`]: "Apache",
      [`${info}/licenses/THIRD_PARTY_NOTICES`]: "others",
    });
    await Deno.writeFile(file, bytes);
    const dir = `${folder}/installed`;
    const args = ["--wheel", file, "--dir", dir];
    const wheels = pinned("lammps_jax_pjrt_cpu-0.11.2-py3-none-any.whl", bytes);
    const packages = [{ ...CPU_PLUGIN, wheels }];
    const install = (...more: string[]) =>
      said((output) =>
        runInstall({ ...XLA_INSTALLATION, packages }, [
          ...args,
          ...more,
        ], output)
      );
    const refused = await install();
    assertEquals([refused.code, listed(folder).length], [2, 1]);
    assertStringIncludes(refused.out[0], "published by one person");
    const { code, out } = await install("--accept-license");
    assertEquals(code, 0);
    assertEquals(
      out.at(-1),
      `To use them, set BELLMAN_XLA_PLUGIN=${dir}/pjrt_plugin.so`,
    );
    const licenses = "licenses/lammps-jax-pjrt-cpu";
    assertEquals(listed(dir), [
      "installed.json",
      `${licenses}/LICENSE`,
      `${licenses}/THIRD_PARTY_NOTICES`,
      "pjrt_plugin.so",
    ]);
  }));

Deno.test("libraries and programs are taken from CUDA's wheels, headers are not", () => {
  const [cublas, , nvcc] = CUDA_LIBRARIES;
  const taken = [
    "nvidia/cu13/lib/libcublas.so.13",
    "nvidia/cudnn/lib/libcudnn.so.9",
    "nvidia/cu13/bin/ptxas",
    "nvidia/cu13/nvvm/libdevice/libdevice.10.bc",
  ];
  for (const it of taken) assertEquals(nvcc.place(it), it);
  const left = [
    "nvidia/cu13/include/cublas.h",
    "nvidia/cu13/lib/libcudart_static.a",
    "nvidia/cu13/bin/cudafe++",
    "nvidia/__init__.py",
  ];
  for (const it of left) assertEquals(cublas.place(it), undefined);
});

Deno.test("without a GPU nothing is fetched", () => {
  assert(hasGpu([new URL(import.meta.url).pathname]));
  assert(!hasGpu(["/no/such/device"]));
});

Deno.test("installXla refuses what cannot be in one line", () =>
  inFolder(async (folder) => {
    const dir = ["--dir", `${folder}/xla`];
    const cases = [
      [
        ["--without-gpu"],
        "Cannot install XLA: --without-gpu is for --cuda alone",
      ],
      [
        ["--cud"],
        "Cannot install XLA: Unknown option '--cud', usage: install-xla [--cuda [--without-gpu]] [--accept-license] [--wheel PATH ...] [--dir DIR]",
      ],
    ] as const;
    for (const [args, message] of cases) {
      const { code, error } = await said((output) =>
        installXla([...args, ...dir], output)
      );
      assertEquals([code, error], [2, [message]]);
    }
    assertEquals(listed(folder), []);
  }));
