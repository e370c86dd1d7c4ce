import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { AreaResizer } from "./area_resizer.ts";
import { FRAME, SCREEN, ScreenKernel } from "./_screen_kernel.ts";
import { assembled, GENERATED } from "./testdata/assemble.ts";
import { screen } from "./testdata/screen.ts";

Deno.test("the bytes are those of the text", async () => {
  assertEquals(await Deno.readTextFile(GENERATED), await assembled());
});

Deno.test("its averages are those of the plain form, bit for bit", () => {
  const kernel = new ScreenKernel();
  const plain = new AreaResizer(SCREEN, FRAME);
  fc.assert(
    fc.property(screen(255), (pixels) => {
      kernel.gray.set(pixels);
      kernel.resize();
      assertEquals(kernel.frame, plain.resize(pixels));
    }),
    { numRuns: 30 },
  );
});

Deno.test("averages of any two neighbouring grays are rounded alike", () => {
  const kernel = new ScreenKernel();
  const plain = new AreaResizer(SCREEN, FRAME);
  for (let low = 0; low < 255; low++) {
    // A pattern in which the two are mixed in many ways; some of them are ties.
    for (let at = 0; at < kernel.gray.length; at++) {
      kernel.gray[at] = low + ((at * at) >> 7 & 1);
    }
    kernel.resize();
    assertEquals(kernel.frame, plain.resize(kernel.gray));
  }
});

Deno.test("grays are looked up for each pair of pixels", () => {
  const kernel = new ScreenKernel();
  kernel.pairs.forEach((_, i) => kernel.pairs[i] = (i * 101) >> 3);
  fc.assert(
    fc.property(screen(255), screen(255), fc.boolean(), (a, b, isSame) => {
      const [before, now] = kernel.screens;
      before.set(a);
      now.set(isSame ? a : b);
      kernel.toGray(before, now);
      const expected = before.map((it, i) => kernel.pairs[it * 256 + now[i]]);
      assertEquals(kernel.gray, expected);
    }),
    { numRuns: 30 },
  );
});
