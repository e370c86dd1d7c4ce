import type { CField, CLayout } from "./_c_layout.ts";

/** The fields of a C struct by their names. */
export class NativeStruct {
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

  /** A whole number of four or eight bytes. */
  integer(name: string): number {
    const { offset, size } = this.#field(name);
    return size === 8
      ? Number(this.#view.getBigInt64(this.#at + offset))
      : this.#view.getInt32(this.#at + offset);
  }

  /** A number. */
  double(name: string): number {
    return this.#view.getFloat64(this.#at + this.#field(name).offset);
  }

  /** A struct within this one. */
  nested(type: string, name: string): NativeStruct {
    const at = this.#at + this.#field(name).offset;
    return new NativeStruct(this.#layout, type, this.#view.pointer, at);
  }

  /** The numbers that a pointer points to, as a view. */
  doubles(name: string, length: number): Float64Array {
    return new Float64Array(this.#memory(name, 8 * length));
  }

  /** The same of single precision. */
  floats(name: string, length: number): Float32Array {
    return new Float32Array(this.#memory(name, 4 * length));
  }

  /** The whole numbers that a pointer points to, as a view. */
  integers(name: string, length: number): Int32Array {
    return new Int32Array(this.#memory(name, 4 * length));
  }

  #memory(name: string, bytes: number): ArrayBuffer {
    const pointer = this.#view.getPointer(this.#at + this.#field(name).offset);
    if (pointer === null || bytes === 0) return new ArrayBuffer(0);
    return Deno.UnsafePointerView.getArrayBuffer(pointer, bytes);
  }
}
