import { cString } from "@bellman/files";
import type { CField, CLayout } from "./_c_layout.ts";
import { type NativeLibrary, tryModel } from "./_native_library.ts";
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

const ERROR_BYTES = 1024;
/** Signature of all that an integrator depends on. */
const INTEGRATION = "mjSTATE_INTEGRATION";

/** Returns a constant of the headers, which a library of an accepted version has. */
function constantOf({ constants }: CLayout, name: string): number {
  const value = constants.get(name);
  if (value !== undefined) return value;
  throw new Error(`Cannot use MuJoCo's headers: they do not define ${name}`);
}

/** Frees what nobody can close any more; a simulation does not need its model then. */
const leftOpen = new FinalizationRegistry(({ free, pointer }: {
  free: (pointer: Deno.PointerObject) => void;
  pointer: Deno.PointerObject;
}) => free(pointer));

/** A C struct in native memory, whose fields are read by their names. */
class NativeStruct {
  #layout: CLayout;
  #fields: ReadonlyMap<string, CField>;
  #name: string;
  #view: Deno.UnsafePointerView;
  #at: number;

  constructor(
    layout: CLayout,
    name: string,
    pointer: Deno.PointerObject,
    at: number = 0,
  ) {
    const fields = layout.structs.get(name);
    if (fields === undefined) {
      throw new Error(`Cannot use MuJoCo's headers: they have no ${name}`);
    }
    this.#layout = layout;
    this.#fields = fields;
    this.#name = name;
    this.#view = new Deno.UnsafePointerView(pointer);
    this.#at = at;
  }

