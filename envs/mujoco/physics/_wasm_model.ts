import { builtin } from "@bellman/files";
import type {
  DoubleBuffer,
  MainModule,
  MjData,
  MjModel,
} from "npm:@mujoco/mujoco@3.14.0";
import {
  cannotLoad,
  type ModelSource,
  type MujocoObject,
  type MujocoSizes,
  PHYSICS_ARRAYS,
  type PhysicsArray,
  type PhysicsData,
  type PhysicsModel,
  type PhysicsShapes,
  readSizes,
  SHAPE_ARRAYS,
} from "./_physics.ts";

/** Signature of all that an integrator depends on, in the pinned version. */
const INTEGRATION = 16383;

/** A simulation in WebAssembly's memory, with its arrays. */
class WasmSimulation {
  readonly stateSize: number;
  #model: WasmModel;
  #data: MjData;
  #state: DoubleBuffer;

  constructor(model: WasmModel) {
    const { module, handle } = model;
    this.#model = model;
    this.#data = new module.MjData(handle);
    this.stateSize = module.mj_stateSize(handle, INTEGRATION);
    this.#state = new module.DoubleBuffer(this.stateSize);
  }

  /**
   * Adds its arrays, each of which is asked for anew: a view ends when the memory
   * grows, as it does when more simulations are made.
   */
  withArrays(): this & Record<PhysicsArray, Float64Array> {
    for (const [name, { field }] of Object.entries(PHYSICS_ARRAYS)) {
      Object.defineProperty(this, name, { get: () => this.#data[field] });
    }
    return this as this & Record<PhysicsArray, Float64Array>;
  }

  step(times: number): void {
    const { module, handle } = this.#model;
    for (let i = 0; i < times; i++) module.mj_step(handle, this.#data);
  }

  computeContactForces(): void {
    this.#model.module.mj_rnePostConstraint(this.#model.handle, this.#data);
  }

  reset(): void {
    this.#model.module.mj_resetData(this.#model.handle, this.#data);
  }

  forward(): void {
    this.#model.module.mj_forward(this.#model.handle, this.#data);
  }

  state(): Float64Array {
    const { module, handle } = this.#model;
    module.mj_getState(handle, this.#data, this.#state, INTEGRATION);
    return this.#state.GetView().slice();
  }

  setState(state: Float64Array): void {
    this.#writeState(state);
    // Computing what follows changes the solver's first guess, which is state.
    this.forward();
    this.#writeState(state);
  }

  #writeState(state: Float64Array): void {
    const { module, handle } = this.#model;
    module.mj_setState(handle, this.#data, [...state], INTEGRATION);
  }

  close(): void {
    if (this.#data.isDeleted()) return;
    this.#data.delete();
    this.#state.delete();
  }
}

/** Kinds of objects as `mjtObj` numbers them in the pinned version. */
const KINDS: Readonly<Record<MujocoObject, number>> = {
  body: 1,
  joint: 3,
  geom: 5,
  site: 6,
  camera: 7,
  tendon: 18,
  actuator: 19,
  sensor: 20,
};

/**
 * A model in WebAssembly's memory. Its arrays are copies, as views end when that
 * memory grows.
 */
class WasmModel implements PhysicsModel {
  readonly engine = "wasm";
  readonly version: string;
  readonly sizes: MujocoSizes;
  readonly timestep: number;
  readonly qpos0: Float64Array;
  readonly bodyMass: Float64Array;
  readonly ctrlRange: Float64Array;
  readonly module: MainModule;
  readonly handle: MjModel;

  #shapes: PhysicsShapes | undefined;

  constructor(module: MainModule, model: MjModel) {
    this.module = module;
    this.handle = model;
    this.version = module.mj_versionString();
    this.sizes = readSizes((name) => model[name]);
    this.timestep = model.opt.timestep;
    this.qpos0 = model.qpos0.slice();
    this.bodyMass = model.body_mass.slice();
    this.ctrlRange = model.actuator_ctrlrange.slice();
  }

  get shapes(): PhysicsShapes {
    return this.#shapes ??= shapesOf(this.handle);
  }

  idOf(kind: MujocoObject, name: string): number {
    return this.module.mj_name2id(this.handle, KINDS[kind], name);
  }

  makeData(): PhysicsData {
    return new WasmSimulation(this).withArrays();
  }

  close(): void {
    if (!this.handle.isDeleted()) this.handle.delete();
  }
}

function shapesOf(model: MjModel): PhysicsShapes {
  return Object.fromEntries(
    Object.entries(SHAPE_ARRAYS).map(([name, [field]]) => [
      name,
      model[field].slice(),
    ]),
  ) as unknown as PhysicsShapes;
}

/**
 * Loads a model, which must be whole in itself, as the module sees no files;
 * throws with MuJoCo's own words where it cannot.
 */
export function loadWasmModel(
  module: MainModule,
  source: ModelSource,
): WasmModel {
  const xml = source.text ??
    builtin("node:fs").readFileSync(source.path!, "utf8");
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
    const words = (error as Error).message
      .replace(/^MuJoCo Error: (Loading error: )?/, "");
    throw cannotLoad(source, words);
  }
}

/** Starts MuJoCo in WebAssembly; throws where the npm package cannot be read. */
export async function startMujoco(): Promise<MainModule> {
  try {
    const { default: start } = await import("npm:@mujoco/mujoco@3.14.0");
    return await start();
  } catch (error) {
    const [line] = (error as Error).message.split("\n");
    throw new Error(`Cannot load MuJoCo's WebAssembly: ${line}`);
  }
}
