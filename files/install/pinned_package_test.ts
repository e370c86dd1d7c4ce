import { assertEquals } from "@std/assert";
import { wheelPlatform } from "./pinned_package.ts";

Deno.test("wheelPlatform reads the tags that wheels have", () => {
  const platforms = {
    "manylinux_2_27_x86_64.manylinux_2_28_x86_64": "linux-x86_64",
    "manylinux_2_28_aarch64": "linux-aarch64",
    "musllinux_1_2_x86_64": "linux-x86_64",
    "macosx_11_0_arm64": "darwin-aarch64",
    "macosx_10_9_x86_64": "darwin-x86_64",
    "win_amd64": "windows-x86_64",
    "win_arm64": "windows-aarch64",
  };
  for (const [tags, platform] of Object.entries(platforms)) {
    assertEquals(
      wheelPlatform(`toy_box-1.0-cp312-cp312-${tags}.whl`),
      platform,
    );
  }
});

Deno.test("wheelPlatform knows none of a wheel for any or for others", () => {
  for (const tag of ["any", "macosx_11_0_universal2", "win32"]) {
    assertEquals(wheelPlatform(`toy_box-1.0-py3-none-${tag}.whl`), undefined);
  }
  assertEquals(wheelPlatform("toy_box-1.0.tar.gz"), undefined);
});
