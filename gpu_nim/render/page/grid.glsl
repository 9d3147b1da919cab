// An object as a grid: each cell has the index of its generation, or 65535 where it is empty, and each coarser level the least of
// the 2 x 2 x 2 below it. So a cube is empty up to a generation iff its value is later.

uniform usampler3D grid;
uniform int levels;
uniform int lastIndex;  // of the generations shown
uniform sampler2D palette;
uniform bool coloured;  // whether cells have a colour of their own, in place of their generation's

struct Node { int level; bool full; int index; };

Node probe(Cell cell, int fine) {
  int least = min(fine, levels - 1), found = 0;
  for (int level = levels - 1; level >= least; level--) {
    found = int(texelFetch(grid, cell.low >> level, level).r);
    if (found > lastIndex) return Node(level, false, 0);
  }
  return Node(least, true, found);
}

vec3 colourOf(Cell cell, Node node) {
  int index = coloured ? int(texelFetch(grid, cell.low >> node.level, node.level).g) : node.index;
  return texelFetch(palette, ivec2(index & 255, index >> 8), 0).rgb;
}
