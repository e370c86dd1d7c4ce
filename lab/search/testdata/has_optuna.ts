import { optunaPythons } from "../optuna.ts";

/** True where a Python has Optuna. */
export function hasOptuna(): boolean {
  return optunaPythons().some((python) => {
    try {
      const args = ["-c", "import optuna, cmaes"];
      return new Deno.Command(python, { args }).outputSync().success;
    } catch {
      return false;
    }
  });
}
