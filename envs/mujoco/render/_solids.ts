import type { PhysicsShapes } from "../physics/_physics.ts";

/** Triangles with a direction at each corner, in the frame of a geom. */
export interface Solid {
  /** Corners, `[n, 3]`. */
  readonly points: Float64Array;
  /** The surface's directions at the corners, `[n, 3]`. */
  readonly normals: Float64Array;
  /** Corners of the triangles by number, `[m, 3]`. */
  readonly triangles: Uint32Array;
}

/** Kinds of geoms as `mjtGeom` numbers them. */
export const GEOM = {
  plane: 0,
  sphere: 2,
  capsule: 3,
  ellipsoid: 4,
  cylinder: 5,
  box: 6,
  mesh: 7,
} as const;

const AROUND = 24;
const QUARTER = 6;

/** One corner of a body of revolution's outline: place and direction. */
interface OutlinePoint {
  readonly radius: number;
  readonly z: number;
  readonly slope: readonly [outwards: number, upwards: number];
}

/**
 * Makes the body that an outline describes when it turns around the `z` axis.
 */
function turned(outline: readonly OutlinePoint[]): Solid {
  const points: number[] = [], normals: number[] = [], triangles: number[] = [];
  for (const { radius, z, slope: [outwards, upwards] } of outline) {
    for (let i = 0; i < AROUND; i++) {
      const angle = 2 * Math.PI * i / AROUND;
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      points.push(radius * cos, radius * sin, z);
      normals.push(outwards * cos, outwards * sin, upwards);
    }
  }
  for (let row = 0; row + 1 < outline.length; row++) {
    for (let i = 0; i < AROUND; i++) {
      const a = row * AROUND + i, b = row * AROUND + (i + 1) % AROUND;
      triangles.push(a, b, a + AROUND, b, b + AROUND, a + AROUND);
    }
  }
  return solid(points, normals, triangles);
}

function solid(
  points: readonly number[],
  normals: readonly number[],
  triangles: readonly number[],
): Solid {
  return {
    points: Float64Array.from(points),
    normals: Float64Array.from(normals),
    triangles: Uint32Array.from(triangles),
  };
}

/** Makes a sphere that is drawn out along `z` by a cylinder. */
function capsule(radius: number, halfLength: number): Solid {
  const outline: OutlinePoint[] = [];
  for (let i = -QUARTER; i <= QUARTER; i++) {
    const angle = Math.PI / 2 * i / QUARTER;
    const slope = [Math.cos(angle), Math.sin(angle)] as const;
    const place = { radius: radius * slope[0], z: radius * slope[1], slope };
    if (i <= 0) outline.push({ ...place, z: place.z - halfLength });
    if (i >= 0) outline.push({ ...place, z: place.z + halfLength });
  }
  return turned(outline);
}

function cylinder(radius: number, halfLength: number): Solid {
  const at = (r: number, z: number, slope: readonly [number, number]) => ({
    radius: r,
    z,
    slope,
  });
  return turned([
    at(0, -halfLength, [0, -1]),
    at(radius, -halfLength, [0, -1]),
    at(radius, -halfLength, [1, 0]),
    at(radius, halfLength, [1, 0]),
    at(radius, halfLength, [0, 1]),
    at(0, halfLength, [0, 1]),
  ]);
}

/** Stretches a solid along the axes. */
function stretched(of: Solid, scale: readonly number[]): Solid {
  return {
    ...of,
    points: of.points.map((value, i) => value * scale[i % 3]),
    normals: of.normals.map((value, i) => value / scale[i % 3]),
  };
}

function box(halfWidths: readonly number[]): Solid {
  const points: number[] = [], normals: number[] = [], triangles: number[] = [];
  for (let axis = 0; axis < 3; axis++) {
    for (const side of [-1, 1]) {
      const first = points.length / 3;
      for (const [u, v] of [[-1, -1], [1, -1], [-1, 1], [1, 1]]) {
        const point = [0, 0, 0], normal = [0, 0, 0];
        point[axis] = side * halfWidths[axis];
        point[(axis + 1) % 3] = u * halfWidths[(axis + 1) % 3];
        point[(axis + 2) % 3] = v * halfWidths[(axis + 2) % 3];
        normal[axis] = side;
        points.push(...point);
        normals.push(...normal);
      }
      triangles.push(first, first + 1, first + 2);
      triangles.push(first + 1, first + 3, first + 2);
    }
  }
  return solid(points, normals, triangles);
}

/** Makes the solid of a mesh, whose triangles are flat. */
function mesh(shapes: PhysicsShapes, id: number): Solid {
  const start = 3 * shapes.meshVertexStart[id];
  const from = 3 * shapes.meshFaceStart[id];
  const corners = shapes.meshFaces.subarray(
    from,
    from + 3 * shapes.meshFaceCount[id],
  );
  const points: number[] = [], normals: number[] = [];
  for (let i = 0; i < corners.length; i += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => {
      const at = start + 3 * corners[i + k];
      return [...shapes.meshVertices.subarray(at, at + 3)];
    });
    const [u, v] = [b, c].map((to) => to.map((value, k) => value - a[k]));
    const normal = [0, 1, 2].map((k) =>
      u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]
    );
    for (const corner of [a, b, c]) {
      points.push(...corner);
      normals.push(...normal);
    }
  }
  return solid(points, normals, [...Array(corners.length).keys()]);
}

/**
 * Makes a geom's surface; undefined for kinds that are not drawn as triangles.
 */
export function solidOf(
  shapes: PhysicsShapes,
  geom: number,
): Solid | undefined {
  const [a, b, c] = shapes.geomSize.subarray(3 * geom, 3 * geom + 3);
  switch (shapes.geomType[geom]) {
    case GEOM.sphere:
      return capsule(a, 0);
    case GEOM.capsule:
      return capsule(a, b);
    case GEOM.ellipsoid:
      return stretched(capsule(1, 0), [a, b, c]);
    case GEOM.cylinder:
      return cylinder(a, b);
    case GEOM.box:
      return box([a, b, c]);
    case GEOM.mesh:
      return mesh(shapes, shapes.geomData[geom]);
    default:
      return undefined;
  }
}
