import type { SnapshotOptions } from "@bellman/envs/games";

/**
 * Settings of a run besides those of its algorithm: environment, length,
 * seed, evaluations and checkpoints.
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
  algorithm: string;
  /**
   * Id of the environment with its version; `list` prints them.
   *
   * @default "CartPole-v1"
   * @alias env_id
   */
  env: string;
  /**
   * Options of the environment by name, such as {"gravity": -5}. They are added to the preset's; null removes one of those.
   *
   * @default {}
   * @alias env_kwargs
   */
  envKwargs: Record<string, unknown>;
  /**
   * Options of the evaluation environments that differ from envKwargs, such as {"repeatActionProbability": 0}.
   *
   * @default {}
   * @alias evaluation_env_kwargs, eval_env_kwargs
   */
  evaluationEnvKwargs: Record<string, unknown>;
  /**
   * Parameters of episodes by name, for environments whose reset takes some: a value, [low, high] or {"oneOf": [...]} drawn for each episode, {"schedule": [[progress, value], ...]} over the run, or {"lessons": [{"value": v, "until": return, "episodes": 100}, ..., {"value": v}]}, each of which ends when the mean return of its last episodes reaches until. Evaluations have the last values.
   *
   * @default {}
   */
  parameters: Record<string, unknown>;
  /**
   * Browser of games in pages: the path of Chromium or Chrome, auto to find one, or none for pages that people open.
   *
   * @default "auto"
   */
  browser: string;
  /**
   * Snapshots of the agent that play the other seats of games, such as {"window": 50}: window of them are kept, one is taken every snapshotEvery steps, opponents are drawn every swapEvery steps for each of groups of worlds, the newest policy with the probability latest; randomMoves is the share of random moves, openings the most random moves at the start, seat the agent's seat, role its role; null for none. They are added to the preset's.
   *
   * @default {}
   * @alias self_play
   */
  opponents: SnapshotOptions | null;
  /**
   * Policies of a game whose seats have several roles: separate for one of each role, shared for one that takes all seats in turn, as far as these have the same spaces.
   *
   * @default "separate"
   */
  roles: "separate" | "shared";
  /**
   * Opponent in games instead of snapshots: random, scripted, minimax:N which looks N plies ahead on a board, or the folder of a run.
   *
   * @default null
   */
  opponent: string | null;
  /**
   * Opponent in evaluations of games: random, scripted, minimax:N, or the folder of a run; null takes the scripted one where there is one.
   *
   * @default null
   */
  evaluationOpponent: string | null;
  /**
   * Recorded episodes to learn from: a folder of Minari, its HDF5 file, or an npz file; bc and iql learn from nothing else, sac, td3 and dqn from a share of them.
   *
   * @default null
   */
  data: string | null;
  /**
   * Share of the recorded episodes that is held out from learning; null is 0.1 for bc and iql, 0 for others.
   *
   * @default null
   * @minimum 0
   * @maximum 1
   */
  holdout: number | null;
  /**
   * Share of the other recorded episodes that is kept, those with the best discounted returns.
   *
   * @default 1
   * @exclusiveMinimum 0
   * @maximum 1
   * @alias best_fraction, frac
   */
  bestFraction: number;
  /**
   * Modules that register your own environments: paths or URLs; for gym: and pz: environments, .py files or names of Python modules.
   *
   * @default []
   * @alias env_modules, gym_packages
   */
  envModules: string[];
  /**
   * Wrappers of Python around gym: environments, the innermost first: module:Class, or {module:Class: {argument: value}}; the module may be a .py file.
   *
   * @default []
   * @alias env_wrapper, env_wrappers
   */
  wrappers: (string | Record<string, unknown>)[];
  /**
   * Modules that register your own algorithms or networks: paths or URLs.
   *
   * @default []
   * @alias algorithm_modules
   */
  algorithmModules: string[];
  /**
   * Root seed of all random streams of the run.
   *
   * @default 0
   * @minimum 0
   * @maximum 4294967295
   * @asType integer
   */
  seed: number;
  /**
   * Environment steps to train for, summed over the environments.
   *
   * @default 200000
   * @minimum 1
   * @maximum 1000000000000000
   * @asType integer
   * @alias total_timesteps, num_timesteps, n_timesteps
   */
  totalTimesteps: number;
  /**
   * Number of parallel environments.
   *
   * @default 8
   * @minimum 1
   * @maximum 1048576
   * @limit at most 4096 with loop: host
   * @asType integer
   * @alias num_env, num_envs, n_envs, nenvs
   */
  numEnvs: number;
  /**
   * Placement of the environments: in this thread (sync), in this thread and worker threads that share its memory (workers), in separate processes, which may crash (subprocesses), or in processes on the nodes of a Ray cluster (ray), which --cluster names. Evaluations get workers or separate processes here.
   *
   * @default "sync"
   * @alias vec_env
   */
  vectorization: "sync" | "workers" | "subprocesses" | "ray";
  /**
   * Place of the training loop: this program steps the environments (host), or acting, environments and updates are one compiled program (device), for algorithms that learn from rollouts in environments that are tensors; log rows, evaluations and checkpoints are between its calls.
   *
   * @default "host"
   */
  loop: "host" | "device";
  /**
   * Number of worker processes or threads that share the environments, for workers, subprocesses or ray; null uses one per core, but with ray it is required. Of environments of page: and program: the number of tabs and programs, one where it is null.
   *
   * @default null
   * @minimum 1
   * @maximum 4096
   * @multipleOf 1
   * @alias num_workers, n_workers
   */
  workers: number | null;
  /**
   * Seconds without an answer after which workers, processes, Python, pages or programs are replaced, in evaluations too.
   *
   * @default 60
   * @exclusiveMinimum 0
   * @maximum 1000000
   * @alias step_timeout
   */
  stepTimeout: number;
  /**
   * Seconds for workers, processes, Python, pages and programs to start and to make their environments.
   *
   * @default 120
   * @exclusiveMinimum 0
   * @maximum 1000000
   * @alias start_timeout
   */
  startTimeout: number;
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
   * Normalize observations of box spaces by their running mean and standard deviation, or by those of recorded data that is learned from alone. A replay buffer keeps raw observations, which are normalized with the current statistics.
   *
   * @default false
   * @alias normalize_observation, norm_obs
   */
  normalizeObservation: boolean;
  /**
   * Normalize rewards by the running standard deviation of the discounted return. A replay buffer keeps raw rewards, which are normalized with the current statistics.
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
   * Observations to stack along the last axis, oldest first.
   *
   * @default 1
   * @minimum 1
   * @maximum 1024
   * @asType integer
   * @alias frame_stack, nstack
   */
  frameStack: number;
  /**
   * Engine that acts and learns: onnx compiles for ONNX Runtime, xla for XLA, eager runs on the backend; auto compiles where it can, with XLA on a GPU alone, unless a backend is named.
   *
   * @default "auto"
   */
  engine: "auto" | "onnx" | "xla" | "eager";
  /**
   * Plugin and device of the engine xla, which the run writes here; a run with others is refused.
   *
   * @default null
   */
  plugin: string | null;
  /**
   * Threads of ONNX Runtime; null uses one for small networks and all cores for large ones.
   *
   * @default null
   * @minimum 1
   * @maximum 1024
   * @multipleOf 1
   */
  threads: number | null;
  /**
   * TensorFlow.js backend of the eager engine; auto uses the first one that loads.
   *
   * @default "auto"
   */
  backend: "auto" | "tensorflow" | "wasm" | "cpu";
  /**
   * Environment steps between two log rows, with one more at the end; null logs about 100 rows a run.
   *
   * @default null
   * @minimum 1
   * @maximum 1000000000000000
   * @multipleOf 1
   * @alias log_interval
   */
  logInterval: number | null;
  /**
   * Entries of the environment's info to record: sum, mean and last of each episode, in episodes.csv, and their means in the log; in addition to those that the environment was registered with.
   *
   * @default []
   * @alias info_statistics, info_keywords
   */
  infoStatistics: string[];
  /**
   * Environment steps between two evaluations, the last of them at the end of the run; null evaluates 20 times a run, 0 at the end only.
   *
   * @default null
   * @minimum 0
   * @maximum 1000000000000000
   * @multipleOf 1
   * @alias eval_freq, evaluation_interval, epoch_length
   */
  evaluationInterval: number | null;
  /**
   * Episodes of an evaluation.
   *
   * @default 20
   * @minimum 1
   * @maximum 1000000
   * @asType integer
   * @alias n_eval_episodes, evaluation_episodes, eval_n_episodes
   */
  evaluationEpisodes: number;
  /**
   * Steps after which an episode of an evaluation is cut, if it has not ended; such episodes are counted. null takes maxEpisodeSteps, or 10,000 where the environment has no limit.
   *
   * @default null
   * @minimum 1
   * @maximum 1000000000000000
   * @multipleOf 1
   * @alias evaluation_max_steps
   */
  evaluationMaxSteps: number | null;
  /**
   * Evaluate with the most likely actions instead of sampled ones.
   *
   * @default true
   * @alias deterministic, evaluation_deterministic, eval_deterministic
   */
  evaluationDeterministic: boolean;
  /**
   * Draw Q-values and sampled actions at each evaluation, as SVG files in the run's folder plots; for algorithms with a Q-function.
   *
   * @default false
   * @alias policy_plots
   */
  policyPlots: boolean;
  /**
   * Environment steps between two videos of an evaluation episode, which the report shows with one of the best agent; 0 records none.
   *
   * @default 0
   * @minimum 0
   * @maximum 1000000000000000
   * @asType integer
   * @alias video_interval
   */
  videoInterval: number;
  /**
   * Environment steps between two checkpoints; 0 saves one at the end only.
   *
   * @default 20000
   * @minimum 0
   * @maximum 1000000000000000
   * @asType integer
   * @alias save_freq, checkpoint_interval
   */
  checkpointInterval: number;
  /**
   * Number of latest checkpoints to keep, in addition to the best one.
   *
   * @default 3
   * @minimum 1
   * @maximum 1000000
   * @asType integer
   * @alias keep_checkpoints
   */
  keepCheckpoints: number;
  /**
   * Mean return of an evaluation at which the run stops; null never stops.
   *
   * @default null
   * @minimum -1e300
   * @maximum 1e300
   * @alias stop_reward, reward_threshold
   */
  stopReward: number | null;
  /**
   * Evaluations without a new best one after which the run stops; null never stops.
   *
   * @default null
   * @minimum 1
   * @maximum 1000000000000000
   * @multipleOf 1
   * @alias max_no_improvement_evals
   */
  patience: number | null;
  /**
   * Seconds of wall-clock time after which the run stops; null never stops.
   *
   * @default null
   * @exclusiveMinimum 0
   * @maximum 1000000000
   * @alias max_seconds
   */
  maxSeconds: number | null;
}
