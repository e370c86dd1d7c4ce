import type { Env, Space } from "@bellman/types";
import type { EnvData } from "./_env_data.ts";
import { type EnvDataFault, faultOf } from "./env_data_error.ts";
import { actionChoices } from "./spaces/choices.ts";

/** Finds the choices of masked actions; throws where actions have none. */
export function maskedChoices(space: Space, id = "an environment"): number[] {
  const choices = actionChoices(space);
  if (choices !== undefined) return choices;
  throw new TypeError(
    `Cannot mask the actions of ${id}, which are a ${space.type}: expected discrete, multiDiscrete or multiBinary ones`,
  );
}

/** Counts the choices of all parts of masked actions; throws where they have none. */
export function countChoices(space: Space, id?: string): number {
  return maskedChoices(space, id).reduce((sum, n) => sum + n, 0);
}

/** Finds the fault of masks that are no bytes of 0 and 1, one for each choice. */
export function maskFault(
  masks: unknown,
  size: number,
): EnvDataFault | undefined {
  if (!(masks instanceof Uint8Array) || masks.length !== size) {
    return faultOf("the action mask", masks, `a Uint8Array of ${size}`);
  }
  for (let i = 0; i < size; i++) {
    if (masks[i] > 1) return faultOf(`actionMasks[${i}]`, masks[i], "0 or 1");
  }
}

/** Finds the fault of masks that allow none of the choices of a part. */
export function forbiddenFault(
  masks: Uint8Array,
  choices: readonly number[],
): EnvDataFault | undefined {
  for (let part = 0, at = 0; part < choices.length; part++) {
    let allowed = 0;
    for (const end = at + choices[part]; at < end; at++) allowed += masks[at];
    if (allowed > 0) continue;
    return {
      field: choices.length === 1
        ? "the action mask"
        : `part ${part} of the action mask`,
      got: `0 for all ${choices[part]} choices`,
      wanted: "1 for at least one",
    };
  }
}

/** Masks of the actions of several environments, checked where they enter. */
export class ActionMasks {
  /** Actions that the newest observations allow `[numEnvs, choices]`. */
  readonly newest: Uint8Array;
  /** Actions that the final observations allow `[numEnvs, choices]`. */
  readonly final: Uint8Array;
  readonly #data: EnvData;
  readonly #choices: readonly number[];
  readonly #size: number;

  /**
   * Allows all actions.
   *
   * @throws {TypeError} If they are boxes, or nested.
   */
  constructor(
    { actionSpace, spec }: Env,
    { numEnvs, data }: { numEnvs: number; data: EnvData },
  ) {
    this.#data = data;
    this.#choices = maskedChoices(actionSpace, spec?.id);
    this.#size = countChoices(actionSpace);
    this.newest = new Uint8Array(numEnvs * this.#size).fill(1);
    this.final = this.newest.slice();
  }

  /** Asks an environment for the actions that its newest observation allows. */
  ask(env: Env, copy: number, step: number): void {
    const masks = this.#checked(env, copy, step);
    const fault = forbiddenFault(masks, this.#choices);
    if (fault) throw this.#data.error(fault, { copy, step });
    this.newest.set(masks, copy * this.#size);
  }

  /** Asks one whose episode ended, before its reset. */
  askFinal(env: Env, copy: number, step: number, terminated: boolean): void {
    const masks = this.#checked(env, copy, step), from = copy * this.#size;
    const fault = forbiddenFault(masks, this.#choices);
    if (!fault) this.final.set(masks, from);
    // No action follows an end state: games often allow none there.
    else if (terminated) this.final.fill(1, from, from + this.#size);
    else throw this.#data.error(fault, { copy, step });
  }

  #checked(env: Env, copy: number, step: number): Uint8Array {
    const masks: unknown = env.actionMasks!();
    const fault = maskFault(masks, this.#size);
    if (fault) throw this.#data.error(fault, { copy, step });
    return masks as Uint8Array;
  }
}

/** Makes the masks of environments, where they mask; all of them do or none. */
export function masksOf(
  envs: readonly Env[],
  data: EnvData,
): ActionMasks | undefined {
  const masks = (env: Env) => env.actionMasks !== undefined;
  const [first] = envs,
    odd = envs.findIndex((it) => masks(it) !== masks(first));
  if (odd >= 0) {
    const [does, not] = masks(first) ? [0, odd] : [odd, 0];
    throw new RangeError(
      `Cannot step copies together of which only some mask their actions: copy ${does} does, copy ${not} does not`,
    );
  }
  return masks(first)
    ? new ActionMasks(first, { numEnvs: envs.length, data })
    : undefined;
}
