// A tree of halves in which equal blocks are one. A row has the halves of a block, four of the plane or eight of space: of each the
// number of its row and 1, and above 24 bits the part of its cells that are alive, to 255; or 0 where it is empty. Of the plane, the tree
// is only there where a linear form is greatest among the images of a cell under the symmetries of the growth.

precision highp usampler2D;

uniform usampler2D rows;
uniform sampler2D palette;
uniform bool flatBody;
uniform bool slanted;  // whether cell (x, y) is drawn at x (1, 0) + y (1/2, sqrt(3)/2), as a hexagon
uniform int treeLevel, least;  // of the whole, and of the smallest blocks
uniform bool outward;  // whether colours are those of the largest coordinate, and not of the part of cells that are alive
uniform int bucket;  // each colour is for 2^bucket cells out from the seed
uniform ivec3 originHigh, originLow;  // the cell of the seed
uniform ivec4 maps[12];  // their matrices, row by row
uniform int mapped;  // how many of them there are

struct Node { int level; bool full; int tone; };

Cell taken(Cell cell) {
  ivec2 h = cell.high.xy - originHigh.xy, l = cell.low.xy - originLow.xy;
  Cell found = cell;
  Whole best = Whole(-LOW - 1, 0);
  for (int k = 0; k < mapped; k++) {
    ivec2 low = maps[k].xz * l.x + maps[k].yw * l.y, high = maps[k].xz * h.x + maps[k].yw * h.y + (low >> 30);
    low &= LOW;
    uint rest = 3u * uint(low.x) + uint(low.y);
    Whole form = Whole(3 * high.x + high.y + int(rest >> 30), int(rest) & LOW);
    if (form.high < best.high || (form.high == best.high && form.low < best.low)) continue;
    best = form;
    found = carried(ivec3(high + originHigh.xy, 0), ivec3(low + originLow.xy, 0));
  }
  return found;
}

Node probe(Cell cell, int fine) {
  Cell at = taken(cell);
  ivec3 weights = flatBody ? ivec3(1, 2, 0) : ivec3(4, 2, 1);
  uint branch = 1u;
  int last = max(fine, least), level = treeLevel;
  while (level > last) {
    level--;
    ivec3 bits = (level < 30 ? at.low >> level : at.high >> (level - 30)) & 1;
    int place = bits.x * weights.x + bits.y * weights.y + bits.z * weights.z;
    int texel = (int(branch & 0xffffffu) - 1) * (flatBody ? 1 : 2) + (place >> 2);
    branch = texelFetch(rows, ivec2(texel & 1023, texel >> 10), 0)[place & 3];
    if (branch == 0u) return Node(level, false, 0);
  }
  return Node(level, true, int(branch >> 24));
}

vec3 colourOf(Cell cell, Node node) {
  int index = node.tone;
  if (outward) {
    ivec3 high = cell.high - originHigh, low = cell.low - originLow;
    if (slanted) { high.z = high.x + high.y; low.z = low.x + low.y; }  // the third of its coordinates that add up to 0
    high += low >> 30; low &= LOW;
    ivec3 away = abs(bucket < 30 ? (high << (30 - bucket)) + (low >> bucket) : high >> (bucket - 30));
    index = min(max(away.x, max(away.y, away.z)), 255);
  }
  return texelFetch(palette, ivec2(index, 0), 0).rgb;
}

float coverOf(Node node) { return outward ? float(node.tone) / 255. : 1.; }
