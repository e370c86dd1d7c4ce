import type {
  Actor,
  Awaitable,
  Batch,
  BoxArray,
  PolicyOptions,
  StateTree,
  Statistics,
  Trainable,
  VecStep,
} from "@bellman/types";
import { loadAtomically } from "@bellman/files";
import { countChoices } from "../_action_masks.ts";
import { snapshotRecord } from "../snapshot.ts";
import type { ByRole, RolesVecEnv } from "./roles_vec_env.ts";

/**
 * Agents of a game's roles as one: each learns from the rows of its role in a
 * {@linkcode RolesVecEnv}, and knows nothing of the others. Statistics have the role
 * before their names.
 *
 * @example
 * ```ts
 * import { Agent } from "@bellman/agent";
 * import { a2c } from "@bellman/a2c";
 * import { RoleAgents, RolesVecEnv, SelfPlayVecEnv, TicTacToe } from "@bellman/envs/games";
 * import { train } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * // A game with roles "cat" and "mouse" has an entry and an agent for each.
 * const player = new SelfPlayVecEnv(new TicTacToe({ numEnvs: 8 }));
 * const env = new RolesVecEnv({ player });
 * const agents = new RoleAgents(env, { player: new Agent(a2c, player) });
 * env.play(agents);
 * const { step } = await train(agents, env, { totalTimesteps: 160 });
 * assertEquals(step, 160);
 * agents.close();
 * ```
 */
export class RoleAgents implements Trainable {
  /** Agents of the roles. */
  readonly agents: ByRole<Trainable>;
  readonly #agents: readonly [role: string, agent: Trainable][];
  /** Number of choices in a row of a role's masks; 0 where it has none. */
  readonly #choices: ByRole<number>;

