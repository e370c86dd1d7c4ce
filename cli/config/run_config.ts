/**
 * Everything a run needs beside its algorithm: which environment, how long,
 * with which seed, and how it is evaluated and saved.
 *
 * The comments of this type are the command line's `--help`, and its tags are
 * the schema that checks YAML files and `--set`.
 */
export interface RunConfig {
  /**
   * Algorithm to train.
   *
   * @default "a2c"
   */
  algorithm: "a2c" | "sac";
  /**
   * Environment id with its version, as `list` prints them.
   *
   * @default "CartPole-v1"
   * @alias env_id
   */
  env: string;
  /**
   * The environment's own options by name, such as {"gravity": -5}. They are added to a preset's; null takes one of those away.
   *
   * @default {}
   * @alias env_kwargs
   */
  envKwargs: Record<string, unknown>;
  /**
   * Options of the environments for evaluation that differ from envKwargs, such as {"repeatActionProbability": 0}.
   *
   * @default {}
   * @alias evaluation_env_kwargs, eval_env_kwargs
   */
  evaluationEnvKwargs: Record<string, unknown>;
  /**
   * Modules that register environments of your own, imported first: paths or URLs; for gym: environments names of Python modules.
   *
   * @default []
   * @alias env_modules, gym_packages
   */
  envModules: string[];
  /**
   * Root seed: every random stream of the run is split from it.
   *
   * @default 0
   * @minimum 0
   * @maximum 4294967295
   * @asType integer
   */
  seed: number;
  /**
   * Environment steps to train for, summed over the copies.
   *
   * @default 200000
   * @minimum 1
   * @maximum 1000000000000000
   * @asType integer
   * @alias total_timesteps, num_timesteps, n_timesteps
   */
  totalTimesteps: number;
  /**
   * Run for so many evaluation intervals, in the place of totalTimesteps; null leaves that as it is.
   *
   * @default null
   * @minimum 1
   * @maximum 1000000000000000
   * @multipleOf 1
   * @alias n_epochs
   */
  epochs: number | null;
  /**
   * Copies of the environment stepped side by side; sac takes 1 where nothing is said.
   *
   * @default 8
   * @minimum 1
   * @maximum 4096
   * @asType integer
   * @alias num_env, num_envs, n_envs, nenvs
   */
  numEnvs: number;
  /**
   * Where the copies run: in this thread (sync), in this thread and workers beside it that share memory with it (workers), or in processes of their own, which may crash (subprocesses). Evaluations have workers or processes of their own.
   *
   * @default "sync"
   * @alias vec_env
   */
  vectorization: "sync" | "workers" | "subprocesses";
  /**
   * Groups that the copies are divided into for workers or subprocesses; null takes one for each core.
   *
   * @default null
   * @minimum 1
   * @maximum 4096
   * @multipleOf 1
   * @alias num_workers, n_workers
   */
  workers: number | null;
  /**
   * Seconds that workers, processes or Python may be silent in a step before they are replaced, in evaluations too.
   *
   * @default 60
   * @exclusiveMinimum 0
   * @maximum 1000000
   * @alias step_timeout
   */
  stepTimeout: number;
  /**
   * Steps after which an episode is truncated; null keeps the environment's own limit.
   *
   * @default null
   * @minimum 1
   * @maximum 1000000000000000
   * @multipleOf 1
   * @alias max_episode_steps
   */
  maxEpisodeSteps: number | null;
  /**
   * Scale observations by their running mean and standard deviation. An algorithm with a replay buffer keeps originals and scales them by the statistics of the moment.
   *
   * @default false
   * @alias normalize_observation, norm_obs
   */
  normalizeObservation: boolean;
  /**
   * Scale rewards by the running standard deviation of the discounted return; from a replay buffer by that of the moment.
   *
   * @default false
   * @alias normalize_reward, norm_reward
   */
  normalizeReward: boolean;
  /**
   * Clip each reward to -1..1.
   *
   * @default false
   * @alias clip_reward, clip_rewards
   */
  clipReward: boolean;
  /**
   * Observations stacked along the last axis, oldest first.
   *
   * @default 1
   * @minimum 1
   * @maximum 1024
   * @asType integer
   * @alias frame_stack, nstack
   */
  frameStack: number;
  /**
   * What acts and learns: onnx compiles for ONNX Runtime, eager runs on the backend; auto compiles where it can, unless a backend is named.
   *
   * @default "auto"
   */
  engine: "auto" | "onnx" | "eager";
  /**
   * Threads of ONNX Runtime; null takes one for small networks and all cores for large ones.
   *
   * @default null
   * @minimum 1
   * @maximum 1024
   * @multipleOf 1
   */
  threads: number | null;
  /**
   * TensorFlow.js backend that eager tensors are computed on; auto takes the first that loads.
   *
   * @default "auto"
   */
  backend: "auto" | "tensorflow" | "wasm" | "cpu";
  /**
   * Updates between two log rows.
   *
   * @default 100
   * @minimum 1
   * @maximum 1000000000000000
   * @asType integer
   * @alias log_interval
   */
  logInterval: number;
  /**
   * Environment steps between two evaluations, the last of them at the end of the run; 0 evaluates then only.
   *
   * @default 20000
   * @minimum 0
   * @maximum 1000000000000000
   * @asType integer
   * @alias eval_freq, evaluation_interval, epoch_length
   */
  evaluationInterval: number;
  /**
   * Episodes of one evaluation.
   *
   * @default 20
   * @minimum 1
   * @maximum 1000000
   * @asType integer
   * @alias n_eval_episodes, evaluation_episodes, eval_n_episodes
   */
  evaluationEpisodes: number;
  /**
   * Evaluate with the most likely action instead of a sampled one.
   *
   * @default true
   * @alias deterministic, evaluation_deterministic, eval_deterministic
   */
  evaluationDeterministic: boolean;
  /**
   * Draw Q values and samples of the policy at each evaluation, as SVG in the run's folder plots; for algorithms with a Q function of actions, such as sac.
   *
   * @default false
   * @alias policy_plots
   */
  policyPlots: boolean;
  /**
   * Environment steps between two checkpoints; 0 writes one at the end only.
   *
   * @default 20000
   * @minimum 0
   * @maximum 1000000000000000
   * @asType integer
   * @alias save_freq, checkpoint_interval
   */
  checkpointInterval: number;
  /**
   * Newest checkpoints that are kept; the best one is kept beside them.
   *
   * @default 3
   * @minimum 1
   * @maximum 1000000
   * @asType integer
   * @alias keep_checkpoints
   */
  keepCheckpoints: number;
  /**
   * Stop once an evaluation's mean return reaches this; null never does.
   *
   * @default null
   * @minimum -1e300
   * @maximum 1e300
   * @alias stop_reward, reward_threshold
   */
  stopReward: number | null;
  /**
   * Stop after this many evaluations without a better one; null never does.
   *
   * @default null
   * @minimum 1
   * @maximum 1000000000000000
   * @multipleOf 1
   * @alias max_no_improvement_evals
   */
  patience: number | null;
  /**
   * Stop after this many seconds of wall clock; null never does.
   *
   * @default null
   * @exclusiveMinimum 0
   * @maximum 1000000000
   * @alias max_seconds
   */
  maxSeconds: number | null;
}
