/** What is called a setting without effect has none; tests/long looks for others. */
import { selectBackend } from "@bellman/compute";
import { STEPS } from "./forms.ts";
import { assertIdle, TYPICAL } from "./setting_effects.ts";

await selectBackend("cpu");

for (const form of TYPICAL) {
  Deno.test(`${form.name}: settings that are called idle change no number`, () => {
    assertIdle(form, STEPS);
  });
}