  /**
   * Joins agents.
   *
   * @param env Environment of the roles.
   * @param agents Agent of each role, made for its part of the environment.
   * @throws {TypeError} If a role has no agent.
   */
  constructor(env: Pick<RolesVecEnv, "roles">, agents: ByRole<Trainable>) {
    const roles = Object.entries(env.roles);
    const missing = roles.find(([role]) => !Object.hasOwn(agents, role));
    if (missing !== undefined) {
      throw new TypeError(
        `Cannot learn the roles ${
          Object.keys(env.roles).join(", ")
        }: expected an agent of ${missing[0]}`,
      );
    }
    this.agents = agents;
    this.#agents = roles.map(([role]) => [role, agents[role]]);
    this.#choices = Object.fromEntries(
      roles.map(([role, { actionSpace, actionMasks }]) => [
        role,
        actionMasks === undefined ? 0 : countChoices(actionSpace),
      ]),
    );
  }

  /** Gets all agents ready to learn. */
  async ready(): Promise<void> {
    for (const [, agent] of this.#agents) await agent.ready?.();
  }

  /** Chooses the actions of all roles. */
  act(observations: Batch, actionMasks?: Uint8Array): Awaitable<Batch> {
    const given = observations as Record<string, Batch>;
    const masks = this.#masksOf(given, actionMasks);
    return together(
      this.#agents.map(([role, agent]) => [
        role,
        agent.act(given[role], masks[role]),
      ]),
    );
  }

  /** Shows each agent what followed its actions. */
  observe(step: VecStep): void {
    const steps = this.#stepsOf(step);
    for (const [role, agent] of this.#agents) agent.observe(steps[role]);
  }

  /** Lets all agents learn. */
  update(): Awaitable<Statistics | undefined> {
    const updates = together(
      this.#agents.map(([role, agent]) => [role, agent.update()]),
    );
    return updates instanceof Promise
      ? updates.then(prefixed)
      : prefixed(updates);
  }

  /** Largest number of updates of an agent in the last call of `update`. */
  get updatesInCall(): number {
    return Math.max(...this.#agents.map(([, it]) => it.updatesInCall ?? 1));
  }

  /** Ends the running episodes of all roles. */
  endEpisodes(): void {
    for (const [, agent] of this.#agents) agent.endEpisodes?.();
  }

  /** Saves all agents. */
  save(): StateTree {
    return Object.fromEntries(
      this.#agents.map(([role, agent]) => [role, agent.save()]),
    );
  }

  /** Restores a state that `save` returned. */
  load(state: StateTree): void {
    const saved = snapshotRecord(state, Object.keys(this.#choices));
    loadAtomically(saved, {
      save: () => this.save() as typeof saved,
      load: (it) => this.#agents.forEach(([role, own]) => own.load(it[role])),
    });
  }

  /**
   * Returns an actor of all roles, or of those whose rows it gets.
   *
   * @param options As of an agent; a frozen actor has `numEnvs` rows of each role, and
   * others all rows together.
   */
  policy(options: PolicyOptions = {}): Actor {
    const { numEnvs = 1, frozen = false } = options;
    const actors: Record<string, Actor> = {};
    const actorOf = (role: string, rows: number) =>
      actors[role] ??= this.agents[role].policy({ ...options, numEnvs: rows });
    const all = () => Object.values(actors);
    const roles = this.#agents.map(([role]) => role);
    if (frozen) { for (const role of roles) actorOf(role, numEnvs); }
    return {
      roles,
      act: (observations, actionMasks) => {
        const given = observations as Record<string, Batch>;
        const present = Object.keys(given);
        const masks = this.#masksOf(given, actionMasks);
        return together(present.map((role) => {
          const actor = actorOf(role, numEnvs / present.length);
          return [role, actor.act(given[role], masks[role])];
        }));
      },
      observe: (step) => {
        for (const [role, it] of Object.entries(this.#stepsOf(step))) {
          actors[role].observe?.(it);
        }
      },
      endEpisodes: () => all().forEach((it) => it.endEpisodes?.()),
      close: () => all().forEach((it) => it.close?.()),
      ...frozen && {
        save: () =>
          Object.fromEntries(roles.map((it) => [it, actors[it].save!()])),
        load: (state) => {
          const saved = snapshotRecord(state, roles);
          for (const role of roles) actors[role].load!(saved[role]);
        },
      },
    };
  }

  /** Frees the resources of all agents. */
  close(): void {
    for (const [, agent] of this.#agents) agent.close?.();
  }

  /** Splits masks by the roles of a batch. */
  #masksOf(
    present: ByRole<unknown>,
    masks: Uint8Array | undefined,
  ): ByRole<Uint8Array | undefined> {
    const roles = Object.keys(present);
    const size = roles.reduce((sum, it) => sum + this.#choices[it], 0);
    const rows = masks === undefined ? 0 : masks.length / size;
    let at = 0;
    return Object.fromEntries(roles.map((role) => {
      const from = at;
      at += rows * this.#choices[role];
      return [role, at === from ? undefined : masks!.subarray(from, at)];
    }));
  }

  /** Splits a step by its roles. */
  #stepsOf({ episodes: _, lost: __, ...step }: VecStep): ByRole<VecStep> {
    const observations = step.observations as Record<string, Batch>;
    const finals = step.finalObservations as Record<string, Batch>;
    const roles = Object.keys(observations);
    const count = step.rewards.length / roles.length;
    const masks = this.#masksOf(observations, step.actionMasks);
    const finalMasks = this.#masksOf(observations, step.finalActionMasks);
    return Object.fromEntries(roles.map((role, i) => {
      const rows = <T extends BoxArray>(array: T) =>
        array.subarray(i * count, (i + 1) * count) as T;
      return [role, {
        observations: observations[role],
        finalObservations: finals[role],
        rewards: rows(step.rewards),
        terminated: rows(step.terminated),
        truncated: rows(step.truncated),
        ...masks[role] && { actionMasks: masks[role] },
        ...finalMasks[role] && { finalActionMasks: finalMasks[role] },
      }];
    }));
  }
}

/** Joins values by role, and waits for those that are promises. */
function together<T>(
  values: readonly (readonly [role: string, value: Awaitable<T>])[],
): Awaitable<Record<string, T>> {
  const waits = values.some(([, it]) => it instanceof Promise);
  if (!waits) return Object.fromEntries(values) as Record<string, T>;
  return Promise.all(values.map(async ([role, it]) => [role, await it]))
    .then((it) => Object.fromEntries(it));
}

/** Joins the statistics of agents that learned. */
function prefixed(
  statistics: Record<string, Statistics | undefined>,
): Statistics | undefined {
  const all = Object.entries(statistics).flatMap(([role, values]) =>
    Object.entries(values ?? {})
      .map(([name, value]) => [`${role}/${name}`, value])
  );
  return all.length === 0 ? undefined : Object.fromEntries(all);
}
