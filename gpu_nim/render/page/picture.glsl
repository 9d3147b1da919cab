// A picture: one ray a pixel, lit as gpu_nim.render.shading lights blocks.

uniform vec3 right, up;  // the camera's
uniform vec3 key, fill, rim;  // directions to the lights, which move with the camera
uniform float ambient, bounce, keyStrength;
uniform vec3 warm, cool;
uniform int turn;  // how often this picture has been drawn: each time adds a ray a pixel; the first is through its middle
uniform vec2 shift;  // of this sample's rays, within the pixel
out vec4 colour;

const float OPAQUE = .47;  // how much a cube that is not empty dims the sky behind it, as in a set whose cells cover one of its sides
const int REACH = 8;  // coarser cubes that the sky is dimmed by

vec3 noise(vec2 place) {  // for each pixel and sample
  vec3 seed = vec3(place, float(turn));
  return fract(sin(vec3(dot(seed, vec3(12.9898, 78.233, 37.719)), dot(seed, vec3(39.346, 11.135, 83.155)), dot(seed, vec3(73.156, 52.235, 9.151)))) * 43758.5453);
}

// How much of the sky a side sees, along one of five directions in each sample.
float openSky(vec3 point, vec3 normal, vec3 across, float size, vec3 random) {
  int which = turn % 5;
  vec3 third = cross(normal, across);
  vec2 tilt = which == 0 ? vec2(0) : which == 1 ? vec2(1, .3) : which == 2 ? vec2(-.3, 1) : which == 3 ? vec2(-1, -.3) : vec2(.3, -1);
  vec3 cone = normalize(.9 * normal + tilt.x * across + tilt.y * third);
  float open = 1.;
  for (int level = 0; level < REACH; level++, size *= 2.) {
    vec3 place = point + size * (1.5 * cone + random - .5);
    if (any(lessThan(place, lowCorner)) || any(greaterThanEqual(place, highCorner))) continue;
    if (probe(cellAt(place), levelOf(size)).full) open *= 1. - OPAQUE;
  }
  return open;
}

vec3 linear(vec3 srgb) { return mix(srgb / 12.92, pow((srgb + .055) / 1.055, vec3(2.4)), greaterThan(srgb, vec3(.04045))); }
vec3 encoded(vec3 light) { return mix(light * 12.92, 1.055 * pow(light, vec3(1. / 2.4)) - .055, greaterThan(light, vec3(.0031308))); }

vec3 lit(Ray ray, Hit hit) {
  vec3 normal = -sign(ray.way) * vec3(along(hit.axis)), across = vec3(along((hit.axis + 1) % 3)), random = turn == 0 ? vec3(.5) : noise(gl_FragCoord.xy);
  vec3 point = ray.origin + ray.way * hit.distance;
  float size = intBitsToFloat((127 + hit.node.level) << 23), sky = openSky(point, normal, across, size, random);
  float open = mix(pow(sky, 1.4), 1., bounce);
  vec3 light = cool * open * ambient * (.55 + .45 * (.5 + .5 * dot(normal, up)));
  float facing = dot(normal, key);
  if (facing > 0.) {
    // The shadow begins in the cell before the side, so that no side shades itself.
    ivec3 step = ivec3(normal);
    Cell cell = shifted(corner(hit.cell, hit.node.level), hit.node.level, max(step, ivec3(0)));
    cell = Cell(choose(equal(step, ivec3(0)), hit.cell.high, cell.high), choose(equal(step, ivec3(0)), hit.cell.low, cell.low));
    cell = carried(cell.high, cell.low + min(step, ivec3(0)));
    vec3 sun = normalize(key + .05 * (random - .5));
    bool free = !inside(cell) || !trace(Ray(point, sun), cell, 0., hit.axis, size, 0.).any;
    if (free) light += warm * keyStrength * facing * (.35 + .65 * sqrt(sky));
  }
  light += cool * sky * .62 * max(dot(normal, fill), 0.) + sky * .25 * max(dot(normal, rim), 0.);
  vec3 shade = linear(colourOf(hit.cell, hit.node)) * light;
  shade *= (1. + .25 * shade) / (1. + .5 * shade);  // a soft tone map: bright sides keep their hue
  shade /= max(max(shade.r, shade.g), max(shade.b, 1.));
  return encoded(clamp(shade, 0., 1.));
}

void main() {
  Ray ray = rayOf(gl_FragCoord.xy + shift);
  Hit hit = first(ray);
  colour = hit.any ? vec4(lit(ray, hit), 1) : vec4(0);
}
