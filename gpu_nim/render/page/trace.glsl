// The first full cube along a ray, as gpu_nim.backends.numpy.trace finds it. An empty cube around the ray's cell is left at once; a cube
// that a pixel covers counts as full, but a ray switches to such cubes only inside an empty one, so that it enters the next through a
// face.

uniform vec3 lowCorner, highCorner;  // of the box
uniform vec4 frame;  // from pixels to the picture, whose height is from -1 to 1
uniform vec3 eye, eyeRight, eyeUp;  // where rays begin: in the middle of the picture, to the right of it, above it
uniform vec3 ahead, aheadRight, aheadUp;  // their directions
uniform float pixel, pixelSpread;  // the width of a pixel: at the eye, and with each unit of distance

const int STEPS = 1024;

struct Ray { vec3 origin, way; };

struct Hit {
  bool any;
  float distance;
  int axis;  // of the side that the ray enters by
  Cell cell;  // where it enters
  Node node;
};

Ray rayOf(vec2 place) {
  vec2 at = place * frame.xy + frame.zw;
  vec3 way = normalize(ahead + at.x * aheadRight + at.y * aheadUp);
  return Ray(eye + at.x * eyeRight + at.y * eyeUp, mix(way, vec3(1e-9), lessThan(abs(way), vec3(1e-9))));  // never parallel to a side
}

bvec3 along(int axis) { return equal(ivec3(0, 1, 2), ivec3(axis)); }

// From a cell, in which the ray is at this distance. Cubes of width size + spread * distance count as full.
Hit trace(Ray ray, Cell cell, float distance, int axis, float size, float spread) {
  vec3 inverse = 1. / ray.way;
  bvec3 forward = greaterThan(ray.way, vec3(0));
  int level = levelOf(size + spread * distance);
  Node node;
  for (int count = 0; count < STEPS; count++) {
    node = probe(cell, level);
    if (node.full) return Hit(true, distance, axis, cell, node);
    level = max(level, min(node.level, levelOf(size + spread * distance)));
    Cell low = corner(cell, node.level), beyond = shifted(low, node.level, ivec3(1)), high = carried(beyond.high, beyond.low - 1);
    Cell end = Cell(choose(forward, beyond.high, low.high), choose(forward, beyond.low, low.low));
    vec3 leave = (pointOf(end) - ray.origin) * inverse;
    axis = leave.x < leave.y ? (leave.x < leave.z ? 0 : 2) : (leave.y < leave.z ? 1 : 2);
    distance = max(distance, min(leave.x, min(leave.y, leave.z)));
    // On this axis the next cell is across the side; on the others it is within the cube, however the point is rounded. So every
    // step leaves a cube for good.
    Cell next = cellAt(ray.origin + ray.way * distance), across = carried(end.high, end.low - ivec3(not(forward)));
    bvec3 under = before(next, low), over = before(high, next), here = along(axis);
    cell.high = choose(here, across.high, choose(over, high.high, choose(under, low.high, next.high)));
    cell.low = choose(here, across.low, choose(over, high.low, choose(under, low.low, next.low)));
    if (!inside(cell)) break;
  }
  return Hit(false, distance, axis, cell, node);
}

Hit first(Ray ray) {  // along a ray from the eye
  vec3 one = (lowCorner - ray.origin) / ray.way, other = (highCorner - ray.origin) / ray.way;
  vec3 near = min(one, other), far = max(one, other);
  int axis = near.x > near.y ? (near.x > near.z ? 0 : 2) : (near.y > near.z ? 1 : 2);
  float distance = max(max(near.x, max(near.y, near.z)), 0.);
  if (min(far.x, min(far.y, far.z)) <= distance) return Hit(false, 0., 0, Cell(ivec3(0), ivec3(0)), probe(Cell(ivec3(0), ivec3(0)), 0));
  Cell cell = cellAt(ray.origin + ray.way * distance), least = Cell(firstHigh, firstLow), last = carried(extentHigh, extentLow - 1);
  bvec3 under = before(cell, least), over = before(last, cell);
  cell = Cell(choose(over, last.high, choose(under, least.high, cell.high)), choose(over, last.low, choose(under, least.low, cell.low)));
  return trace(ray, cell, distance, axis, pixel, pixelSpread);
}
