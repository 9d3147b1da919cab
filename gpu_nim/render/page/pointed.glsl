// What is seen at a place: the cell and the level of its cube, the axis, and the distance.

uniform vec2 place;
layout(location = 0) out uvec4 here;
layout(location = 1) out uvec4 there;

void main() {
  Hit hit = first(rayOf(place));
  here = uvec4(uvec3(hit.cell.high), hit.any ? uint(1 + hit.axis + 3 * hit.node.level) : 0u);
  there = uvec4(uvec3(hit.cell.low), floatBitsToUint(hit.distance));
}
