// deno-lint-ignore-file no-console -- a program that prints
/** Decides and learns, and goes on from its file where it was killed. */
import { Bandit, linear, thompson } from "@bellman/bandits";
import { loadStateSync, saveStateSync } from "@bellman/files";
import { existsSync } from "node:fs";

const [file, count] = Deno.args;
const bandit = new Bandit({
  actions: ["a", "b", "c", "d"],
  features: (step: number) => [1, Math.sin(step), Math.cos(3 * step)],
  model: linear({ discount: 0.999 }),
  explore: thompson(),
  seed: 1,
});
let step = 0, ids: string[] = [], actions = "";
if (existsSync(file)) {
  const { state } = loadStateSync(file);
  const saved = state as unknown as { ids: string[]; actions: string };
  bandit.load((state as { bandit: never }).bandit);
  ({ ids, actions } = saved);
  step = actions.length;
}
for (; step < Number(count); step++) {
  const { id, action } = bandit.decide(step);
  actions += action;
  ids.push(id);
  // A reward is late by up to nine decisions.
  const late = ids.splice(step % ids.length, ids.length < 10 ? 0 : 1);
  for (const it of late) bandit.reward(it, Math.sin(7 * step));
  if (step % 10 === 0) {
    saveStateSync({ bandit: bandit.save(), ids, actions }, file);
  }
}
console.log(actions, ...bandit.chances(step));
