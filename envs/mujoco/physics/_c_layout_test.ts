import { assertEquals, assertThrows } from "@std/assert";
import { readCLayout } from "./_c_layout.ts";

const TYPES = `
#ifndef GUARD_H
#define GUARD_H
#define NCOUNT 3   // how many
#ifndef SINGLE
  typedef double Num;
#else
  typedef float Num;
#endif
typedef enum Kind_ {   // kinds, of things
  KIND_A = 1<<0,
  KIND_B = 1<<2,       /* the second; of them */
  KIND_C,
  NKIND,
  KIND_ALL = KIND_A | KIND_B
} Kind;
#endif
`;

const STRUCTS = `
typedef struct Part_ {
  char letter;
  Num weight;
} Part;
typedef struct Whole_ {
  int count;
  Part parts[NCOUNT];
  Kind kind;
  unsigned char flag;
  struct {                // options
    int  level[2];
    char name[5];
  } options;
  Num* values;            // values           (count x 2)
  const char* text;
  float matrix[2][NCOUNT*2];
} Whole;
`;

Deno.test("fields lie where a C compiler puts them", () => {
  const { structs } = readCLayout([TYPES, STRUCTS]);
  const offsets = [...structs.get("Whole")!].map((
    [name, { offset, size }],
  ) => [name, offset, size]);
  assertEquals(offsets, [
    ["count", 0, 4],
    ["parts", 8, 48],
    ["kind", 56, 4],
    ["flag", 60, 1],
    ["options", 64, 16],
    ["values", 80, 8],
    ["text", 88, 8],
    ["matrix", 96, 48],
  ]);
  assertEquals(structs.get("Whole")!.get("values")!.type, "Num*");
});

Deno.test("a struct may be named apart from what it holds", () => {
  const source = `
    struct Part_ { int a; double b; };
    typedef struct Part_ Part;
    typedef struct Whole_ Whole;
    typedef void* (*Act)(const Part* part, int n);
    struct Whole_ { char c; Act act; Part part; Whole* next; };`;
  const { structs } = readCLayout([source]);
  const whole = structs.get("Whole_")!;
  assertEquals([...whole.values()].map((it) => it.offset), [0, 8, 16, 32]);
  assertEquals(structs.get("Part"), structs.get("Part_"));
});

Deno.test("macros and enumerators have their values", () => {
  const { constants } = readCLayout([TYPES]);
  const of = (name: string) => constants.get(name);
  assertEquals(
    ["NCOUNT", "KIND_A", "KIND_B", "KIND_C", "NKIND", "KIND_ALL"].map(of),
    [3, 1, 4, 5, 6, 5],
  );
  assertEquals(of("GUARD_H"), undefined);
});

Deno.test("what cannot be read is refused with its text", () => {
  const cases = [
    ["typedef struct A_ { Unknown x; } A;", "'Unknown x'"],
    ["typedef struct A_ { int x[N]; } A;", "the length of 'x'"],
    ["typedef struct A_ { int x;", "not closed"],
  ];
  for (const [source, problem] of cases) {
    assertThrows(() => readCLayout([source]), SyntaxError, problem);
  }
});
