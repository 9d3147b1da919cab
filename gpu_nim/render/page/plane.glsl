// The plane from above, where trace.glsl has objects in space: a ray ends in the cell under it.

uniform vec4 frame;  // from pixels to the picture, whose height is from -1 to 1
uniform vec3 eye, eyeRight, eyeUp;  // where rays begin: in the middle of the picture, to the right of it, above it
uniform float pixel;  // the width of a pixel
uniform vec2 anchorShift;  // from the anchor to where its cell is drawn

struct Ray { vec3 origin; };
struct Hit { bool any; float distance; int axis; Cell cell; Node node; };

Ray rayOf(vec2 place) {
  vec2 at = place * frame.xy + frame.zw;
  return Ray(eye + at.x * eyeRight + at.y * eyeUp);
}

vec2 middleOf(vec2 place) {  // of the hexagon round a place: the nearest point of the lattice
  vec2 low = floor(place), rest = place - low;
  vec2 best = low;
  float nearest = 9.;
  for (int k = 0; k < 4; k++) {
    vec2 step = vec2(k & 1, k >> 1), gap = rest - step;
    float square = dot(gap, gap) + gap.x * gap.y;
    if (square < nearest) { nearest = square; best = low + step; }
  }
  return best;
}

Hit first(Ray ray) {
  vec2 place = ray.origin.xy;
  if (slanted) {
    place -= anchorShift;
    place.y /= .8660254037844386;
    place.x -= place.y / 2.;
    place = middleOf(place);
  }
  Cell cell = cellAt(vec3(place, 0));
  if (!inside(cell)) return Hit(false, 0., 2, cell, Node(0, false, 0));
  Node node = probe(cell, levelOf(pixel));
  return Hit(node.full, ray.origin.z, 2, cell, node);
}
