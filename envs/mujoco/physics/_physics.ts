/**
 * The part of MuJoCo that the environments need, of either engine. Arrays are
 * views of the engine's own memory: they always show the current numbers, and
 * writing to `qpos`, `qvel` and `ctrl` sets them.
 */

/** A loaded model. */
export interface PhysicsModel {
  /** The engine that computes. */
  readonly engine: PhysicsEngine;
  /** MuJoCo's version, such as `4.0.0`. */
  readonly version: string;
  /** Lengths of positions, velocities and controls; numbers of things. */
  readonly sizes: MujocoSizes;
  /** Seconds that one step of the engine takes. */
  readonly timestep: number;
  /** Positions that the model starts from, `[nq]`. */
  readonly qpos0: Float64Array;
  /** Masses of the bodies, `[nbody]`. */
  readonly bodyMass: Float64Array;
  /** Lowest and highest control of each actuator, `[nu, 2]`. */
  readonly ctrlRange: Float64Array;
  /** Shapes to draw; read on first use. */
  readonly shapes: PhysicsShapes;
  /** Returns the number of a named thing; -1 if there is none of that name. */
  idOf(kind: MujocoObject, name: string): number;
  /** Makes a simulation. */
  makeData(): PhysicsData;
  /** Frees the model; no data of it may be used after. */
  close(): void;
}

/** The two ways in which MuJoCo is run. */
export type PhysicsEngine = "native" | "wasm";

/** A kind of things that a model names. */
export type MujocoObject =
  | "body"
  | "joint"
  | "geom"
  | "site"
  | "camera"
  | "tendon"
  | "actuator"
  | "sensor";

/** A model: its file, or its text. */
export interface ModelSource {
  /** Environment that it is for. */
  readonly name: string;
  readonly path?: string;
  readonly text?: string;
}

/** Returns an error with MuJoCo's words, which may be several lines, in one. */
export function cannotLoad({ name, path }: ModelSource, words: string): Error {
  const line = words.trim().replace(/\s*\n\s*/g, ", ");
  const model = path === undefined ? `of ${name}` : `'${path}'`;
  return new Error(`Cannot load the model ${model}: ${line}`);
}

/** Numbers of a model's things. */
export interface MujocoSizes {
  /** Numbers of the positions. */
  readonly nq: number;
  /** Numbers of the velocities. */
  readonly nv: number;
  /** Numbers of the controls. */
  readonly nu: number;
  /** Number of bodies, of which the first is the world. */
  readonly nbody: number;
  /** Number of geoms. */
  readonly ngeom: number;
  /** Number of sites. */
  readonly nsite: number;
  /** Number of tendons. */
  readonly ntendon: number;
  /** Number of cameras. */
  readonly ncam: number;
  /** Numbers of the sensors. */
  readonly nsensordata: number;
}

const SIZES = [
  ...["nq", "nv", "nu", "nbody", "ngeom", "nsite", "ntendon", "ncam"] as const,
  "nsensordata" as const,
];

/** Reads a model's sizes by their names. */
export function readSizes(
  read: (name: keyof MujocoSizes) => number,
): MujocoSizes {
  const sizes = SIZES.map((name) => [name, read(name)]);
  return Object.fromEntries(sizes);
}

/** Shapes and colours of a model's bodies; rows by geom, camera or mesh. */
export type PhysicsShapes = {
  readonly [name in keyof typeof SHAPE_ARRAYS]: InstanceType<
    typeof SHAPE_ARRAYS[name][3]
  >;
};

/**
 * Present numbers of a simulation, flat and row by row. After a step, what MuJoCo
 * computes from positions and velocities, such as `xpos` and `sensordata`, trails
 * those by a step of the engine, as in Gymnasium.
 */
export interface MujocoState {
  /** Positions of the joints, `[nq]`. */
  readonly qpos: Float64Array;
  /** Velocities of the joints, `[nv]`. */
  readonly qvel: Float64Array;
  /** Controls of the last step, `[nu]`. */
  readonly ctrl: Float64Array;
  /** Places of the bodies in metres, `[nbody, 3]`. */
  readonly xpos: Float64Array;
  /** Centres of mass of the bodies, `[nbody, 3]`. */
  readonly xipos: Float64Array;
  /** Inertias and masses of the bodies about their tree's centre, `[nbody, 10]`. */
  readonly cinert: Float64Array;
  /** Velocities of the bodies, turning first, `[nbody, 6]`. */
  readonly cvel: Float64Array;
  /** Forces of contacts on the bodies, `[nbody, 6]`. */
  readonly cfrcExt: Float64Array;
  /** Forces of the actuators on the joints, `[nv]`. */
  readonly qfrcActuator: Float64Array;
  /** Forces of constraints on the joints, `[nv]`. */
  readonly qfrcConstraint: Float64Array;
  /** Places of the sites, `[nsite, 3]`. */
  readonly siteXpos: Float64Array;
  /** Numbers of the sensors, `[nsensordata]`. */
  readonly sensordata: Float64Array;
  /** Lengths of the tendons, `[ntendon]`. */
  readonly tendonLength: Float64Array;
  /** Velocities of the tendons, `[ntendon]`. */
  readonly tendonVelocity: Float64Array;
  /** Places of the geoms, `[ngeom, 3]`. */
  readonly geomXpos: Float64Array;
  /** Rotations of the geoms, `[ngeom, 3, 3]`. */
  readonly geomXmat: Float64Array;
  /** Centres of mass of the bodies with those below them, `[nbody, 3]`. */
  readonly subtreeCom: Float64Array;
  /** Places of the cameras, `[ncam, 3]`. */
  readonly cameraXpos: Float64Array;
  /** Rotations of the cameras, `[ncam, 3, 3]`. */
  readonly cameraXmat: Float64Array;
}

