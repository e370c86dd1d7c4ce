import { assertThrows } from "@std/assert";
import { checkOptionNames } from "./_check_option_names.ts";

const ID = "ALE/Pong-v5";

Deno.test("options that a game has pass", () => {
  checkOptionNames(ID, {});
  checkOptionNames(ID, { obsType: "ram", mode: 1 });
  checkOptionNames(ID, { preprocessing: "baselines", noopMax: 0 });
  checkOptionNames(ID, { noopMax: undefined });
});

Deno.test("others are refused with the nearest one", () => {
  const refused = (options: Record<string, unknown>, says: string) =>
    assertThrows(() => checkOptionNames(ID, options), TypeError, says);
  refused({ frameskp: 3 }, "with 'frameskp': did you mean 'frameskip'?");
  refused({ preprocesing: "deepmind" }, "did you mean 'preprocessing'?");
  refused({ clipReward: true }, "that is for preprocessed games");
  refused({ preprocessing: "deepmind", obsType: "ram" }, "did you mean");
  refused({ preprocessing: "deepmind", preset: "deepmind" }, "with 'preset'");
});
