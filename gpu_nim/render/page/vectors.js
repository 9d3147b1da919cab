// Vectors of three numbers, and points: vectors of BigInts in units of 2^-40 cell, since a double does not hold a place in an object of
// 2^60 cells a side.

const plus = (a, b, times = 1) => a.map((x, k) => x + b[k] * times);
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const length = a => Math.hypot(...a);
const unit = a => a.map(x => x / length(a));
const clamp = (x, low, high) => x < low ? low : x > high ? high : x;
const mix = (a, b, part) => a + (b - a) * part;

function turned(v, axis, angle) {  // Rodrigues' formula
  const [c, s] = [Math.cos(angle), Math.sin(angle)], side = cross(axis, v), along = dot(axis, v) * (1 - c);
  return v.map((x, k) => x * c + side[k] * s + axis[k] * along);
}

function turnBetween(from, to) {  // the axis and the angle of the rotation that turns one basis (right, up, toward) into another
  const m = [0, 1, 2].map(i => [0, 1, 2].map(j => from.reduce((sum, row, k) => sum + to[k][i] * row[j], 0)));
  const angle = Math.acos(clamp((m[0][0] + m[1][1] + m[2][2] - 1) / 2, -1, 1));
  if (angle < 1e-6) return [[0, 0, 1], 0];
  if (angle < 3.1) return [unit([m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]]), angle];
  // Near half a turn the antisymmetric part vanishes: the axis is the longest column of m + 1.
  const columns = [0, 1, 2].map(j => [0, 1, 2].map(i => m[i][j] + m[j][i] + (i === j ? 2 : 0)));
  return [unit(columns.reduce((best, column) => length(column) > length(best) ? column : best)), angle];
}

const halves = (name, cell) => ({ [`${name}High`]: cell.map(x => Number(x >> 30n)), [`${name}Low`]: cell.map(x => Number(x & 0x3fffffffn)) });

const BITS = 40n, UNIT = 2 ** 40;
const fixed = x => BigInt(Math.round(x * UNIT));
const moved = (point, vector) => point.map((x, k) => x + fixed(vector[k]));
const between = (from, to) => to.map((x, k) => Number(x - from[k]) / UNIT);  // the vector from one point to another
