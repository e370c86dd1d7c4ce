/**
 * From where a picture is taken when no camera of the model is asked for: from a
 * distance, following a body.
 */
export interface CameraConfig {
  /**
   * The body to follow, by its number; -1 to look at one place.
   *
   * @default 1
   */
  trackBodyId?: number;
  /**
   * Metres from what is looked at.
   *
   * @default 4
   */
  distance?: number;
  /**
   * The place to look at, `[x, y, z]` in metres; of a followed body only the
   * height is taken.
   *
   * @default where the followed body is
   */
  lookAt?: readonly number[];
  /**
   * Degrees above the horizon that the camera looks: negative from above.
   *
   * @default -20
   */
  elevation?: number;
  /**
   * Degrees around the vertical axis; 90 looks along `y`.
   *
   * @default 90
   */
  azimuth?: number;
}

/**
 * Options that all environments on MuJoCo have. Gymnasium's `render_mode`,
 * `max_geom` and `visual_options` have no counterpart: `render` always returns
 * a picture, which our own renderer draws.
 */
export interface MujocoOptions {
  /**
   * The model: a file's path, or a name such as `ant.xml` among the installed
   * ones.
   *
   * @default the environment's own of Gymnasium
   */
  xmlFile?: string;
  /**
   * Steps of the simulation for each step of the environment.
   *
   * @default the environment's own of Gymnasium
   */
  frameSkip?: number;
  /**
   * From where `render` looks.
   *
   * @default the environment's own
   */
  defaultCameraConfig?: CameraConfig;
  /**
   * A camera of the model to look through, by its number.
   *
   * @default none: `defaultCameraConfig` is used
   */
  cameraId?: number;
  /**
   * A camera of the model to look through, by its name.
   *
   * @default none: `defaultCameraConfig` is used
   */
  cameraName?: string;
  /**
   * Pixels in a row of `render`'s picture.
   *
   * @default 480
   */
  width?: number;
  /**
   * Rows of `render`'s picture.
   *
   * @default 480
   */
  height?: number;
  /**
   * Engine that computes: the native library, MuJoCo compiled to WebAssembly,
   * which importing `@bellman/envs/mujoco/wasm` loads, or the first of them that
   * is there. Their last digits differ.
   *
   * @default "auto"
   */
  engine?: "auto" | "native" | "wasm";
}
