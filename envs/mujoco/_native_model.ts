import type { CLayout } from "./_c_layout.ts";
import { NativeData } from "./_native_data.ts";
import type { MujocoSymbols, NativeLibrary } from "./_native_library.ts";
import { NativeStruct } from "./_native_struct.ts";
import type {
  PhysicsData,
  PhysicsModel,
  PhysicsShapes,
  PhysicsSizes,
} from "./_physics.ts";
import { tryModel } from "./_try_model.ts";

const ERROR_BYTES = 1024;
const SIZES = [
  ...["nq", "nv", "nu", "nbody", "ngeom", "nsite", "ntendon"],
  "ncam",
] as const;

function cString(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${text}\0`);
}

/** A struct's constant, which a library of an accepted version has. */
export function constantOf({ constants }: CLayout, name: string): number {
  const value = constants.get(name);
  if (value !== undefined) return value;
  throw new Error(`Cannot use MuJoCo's headers: they do not define ${name}`);
}

function readSizes(struct: NativeStruct): PhysicsSizes {
  return Object.fromEntries(
    SIZES.map((name) => [name, struct.integer(name)]),
  ) as unknown as PhysicsSizes;
}

/** Frees what nobody can close any more. Simulations hold their model. */
const leftOpen = new FinalizationRegistry(({ symbols, pointer }: {
  symbols: MujocoSymbols;
  pointer: Deno.PointerObject;
}) => symbols.mj_deleteModel(pointer));

/** A model in native memory. */
export class NativeModel implements PhysicsModel {
  readonly engine = "native";
  readonly version: string;
  readonly sizes: PhysicsSizes;
  readonly timestep: number;
  readonly qpos0: Float64Array;
  readonly bodyMass: Float64Array;
  readonly ctrlRange: Float64Array;
  /** The library that it is of. */
  readonly library: NativeLibrary;
  /** Where it lies. */
  readonly pointer: Deno.PointerObject;
  /** Its fields. */
  readonly struct: NativeStruct;

  #shapes: PhysicsShapes | undefined;
  #isOpen = true;

  constructor(library: NativeLibrary, pointer: Deno.PointerObject) {
    this.library = library;
    this.pointer = pointer;
    this.version = library.version;
    this.struct = new NativeStruct(library.layout, "mjModel", pointer);
    this.sizes = readSizes(this.struct);
    const { nq, nu, nbody } = this.sizes;
    this.#checkLayout();
    this.timestep = this.struct.nested("mjOption", "opt").double("timestep");
    this.qpos0 = this.struct.doubles("qpos0", nq);
    this.bodyMass = this.struct.doubles("body_mass", nbody);
    this.ctrlRange = this.struct.doubles("actuator_ctrlrange", 2 * nu);
    leftOpen.register(this, { symbols: library.symbols, pointer }, this);
  }

  /** Numbers read from the struct must be what functions say. */
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
    const { struct } = this, { ngeom, ncam } = this.sizes;
    const nmesh = struct.integer("nmesh");
    return {
      geomType: struct.integers("geom_type", ngeom),
      geomBody: struct.integers("geom_bodyid", ngeom),
      geomGroup: struct.integers("geom_group", ngeom),
      geomMaterial: struct.integers("geom_matid", ngeom),
      geomData: struct.integers("geom_dataid", ngeom),
      geomSize: struct.doubles("geom_size", 3 * ngeom),
      geomRgba: struct.floats("geom_rgba", 4 * ngeom),
      materialRgba: struct.floats("mat_rgba", 4 * struct.integer("nmat")),
      cameraFovy: struct.doubles("cam_fovy", ncam),
      meshVertexStart: struct.integers("mesh_vertadr", nmesh),
      meshFaceStart: struct.integers("mesh_faceadr", nmesh),
      meshFaceCount: struct.integers("mesh_facenum", nmesh),
      meshVertices: struct.floats("mesh_vert", 3 * struct.integer("nmeshvert")),
      meshFaces: struct.integers("mesh_face", 3 * struct.integer("nmeshface")),
    };
  }

  idOf(kind: "body" | "camera", name: string): number {
    const { symbols, layout } = this.library;
    const type = kind === "body" ? "mjOBJ_BODY" : "mjOBJ_CAMERA";
    return symbols.mj_name2id(
      this.pointer,
      constantOf(layout, type),
      cString(name),
    );
  }

  makeData(): PhysicsData {
    return new NativeData(this);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    leftOpen.unregister(this);
    this.library.symbols.mj_deleteModel(this.pointer);
  }
}

/**
 * Loads a model's file.
 *
 * @throws {Error} If MuJoCo cannot, with its own words.
 */
export function loadNativeModel(
  library: NativeLibrary,
  path: string,
): NativeModel {
  const error = new Uint8Array(ERROR_BYTES);
  const pointer = library.symbols.mj_loadXML(
    cString(path),
    null,
    error,
    ERROR_BYTES,
  );
  if (pointer === null) {
    throw cannotLoad(path, new TextDecoder().decode(error).split("\0")[0]);
  }
  const problem = tryModel(library.symbols, library.layout, pointer);
  try {
    if (problem !== undefined) throw cannotLoad(path, problem);
    return new NativeModel(library, pointer);
  } catch (error) {
    library.symbols.mj_deleteModel(pointer);
    throw error;
  }
}

/** MuJoCo's words, which may be several lines, in one. */
function cannotLoad(path: string, words: string): Error {
  const line = words.trim().replace(/\s*\n\s*/g, ", ");
  return new Error(`Cannot load the model '${path}': ${line}`);
}
