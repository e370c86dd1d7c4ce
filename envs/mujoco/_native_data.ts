import type { MujocoSymbols, NativeLibrary } from "./_native_library.ts";
import { NativeStruct } from "./_native_struct.ts";
import {
  lengthOf,
  PHYSICS_ARRAYS,
  type PhysicsArray,
  type PhysicsData,
  type PhysicsSizes,
} from "./_physics.ts";

/** What a simulation needs of its model. */
export interface NativeSource {
  readonly library: NativeLibrary;
  readonly pointer: Deno.PointerObject;
  readonly sizes: PhysicsSizes;
  readonly qpos0: Float64Array;
  /** Refuses a library whose memory is not as its headers say. */
  expect(isRight: boolean, what: string): void;
}

/** Signature of all that an integrator depends on. */
const INTEGRATION = "mjSTATE_INTEGRATION";

/** Frees what nobody can close any more. It does not need its model for that. */
const leftOpen = new FinalizationRegistry(({ symbols, pointer }: {
  symbols: MujocoSymbols;
  pointer: Deno.PointerObject;
}) => symbols.mj_deleteData(pointer));

/** A simulation in native memory. */
export class NativeData implements PhysicsData {
  readonly qpos: Float64Array;
  readonly qvel: Float64Array;
  readonly ctrl: Float64Array;
  readonly xpos: Float64Array;
  readonly xipos: Float64Array;
  readonly cinert: Float64Array;
  readonly cvel: Float64Array;
  readonly cfrcExt: Float64Array;
  readonly qfrcActuator: Float64Array;
  readonly qfrcConstraint: Float64Array;
  readonly siteXpos: Float64Array;
  readonly tendonLength: Float64Array;
  readonly tendonVelocity: Float64Array;
  readonly geomXpos: Float64Array;
  readonly geomXmat: Float64Array;
  readonly subtreeCom: Float64Array;
  readonly cameraXpos: Float64Array;
  readonly cameraXmat: Float64Array;
  readonly stateSize: number;

  #model: NativeSource;
  #struct: NativeStruct;
  #pointer: Deno.PointerObject;
  #signature: number;
  #isOpen = true;

  constructor(model: NativeSource) {
    const { symbols, layout } = model.library;
    const pointer = symbols.mj_makeData(model.pointer);
    if (pointer === null) {
      throw new Error("Cannot make a simulation: MuJoCo is out of memory");
    }
    leftOpen.register(this, { symbols, pointer }, this);
    this.#model = model;
    this.#pointer = pointer;
    this.#struct = new NativeStruct(layout, "mjData", pointer);
    this.#signature = layout.constants.get(INTEGRATION)!;
    this.stateSize = symbols.mj_stateSize(model.pointer, this.#signature);
    this.qpos = this.#view("qpos");
    this.qvel = this.#view("qvel");
    this.ctrl = this.#view("ctrl");
    this.xpos = this.#view("xpos");
    this.xipos = this.#view("xipos");
    this.cinert = this.#view("cinert");
    this.cvel = this.#view("cvel");
    this.cfrcExt = this.#view("cfrcExt");
    this.qfrcActuator = this.#view("qfrcActuator");
    this.qfrcConstraint = this.#view("qfrcConstraint");
    this.siteXpos = this.#view("siteXpos");
    this.tendonLength = this.#view("tendonLength");
    this.tendonVelocity = this.#view("tendonVelocity");
    this.geomXpos = this.#view("geomXpos");
    this.geomXmat = this.#view("geomXmat");
    this.subtreeCom = this.#view("subtreeCom");
    this.cameraXpos = this.#view("cameraXpos");
    this.cameraXmat = this.#view("cameraXmat");
    this.#checkLayout();
  }

  #view(name: PhysicsArray): Float64Array {
    return this.#struct.doubles(
      PHYSICS_ARRAYS[name].field,
      lengthOf(name, this.#model.sizes),
    );
  }

  /** What is read from memory must be what functions say. */
  #checkLayout(): void {
    const { library, sizes, pointer, qpos0 } = this.#model;
    const { symbols, layout } = library;
    const told = new Float64Array(sizes.nq);
    const kind = layout.constants.get("mjSTATE_QPOS")!;
    symbols.mj_getState(pointer, this.#pointer, told, kind);
    const isRight = told.every((value, i) =>
      value === this.qpos[i] && value === qpos0[i]
    );
    this.#model.expect(isRight, "the positions of a simulation");
    this.forward();
    const at = new Float64Array(3), turned = new Float64Array(9);
    const origin = new Float64Array(3), unturned = Float64Array.of(1, 0, 0, 0);
    const body = sizes.nbody - 1;
    symbols.mj_local2Global(
      this.#pointer,
      at,
      turned,
      origin,
      unturned,
      body,
      0,
    );
    const isThere = at.every((value, i) => value === this.xpos[3 * body + i]);
    this.#model.expect(isThere, "the bodies of a simulation");
    this.reset();
  }

  step(times: number): void {
    const { mj_step } = this.#model.library.symbols;
    const model = this.#model.pointer, data = this.#pointer;
    for (let i = 0; i < times; i++) mj_step(model, data);
  }

  computeContactForces(): void {
    this.#model.library.symbols.mj_rnePostConstraint(
      this.#model.pointer,
      this.#pointer,
    );
  }

  reset(): void {
    this.#model.library.symbols.mj_resetData(
      this.#model.pointer,
      this.#pointer,
    );
  }

  forward(): void {
    this.#model.library.symbols.mj_forward(this.#model.pointer, this.#pointer);
  }

  state(): Float64Array {
    const state = new Float64Array(this.stateSize);
    this.#model.library.symbols.mj_getState(
      this.#model.pointer,
      this.#pointer,
      state,
      this.#signature,
    );
    return state;
  }

  setState(state: Float64Array): void {
    this.#writeState(state);
    // Computing what follows changes the solver's first guess, which is state.
    this.forward();
    this.#writeState(state);
  }

  #writeState(state: Float64Array): void {
    this.#model.library.symbols.mj_setState(
      this.#model.pointer,
      this.#pointer,
      state as Float64Array<ArrayBuffer>,
      this.#signature,
    );
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    leftOpen.unregister(this);
    this.#model.library.symbols.mj_deleteData(this.#pointer);
  }
}
