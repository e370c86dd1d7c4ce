import { BinaryReader } from "@bufbuild/protobuf/wire";
import { assertEquals } from "@std/assert";
import { ELEMENT_TYPES, encodeModel, type OnnxModel } from "./model_builder.ts";

/** Fields of a message by number, undecoded: numbers, or bytes. */
type Fields = Record<number, (number | Uint8Array)[]>;

const BYTES = 2, VARINT = 0;

function fieldsOf(bytes: Uint8Array): Fields {
  const reader = new BinaryReader(bytes);
  const fields: Fields = {};
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    const value = wire === BYTES
      ? reader.bytes()
      : wire === VARINT
      ? Number(reader.int64())
      : reader.float();
    (fields[field] ??= []).push(value);
  }
  return fields;
}

const decoder = new TextDecoder();
const textOf = (it: number | Uint8Array) => decoder.decode(it as Uint8Array);
const inner = (it: number | Uint8Array) => fieldsOf(it as Uint8Array);

const MODEL: OnnxModel = {
  inputs: [{ name: "x", dtype: "uint8", shape: [2, 300] }],
  outputs: [{ name: "größe", dtype: "bool", shape: [] }],
  nodes: [{
    op: "Clip",
    domain: "",
    inputs: ["x", "", "c0"],
    outputs: ["größe"],
    attributes: {
      axis: -1,
      alpha: { float: 0.5 },
      equation: "ij->i",
      perm: [1, 0, -3],
      none: [],
    },
  }, {
    op: "FusedMatMul",
    domain: "com.microsoft",
    inputs: [],
    outputs: [],
    attributes: {},
  }],
  initializers: [{
    name: "c0",
    dtype: "int64",
    shape: [1, 2],
    bytes: Uint8Array.of(1, 2, 3),
  }],
  metadata: { author: "Bellman", note: "" },
};

const model = fieldsOf(encodeModel(MODEL));
const graph = inner(model[7][0]);

Deno.test("a model has a version of format and operators, and metadata", () => {
  assertEquals(model[1], [8]);
  assertEquals(model[2].map(textOf), ["bellman"]);
  const opsets = model[8].map(inner)
    .map((it) => [textOf(it[1][0]), it[2][0]]);
  assertEquals(opsets, [["", 18], ["com.microsoft", 1]]);
  const metadata = model[14].map(inner).map((it) => it[1].concat(it[2]));
  assertEquals(metadata.map((it) => it.map(textOf)), [
    ["author", "Bellman"],
    ["note", ""],
  ]);
});

Deno.test("nodes have operation, domain, inputs and outputs", () => {
  const [clip, product] = graph[1].map(inner);
  assertEquals(clip[1].map(textOf), ["x", "", "c0"]);
  assertEquals(clip[2].map(textOf), ["größe"]);
  assertEquals([clip[3], clip[4]].flat().map(textOf), ["Clip_0", "Clip"]);
  assertEquals(clip[7], undefined);
  assertEquals(product[7].map(textOf), ["com.microsoft"]);
  assertEquals([product[1], product[5]], [undefined, undefined]);
});

Deno.test("attributes are written by their types", () => {
  const [clip] = graph[1].map(inner);
  const attributes = clip[5].map(inner).map(({ 1: [name], 20: type, ...it }) =>
    [textOf(name), type[0], it] as const
  );
  assertEquals(attributes, [
    ["axis", 2, { 3: [-1] }],
    ["alpha", 1, { 2: [0.5] }],
    ["equation", 3, { 4: [new TextEncoder().encode("ij->i")] }],
    ["perm", 7, { 8: [1, 0, -3] }],
    ["none", 7, {}],
  ]);
});

Deno.test("numbers are raw bytes with lengths and type", () => {
  const tensor = inner(graph[5][0]);
  assertEquals([tensor[1], tensor[2]], [[1, 2], [ELEMENT_TYPES.int64]]);
  assertEquals(textOf(tensor[8][0]), "c0");
  assertEquals(tensor[9], [Uint8Array.of(1, 2, 3)]);
});

Deno.test("inputs and outputs have type and shape, a scalar an empty one", () => {
  const port = (it: number | Uint8Array) => {
    const { 1: [name], 2: [type] } = inner(it);
    const tensor = inner(inner(type)[1][0]);
    const lengths = (inner(tensor[2][0])[1] ?? []).map((it) => inner(it)[1][0]);
    return [textOf(name), tensor[1][0], lengths];
  };
  assertEquals(graph[11].map(port), [["x", ELEMENT_TYPES.uint8, [2, 300]]]);
  assertEquals(graph[12].map(port), [["größe", ELEMENT_TYPES.bool, []]]);
});
