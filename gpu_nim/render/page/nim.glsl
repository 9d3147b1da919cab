// Nim without data: (a, b, c) is a P-position iff a ^ b ^ c = 0, and its generation is a | b | c.
// Both hold for the cubes of side 2^k as well: one has P-positions iff its corner, shifted by k bits, is one.

uniform ivec2 firstGeneration, lastGeneration;  // those shown, high and low
uniform sampler2D palette;
uniform int bucket;  // each colour is for 2^bucket generations

struct Node {
  int level;  // of the aligned cube around the cell
  bool full;  // else all of it is empty
  Whole generation;  // of its first cell
};

Whole above(int high, int low, int level) {  // without the bits below the level
  if (level < 30) return Whole(high, low & (-1 << level));
  return Whole(high & (-1 << (level - 30)), 0);
}

bool less(Whole one, Whole other) { return one.high < other.high || (one.high == other.high && one.low < other.low); }

int differ(Whole one, Whole other) { return topBit(Whole(one.high ^ other.high, one.low ^ other.low)); }

Node probe(Cell cell, int fine) {
  ivec3 h = cell.high, l = cell.low;
  Whole generation = above(h.x | h.y | h.z, l.x | l.y | l.z, fine);
  Whole first = above(firstGeneration.x, firstGeneration.y, fine), last = above(lastGeneration.x, lastGeneration.y, fine);
  // A cube in which the nim-sum has a bit at or above its level is empty. So is one whose generations, whose higher bits are the
  // same, all come too late or too early.
  int level = topBit(above(h.x ^ h.y ^ h.z, l.x ^ l.y ^ l.z, fine));
  if (less(last, generation)) level = max(level, differ(generation, last));
  if (less(generation, first)) level = max(level, differ(generation, first));
  return Node(max(level, fine), level < 0, generation);
}

vec3 colourOf(Cell cell, Node node) {
  Whole generation = node.generation;
  int index = bucket < 30 ? (generation.high << (30 - bucket)) | (generation.low >> bucket) : generation.high >> (bucket - 30);
  return texelFetch(palette, ivec2(index & 255, index >> 8), 0).rgb;
}
