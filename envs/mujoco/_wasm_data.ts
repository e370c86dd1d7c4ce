import type { DoubleBuffer, MainModule, MjData, MjModel } from "@mujoco/mujoco";
import type { PhysicsData } from "./_physics.ts";

/** What a simulation needs of its model. */
export interface WasmSource {
  readonly module: MainModule;
  readonly handle: MjModel;
}

/** Signature of all that an integrator depends on, in the pinned version. */
const INTEGRATION = 16383;

/**
 * A simulation in WebAssembly's memory. Each array is asked for anew: a view
 * ends when that memory grows, as it does when more simulations are made.
 */
export class WasmData implements PhysicsData {
  readonly stateSize: number;

  #model: WasmSource;
  #data: MjData;
  #state: DoubleBuffer;

  constructor(model: WasmSource) {
    const { module, handle } = model;
    this.#model = model;
    this.#data = new module.MjData(handle);
    this.stateSize = module.mj_stateSize(handle, INTEGRATION);
    this.#state = new module.DoubleBuffer(this.stateSize);
  }

  get qpos(): Float64Array {
    return this.#data.qpos;
  }
  get qvel(): Float64Array {
    return this.#data.qvel;
  }
  get ctrl(): Float64Array {
    return this.#data.ctrl;
  }
  get xpos(): Float64Array {
    return this.#data.xpos;
  }
  get xipos(): Float64Array {
    return this.#data.xipos;
  }
  get cinert(): Float64Array {
    return this.#data.cinert;
  }
  get cvel(): Float64Array {
    return this.#data.cvel;
  }
  get cfrcExt(): Float64Array {
    return this.#data.cfrc_ext;
  }
  get qfrcActuator(): Float64Array {
    return this.#data.qfrc_actuator;
  }
  get qfrcConstraint(): Float64Array {
    return this.#data.qfrc_constraint;
  }
  get siteXpos(): Float64Array {
    return this.#data.site_xpos;
  }
  get tendonLength(): Float64Array {
    return this.#data.ten_length;
  }
  get tendonVelocity(): Float64Array {
    return this.#data.ten_velocity;
  }
  get geomXpos(): Float64Array {
    return this.#data.geom_xpos;
  }
  get geomXmat(): Float64Array {
    return this.#data.geom_xmat;
  }
  get subtreeCom(): Float64Array {
    return this.#data.subtree_com;
  }
  get cameraXpos(): Float64Array {
    return this.#data.cam_xpos;
  }
  get cameraXmat(): Float64Array {
    return this.#data.cam_xmat;
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