  #field(name: string): CField {
    const field = this.#fields.get(name);
    if (field !== undefined) return field;
    throw new Error(
      `Cannot use MuJoCo's headers: ${this.#name} has no '${name}'`,
    );
  }

  /** Reads a whole number of four or eight bytes. */
  integer(name: string): number {
    const { offset, size } = this.#field(name);
    return size === 8
      ? Number(this.#view.getBigInt64(this.#at + offset))
      : this.#view.getInt32(this.#at + offset);
  }

  /** Reads a number. */
  double(name: string): number {
    return this.#view.getFloat64(this.#at + this.#field(name).offset);
  }

  /** Returns a struct within this one. */
  nested(type: string, name: string): NativeStruct {
    const at = this.#at + this.#field(name).offset;
    return new NativeStruct(this.#layout, type, this.#view.pointer, at);
  }

  /** Returns the numbers that a pointer points to, as a view. */
  array<T extends Float64Array | Float32Array | Int32Array>(
    kind: { new (memory: ArrayBuffer): T; BYTES_PER_ELEMENT: number },
    name: string,
    length: number,
  ): T {
    return new kind(this.#memory(name, kind.BYTES_PER_ELEMENT * length));
  }

  /** Returns numbers of double precision, as a view. */
  doubles(name: string, length: number): Float64Array {
    return this.array(Float64Array, name, length);
  }

  #memory(name: string, bytes: number): ArrayBuffer {
    const pointer = this.#view.getPointer(this.#at + this.#field(name).offset);
    if (pointer === null || bytes === 0) return new ArrayBuffer(0);
    return Deno.UnsafePointerView.getArrayBuffer(pointer, bytes);
  }
}

/** A simulation in native memory, with its arrays. */
class NativeSimulation {
  readonly stateSize: number;
  #model: NativeModel;
  #pointer: Deno.PointerObject;
  #signature: number;
  #isOpen = true;

  constructor(model: NativeModel) {
    const { symbols, layout } = model.library;
    const pointer = symbols.mj_makeData(model.pointer);
    if (pointer === null) {
      throw new Error("Cannot make a simulation: MuJoCo is out of memory");
    }
    leftOpen.register(this, { free: symbols.mj_deleteData, pointer }, this);
    this.#model = model;
    this.#pointer = pointer;
    this.#signature = constantOf(layout, INTEGRATION);
    this.stateSize = symbols.mj_stateSize(model.pointer, this.#signature);
  }

  /** Returns views of its arrays. */
  arrays(): Record<PhysicsArray, Float64Array> {
    const { sizes, library } = this.#model;
    const struct = new NativeStruct(library.layout, "mjData", this.#pointer);
    return Object.fromEntries(
      Object.entries(PHYSICS_ARRAYS).map((
        [name, { field, rows, width }],
      ) => [name, struct.doubles(field, sizes[rows] * width)]),
    ) as Record<PhysicsArray, Float64Array>;
  }

  /** Compares what is read from memory with what functions say. */
  checkLayout(
    { qpos, xpos }: { qpos: Float64Array; xpos: Float64Array },
  ): void {
    const { library: { symbols, layout }, sizes, pointer, qpos0 } = this.#model;
    const told = new Float64Array(sizes.nq);
    const kind = constantOf(layout, "mjSTATE_QPOS");
    symbols.mj_getState(pointer, this.#pointer, told, kind);
    const isRight = told.every((value, i) =>
      value === qpos[i] && value === qpos0[i]
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
    const isThere = at.every((value, i) => value === xpos[3 * body + i]);
    this.#model.expect(isThere, "the bodies of a simulation");
    this.reset();
  }

  step(times: number): void {
    const { mj_step } = this.#model.library.symbols;
    const model = this.#model.pointer, data = this.#pointer;
    for (let i = 0; i < times; i++) mj_step(model, data);
  }

  computeContactForces(): void {
    const { symbols } = this.#model.library;
    symbols.mj_rnePostConstraint(this.#model.pointer, this.#pointer);
  }

  reset(): void {
    const { symbols } = this.#model.library;
    symbols.mj_resetData(this.#model.pointer, this.#pointer);
  }

  forward(): void {
    const { symbols } = this.#model.library;
    symbols.mj_forward(this.#model.pointer, this.#pointer);
  }

  state(): Float64Array {
    const { library: { symbols }, pointer } = this.#model;
    const state = new Float64Array(this.stateSize);
    symbols.mj_getState(pointer, this.#pointer, state, this.#signature);
    return state;
  }

  setState(state: Float64Array): void {
    this.#writeState(state as Float64Array<ArrayBuffer>);
    // Computing what follows changes the solver's first guess, which is state.
    this.forward();
    this.#writeState(state as Float64Array<ArrayBuffer>);
  }

  #writeState(state: Float64Array<ArrayBuffer>): void {
    const { library: { symbols }, pointer } = this.#model;
    symbols.mj_setState(pointer, this.#pointer, state, this.#signature);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    leftOpen.unregister(this);
    this.#model.library.symbols.mj_deleteData(this.#pointer);
  }
}

/** A model in native memory. */
class NativeModel implements PhysicsModel {
  readonly engine = "native";
  readonly version: string;
  readonly sizes: MujocoSizes;
  readonly timestep: number;
  readonly qpos0: Float64Array;
  readonly bodyMass: Float64Array;
  readonly ctrlRange: Float64Array;
  readonly library: NativeLibrary;
  readonly pointer: Deno.PointerObject;
  readonly struct: NativeStruct;

  #shapes: PhysicsShapes | undefined;
  #isOpen = true;

  constructor(library: NativeLibrary, pointer: Deno.PointerObject) {
    this.library = library;
    this.pointer = pointer;
    this.version = library.version;
    this.struct = new NativeStruct(library.layout, "mjModel", pointer);
    this.sizes = readSizes((name) => this.struct.integer(name));
    const { nq, nu, nbody } = this.sizes;
    this.#checkLayout();
    this.timestep = this.struct.nested("mjOption", "opt").double("timestep");
    this.qpos0 = this.struct.doubles("qpos0", nq);
    this.bodyMass = this.struct.doubles("body_mass", nbody);
    this.ctrlRange = this.struct.doubles("actuator_ctrlrange", 2 * nu);
    const free = library.symbols.mj_deleteModel;
    leftOpen.register(this, { free, pointer }, this);
  }

  /** Compares numbers read from the struct with what functions say. */
  #checkLayout(): void {
    const { symbols, layout } = this.library, { nq, nv, nu } = this.sizes;
    const sizeOf = (name: string): number =>
      symbols.mj_stateSize(this.pointer, constantOf(layout, name));
    const isRight = nq === sizeOf("mjSTATE_QPOS") &&
      nv === sizeOf("mjSTATE_QVEL") && nu === sizeOf("mjSTATE_CTRL");
    this.expect(isRight, "the sizes of a model");
    const masses = this.struct.doubles("body_mass", this.sizes.nbody);
    const total = masses.reduce((sum, mass) => sum + mass, 0);
    const told = symbols.mj_getTotalmass(this.pointer);
    const isClose = Math.abs(total - told) <= 1e-9 * Math.abs(told);
    this.expect(isClose, "the masses of a model");
  }

  /** Refuses a library whose memory is not as its headers say. */
  expect(isRight: boolean, what: string): void {
    if (isRight) return;
    throw new Error(
      `Cannot use the MuJoCo library '${this.library.path}': its headers do not describe ${what}`,
    );
  }

  get shapes(): PhysicsShapes {
    return this.#shapes ??= this.#readShapes();
  }

  #readShapes(): PhysicsShapes {
    const { struct } = this;
    return Object.fromEntries(
      Object.entries(SHAPE_ARRAYS).map(([name, [field, rows, width, kind]]) => {
        const length = struct.integer(rows) * width;
        return [name, struct.array(kind as typeof Float64Array, field, length)];
      }),
    ) as unknown as PhysicsShapes;
  }

  idOf(kind: MujocoObject, name: string): number {
    const { symbols, layout } = this.library;
    const type = constantOf(layout, `mjOBJ_${kind.toUpperCase()}`);
    return symbols.mj_name2id(this.pointer, type, cString(name));
  }

  makeData(): PhysicsData {
    const simulation = new NativeSimulation(this);
    const data = Object.assign(simulation, simulation.arrays());
    simulation.checkLayout(data);
    return data;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    leftOpen.unregister(this);
    this.library.symbols.mj_deleteModel(this.pointer);
  }
}

/** Parses a model; throws with MuJoCo's own words where it cannot. */
function parse(
  { symbols }: NativeLibrary,
  source: ModelSource,
): Deno.PointerObject {
  const error = new Uint8Array(ERROR_BYTES);
  // A struct of one pointer: the files that the library sees beside those on disk.
  const files = source.text === undefined ? null : new BigUint64Array(1);
  const name = cString(source.path ?? "model.xml");
  try {
    if (files !== null) {
      const text = new TextEncoder().encode(source.text);
      symbols.mj_defaultVFS(files);
      symbols.mj_addBufferVFS(files, name, text, text.length);
    }
    const pointer = symbols.mj_loadXML(name, files, error, ERROR_BYTES);
    if (pointer !== null) return pointer;
  } finally {
    if (files !== null) symbols.mj_deleteVFS(files);
  }
  throw cannotLoad(source, new TextDecoder().decode(error).split("\0")[0]);
}

/** Loads a model; throws with MuJoCo's own words where it cannot. */
export function loadNativeModel(
  library: NativeLibrary,
  source: ModelSource,
): NativeModel {
  const pointer = parse(library, source);
  const problem = tryModel(library.symbols, library.layout, pointer);
  try {
    if (problem !== undefined) throw cannotLoad(source, problem);
    return new NativeModel(library, pointer);
  } catch (error) {
    library.symbols.mj_deleteModel(pointer);
    throw error;
  }
}
