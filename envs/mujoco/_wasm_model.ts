import type { MainModule, MjModel } from "@mujoco/mujoco";
import type {
  PhysicsData,
  PhysicsModel,
  PhysicsShapes,
  PhysicsSizes,
} from "./_physics.ts";
import { WasmData } from "./_wasm_data.ts";

/** Kinds of objects as `mjtObj` numbers them. */
const KINDS = { body: 1, camera: 7 } as const;

/**
 * A model in WebAssembly's memory. Its arrays are copies, as views end when that
 * memory grows.
 */
export class WasmModel implements PhysicsModel {
  readonly engine = "wasm";
  readonly version: string;
  readonly sizes: PhysicsSizes;
  readonly timestep: number;
  readonly qpos0: Float64Array;
  readonly bodyMass: Float64Array;
  readonly ctrlRange: Float64Array;
  /** What computes. */
  readonly module: MainModule;
  /** The model as the module knows it. */
  readonly handle: MjModel;

  #shapes: PhysicsShapes | undefined;

  constructor(module: MainModule, model: MjModel) {
    const { nq, nv, nu, nbody, ngeom, nsite, ntendon, ncam } = model;
    this.module = module;
    this.handle = model;
    this.version = module.mj_versionString();
    this.sizes = { nq, nv, nu, nbody, ngeom, nsite, ntendon, ncam };
    this.timestep = model.opt.timestep;
    this.qpos0 = model.qpos0.slice();
    this.bodyMass = model.body_mass.slice();
    this.ctrlRange = model.actuator_ctrlrange.slice();
  }

  get shapes(): PhysicsShapes {
    return this.#shapes ??= shapesOf(this.handle);
  }

  idOf(kind: "body" | "camera", name: string): number {
    return this.module.mj_name2id(this.handle, KINDS[kind], name);
  }

  makeData(): PhysicsData {
    return new WasmData(this);
  }

  close(): void {
    if (!this.handle.isDeleted()) this.handle.delete();
  }
}

function shapesOf(model: MjModel): PhysicsShapes {
  return {
    geomType: model.geom_type.slice(),
    geomBody: model.geom_bodyid.slice(),
    geomGroup: model.geom_group.slice(),
    geomMaterial: model.geom_matid.slice(),
    geomData: model.geom_dataid.slice(),
    geomSize: model.geom_size.slice(),
    geomRgba: model.geom_rgba.slice(),
    materialRgba: model.mat_rgba.slice(),
    cameraFovy: model.cam_fovy.slice(),
    meshVertexStart: model.mesh_vertadr.slice(),
    meshFaceStart: model.mesh_faceadr.slice(),
    meshFaceCount: model.mesh_facenum.slice(),
    meshVertices: model.mesh_vert.slice(),
    meshFaces: model.mesh_face.slice(),
  };
}

/**
 * Loads a model's file. It must be whole in itself: the module sees no other
 * files.
 *
 * @throws {Error} If MuJoCo cannot, with its own words.
 */
export function loadWasmModel(module: MainModule, path: string): WasmModel {
  const xml = Deno.readTextFileSync(path);
  let model: MjModel | undefined;
  try {
    model = module.MjModel.from_xml_string(xml);
    const loaded = new WasmModel(module, model);
    // A model may be sound and yet allow itself too little memory.
    const data = loaded.makeData();
    data.forward();
    data.close();
    return loaded;
  } catch (error) {
    model?.delete();
    const text = (error as Error).message
      .replace(/^MuJoCo Error: (Loading error: )?/, "")
      .trim().replace(/\s*\n\s*/g, ", ");
    throw new Error(`Cannot load the model '${path}': ${text}`);
  }
}

/**
 * Starts MuJoCo in WebAssembly.
 *
 * @throws {Error} If the npm package is not there or cannot be read.
 */
export async function startMujoco(): Promise<MainModule> {
  try {
    const { default: start } = await import("@mujoco/mujoco");
    return await start();
  } catch (error) {
    const [line] = (error as Error).message.split("\n");
    throw new Error(`Cannot load MuJoCo's WebAssembly: ${line}`);
  }
}
