// Cells: triples of whole numbers of up to 60 bits, each high * 2^30 + low, which 32-bit integers hold at any depth.
// Points are floats relative to the anchor, a cell in the object near the eye. Near it they are exact enough for single cells, and
// far from it for what a pixel shows there.

precision highp float;
precision highp int;
precision highp usampler3D;
precision highp sampler2D;

struct Cell { ivec3 high, low; };
struct Whole { int high, low; };

const int LOW = 0x3fffffff;
const float LIMB = 1073741824.;

uniform ivec3 anchorHigh, anchorLow;
uniform ivec3 firstHigh, firstLow, extentHigh, extentLow;  // cells are from the first to before the extent: the object's box, or what a cut leaves

ivec3 choose(bvec3 which, ivec3 yes, ivec3 no) { return no + (yes - no) * ivec3(which); }

Cell carried(ivec3 high, ivec3 low) { return Cell(high + (low >> 30), low & LOW); }

Cell cellAt(vec3 point) {
  vec3 whole = floor(point), high = trunc(whole / LIMB);
  return carried(anchorHigh + ivec3(high), anchorLow + ivec3(whole - high * LIMB));
}

vec3 pointOf(Cell cell) {  // the corner of least coordinates
  ivec3 high = cell.high - anchorHigh, low = cell.low - anchorLow;
  // Neighbouring limbs are added as integers, since as floats they would cancel.
  return mix(vec3(high) * LIMB + vec3(low), vec3(high * (1 << 30) + low), lessThanEqual(abs(high), ivec3(1)));
}

bvec3 before(Cell one, Cell other) {
  ivec3 high = one.high - other.high;
  return lessThan(choose(equal(high, ivec3(0)), one.low - other.low, high), ivec3(0));
}

Cell corner(Cell cell, int level) {  // of the aligned cube of side 2^level around the cell
  if (level < 30) return Cell(cell.high, cell.low & (-1 << level));
  return Cell(cell.high & (-1 << (level - 30)), ivec3(0));
}

Cell shifted(Cell cell, int level, ivec3 times) {  // by 2^level cells, so many times
  if (level < 30) return carried(cell.high, cell.low + times * (1 << level));
  return Cell(cell.high + times * (1 << (level - 30)), cell.low);
}

bool inside(Cell cell) {
  return !any(before(cell, Cell(firstHigh, firstLow))) && all(before(cell, Cell(extentHigh, extentLow)));
}

// The highest bit of x > 0: without the bit below it, a float does not round it up.
int topBit(int x) { return x == 0 ? -1 : (floatBitsToInt(float(x & ~(x >> 1))) >> 23) - 127; }
int topBit(Whole x) { return x.high != 0 ? 30 + topBit(x.high) : topBit(x.low); }

int levelOf(float size) { return max(0, (floatBitsToInt(size) >> 23) - 127); }  // of the largest cube no wider than this
