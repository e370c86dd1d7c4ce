import { assertThrows } from "@std/assert";
import { Kfac } from "./kfac.ts";
import type { KfacOptions } from "./options.ts";

for (
  const [options, message] of [
    [{ damping: 0 }, "damping = 0: expected a number above 0"],
    [
      { momentum: 1 },
      "momentum = 1: expected a number of at least 0 and below 1",
    ],
    [
      { average: { decay: 1 } },
      "decay = 1: expected a number of at least 0 and below 1",
    ],
    [
      { trustRegion: { kind: "kl", limit: 0 } },
      "limit = 0: expected a number above 0",
    ],
    [
      { invertEvery: 0 },
      "invertEvery = 0: expected a whole number of at least 1",
    ],
    [
      { coldUpdates: -1 },
      "coldUpdates = -1: expected a whole number of at least 0",
    ],
    [
      { diagonal: { gain: 0 } },
      "gain = 0: expected a Fisher information above 0",
    ],
    [
      { form: "inverse", dampingKind: "plain" },
      "Cannot use damping 'plain' in the form 'inverse': expected 'factored', or form 'eigenbasis'",
    ],
    [
      { form: "ekfac", dampingKind: "factored" },
      "Cannot use damping 'factored' in the form 'ekfac': expected 'plain', or form 'eigenbasis'",
    ],
  ] as const
) {
  Deno.test(`one line: ${message}`, () => {
    assertThrows(() => new Kfac([], options as KfacOptions), Error, message);
  });
}