/** Names of the arrays of a simulation. */
export type PhysicsArray = keyof MujocoState;

/** A simulation of a model. */
export interface PhysicsData extends MujocoState {
  /**
   * Advances the simulation with the controls as they are.
   *
   * @param times Steps of the engine.
   */
  step(times: number): void;
  /** Computes `cfrcExt` after a step: stepping alone does not. */
  computeContactForces(): void;
  /** Restores the model's first state, with controls and forces at 0. */
  reset(): void;
  /** Computes everything that follows from positions and velocities. */
  forward(): void;
  /** Copies the state that coming steps depend on. */
  state(): Float64Array;
  /**
   * Restores a state; what follows from it is recomputed.
   *
   * @param state The state that `state` returned: kind and length are not checked.
   */
  setState(state: Float64Array): void;
  /** Numbers of such a state. */
  readonly stateSize: number;
  /** Frees the simulation. */
  close(): void;
}

/** MuJoCo's names of the arrays, what they have one row for, and its length. */
export const PHYSICS_ARRAYS = {
  qpos: { field: "qpos", rows: "nq", width: 1 },
  qvel: { field: "qvel", rows: "nv", width: 1 },
  ctrl: { field: "ctrl", rows: "nu", width: 1 },
  xpos: { field: "xpos", rows: "nbody", width: 3 },
  xipos: { field: "xipos", rows: "nbody", width: 3 },
  cinert: { field: "cinert", rows: "nbody", width: 10 },
  cvel: { field: "cvel", rows: "nbody", width: 6 },
  cfrcExt: { field: "cfrc_ext", rows: "nbody", width: 6 },
  qfrcActuator: { field: "qfrc_actuator", rows: "nv", width: 1 },
  qfrcConstraint: { field: "qfrc_constraint", rows: "nv", width: 1 },
  siteXpos: { field: "site_xpos", rows: "nsite", width: 3 },
  tendonLength: { field: "ten_length", rows: "ntendon", width: 1 },
  sensordata: { field: "sensordata", rows: "nsensordata", width: 1 },
  tendonVelocity: { field: "ten_velocity", rows: "ntendon", width: 1 },
  geomXpos: { field: "geom_xpos", rows: "ngeom", width: 3 },
  geomXmat: { field: "geom_xmat", rows: "ngeom", width: 9 },
  subtreeCom: { field: "subtree_com", rows: "nbody", width: 3 },
  cameraXpos: { field: "cam_xpos", rows: "ncam", width: 3 },
  cameraXmat: { field: "cam_xmat", rows: "ncam", width: 9 },
} as const satisfies Record<
  PhysicsArray,
  { field: string; rows: keyof MujocoSizes; width: number }
>;

/** MuJoCo's names of the arrays that are drawn, their rows, widths and kinds. */
export const SHAPE_ARRAYS = {
  /** Kind of each geom, as `mjtGeom` numbers them. */
  geomType: ["geom_type", "ngeom", 1, Int32Array],
  /** Group of each: those above 2 are hidden. */
  geomGroup: ["geom_group", "ngeom", 1, Int32Array],
  /** Material of each, or -1. */
  geomMaterial: ["geom_matid", "ngeom", 1, Int32Array],
  /** Mesh of each, or -1. */
  geomData: ["geom_dataid", "ngeom", 1, Int32Array],
  /** Radii, half lengths or half widths. */
  geomSize: ["geom_size", "ngeom", 3, Float64Array],
  /** Colour and opacity from 0 to 1. */
  geomRgba: ["geom_rgba", "ngeom", 4, Float32Array],
  /** Colours of materials. */
  materialRgba: ["mat_rgba", "nmat", 4, Float32Array],
  /** Vertical opening of each camera in degrees. */
  cameraFovy: ["cam_fovy", "ncam", 1, Float64Array],
  /** First vertex of each mesh. */
  meshVertexStart: ["mesh_vertadr", "nmesh", 1, Int32Array],
  /** First triangle of each mesh. */
  meshFaceStart: ["mesh_faceadr", "nmesh", 1, Int32Array],
  /** Number of triangles of each mesh. */
  meshFaceCount: ["mesh_facenum", "nmesh", 1, Int32Array],
  /** Vertices of all meshes. */
  meshVertices: ["mesh_vert", "nmeshvert", 3, Float32Array],
  /** Triangles of all meshes by numbers of vertices. */
  meshFaces: ["mesh_face", "nmeshface", 3, Int32Array],
} as const;
