/** Parameters of a run's environments: set, changed by lessons, told. */
import { Curriculum, type ParameterSettings } from "@bellman/envs";
import type { Callback, TrainContext } from "@bellman/training";
import type { EnvParameters, VecEnv } from "@bellman/types";
import type { ResolvedConfig } from "../settings/resolve.ts";
import { messageOf, UsageError } from "../program/errors.ts";

/**
 * Makes the parameters of a configuration.
 *
 * @throws {UsageError} If one has none of the forms.
 */
export function curriculumOf(
  { parameters }: Pick<ResolvedConfig, "parameters">,
): Curriculum | undefined {
  if (Object.keys(parameters).length === 0) return undefined;
  try {
    return new Curriculum(parameters as ParameterSettings);
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
}

/**
 * Sets the parameters of environments.
 *
 * @throws {UsageError} If they take none.
 */
export function setParameters(
  env: VecEnv,
  values: EnvParameters,
  { env: id }: Pick<ResolvedConfig, "env">,
): void {
  try {
    env.setParameters!(values);
  } catch (error) {
    // None, or in a host whose environments have none.
    if (!(error instanceof TypeError)) throw error;
    env.close();
    throw new UsageError(
      `Cannot set parameters of ${id}, whose episodes take none: expected an environment whose reset takes parameters, or envKwargs`,
      { cause: error },
    );
  }
}

/** Makes what changes parameters in training, and tells of them. */
export function parameterCallbacks(
  config: ResolvedConfig,
  onNotice: (line: string) => void = () => {},
): Callback[] {
  const curriculum = curriculumOf(config);
  if (curriculum === undefined) return [];
  let inForce = "", isHeard = false;
  const valuesAt = ({ step, totalTimesteps }: TrainContext) =>
    curriculum.values(step / totalTimesteps);
  const apply = (context: TrainContext): void => {
    const values = valuesAt(context), text = JSON.stringify(values);
    if (text === inForce) return;
    inForce = text;
    context.env!.setParameters!(values);
  };
  return [{
    name: "parameters",
    onStart: apply,
    onStep: apply,
    onEpisode(context, episode) {
      const ended = context.step / context.env!.numEnvs;
      const times = { began: ended - episode.length, ended };
      for (const name of curriculum.observe(episode.return, times)) {
        onNotice(
          `Lesson ${
            curriculum.lessons[name]
          } of ${name} begins at step ${context.step}`,
        );
      }
      if (isHeard) return;
      isHeard = true;
      const unread = context.env!.setParameters!(valuesAt(context));
      if (unread.length === 0) return;
      onNotice(
        `${config.env} does not look at ${
          unread.join(", ")
        }, which parameters sets`,
      );
    },
    onUpdate(context) {
      for (const [name, value] of Object.entries(valuesAt(context))) {
        if (typeof value !== "number") continue;
        context.record(`parameters/${name}`, value);
      }
      for (const [name, lesson] of Object.entries(curriculum.lessons)) {
        context.record(`parameters/${name}_lesson`, lesson);
      }
    },
    save: () => curriculum.save(),
    load: (state) => curriculum.load(state),
  }];
}
