/** Each setting of each algorithm has an effect, or it is said that it has none. */
import { selectBackend } from "@bellman/compute";
import { STEPS } from "../algorithms/forms.ts";
import { assertEffects, TYPICAL } from "../algorithms/setting_effects.ts";

await selectBackend("cpu");

for (const form of TYPICAL) {
  Deno.test(`${form.name}: each setting changes a number, or is called idle`, () => {
    // The steps of ACKTR's values are bounded late.
    const isLate = form.definition.meta.name === "acktr";
    assertEffects(form, isLate ? 2 * STEPS : STEPS);
  });
}
