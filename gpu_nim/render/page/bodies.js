// The bodies: Nim, which needs no data, and grids of cells. Each knows its box, its generations and what to say of a cell.

const big = text => BigInt(text);
const spoken = x => x.toLocaleString("en");
function brief(x) {  // three digits and a power of ten where there are many
  const digits = String(x);
  return digits.length < 16 ? spoken(x) : `${digits[0]}.${digits.slice(1, 3)} × 10^${digits.length - 1}`;
}
const bitLength = x => x.toString(2).length;
const nimSum = cell => cell.reduce((sum, pile) => sum ^ pile);

function named(cell, rest) { return `(${cell.map(spoken).join(", ")})${rest.length ? ": " : ""}${rest.join(", ")}` }

class Nim {
  constructor() {
    [this.first, this.last] = [big(data.first), big(data.last)];
    this.extent = [0, 1, 2].map(() => this.last + 1n);
    this.unit = "cells";
  }

  shown(generation) {  // how many cells: P-positions of generations first to this one
    return this.upTo(generation) - (this.first > 0n ? this.upTo(this.first - 1n) : 0n);
  }

  upTo(generation) {  // sum of 3^wt(n) for n <= generation [NF, Theorem 19], block by block of its binary digits
    let total = 0n, ones = 1n;
    const end = generation + 1n;
    for (let bit = BigInt(bitLength(end)) - 1n; bit >= 0n; bit--) {
      if (end >> bit & 1n) { total += ones * 4n ** bit; ones *= 3n }
    }
    return total;
  }

  describe(cell, level) {
    const generation = cell.reduce((or, pile) => or | pile);
    const side = 1n << BigInt(level);
    const rest = [`nim-sum ${spoken(nimSum(cell))}`, `generation ${spoken(generation)}`, parentsSpoken(this.parents(cell))];
    if (level) rest.push(`first of a cube ${spoken(side)} cells wide, which is smaller than a pixel`);
    return named(cell, rest.filter(Boolean));
  }

  parents(cell) {  // 1 off two piles with equally many trailing zeros [NF, Lemma 20]
    const lowest = cell.map(pile => pile & -pile), parents = [];
    for (const [i, j] of [[0, 1], [0, 2], [1, 2]]) {
      if (lowest[i] && lowest[i] === lowest[j]) parents.push(cell.map((pile, k) => k === i || k === j ? pile - 1n : pile));
    }
    return parents;
  }
}

function parentsSpoken(parents) {
  return parents.length ? `${parents.length > 1 ? "parents" : "parent"} ${parents.map(parent => named(parent, [])).join(" and ")}` : "";
}

const EMPTY = 65535;

class Grid {
  // values: indices of generations, Uint16Array in the order of the texture, the first coordinate fastest; inks: indices of colours, or null
  constructor(values, inks) {
    this.values = values;
    this.inks = inks;
    this.shape = data.shape;
    this.extent = data.extent.map(BigInt);
    this.generations = data.generations;
    [this.first, this.last] = [BigInt(data.generations[0]), BigInt(data.generations.at(-1))];
    this.unit = data.unit;
  }

  index(generation) {  // of the last generation with cells that is no later
    let low = 0, high = this.generations.length;
    while (low < high) { const half = (low + high) >> 1; if (this.generations[half] <= generation) low = half + 1; else high = half }
    return low - 1;
  }

  shown(generation) { return BigInt(data.shown[this.index(generation)]) }

  at(place) {
    const [x, y, z] = place, [width, height, depth] = this.shape;
    if (x < 0 || y < 0 || z < 0 || x >= width || y >= height || z >= depth) return EMPTY;
    return this.values[x + width * (y + height * z)];
  }

  describe(place, level) {
    const small = place.map(Number), generation = this.generations[this.at(small)];
    const cell = small.map((x, k) => x * data.side + data.low[k]).slice(0, data.coordinates), rest = [];
    if (!data.coordinates) return `generation ${spoken(generation)}`;  // projected cells, whose places are not theirs
    if (level || data.side > 1) return named(cell, [`cube ${spoken(data.side << level)} cells wide from here`]);
    if (data.coordinates === 3 && Math.min(...cell) >= 0) rest.push(`nim-sum ${spoken(nimSum(cell))}`);
    rest.push(`generation ${spoken(generation)}`);
    const parents = data.offsets.map(offset => plus(small, offset, -1)).filter(parent => {
      const value = this.at(parent);
      return value !== EMPTY && this.generations[value] === generation - 1;
    });
    rest.push(parentsSpoken(parents.map(parent => plus(parent, data.low).slice(0, data.coordinates))));
    return named(cell, rest.filter(Boolean));
  }

  pyramid() {  // [shape, values, inks] of the grid and of coarser ones: each value is the least of the 2 x 2 x 2 below it
    const levels = [[this.shape, this.values, this.inks]];
    while (levels.length < data.levels) {
      const [[width, height, depth], fine, fineInks] = levels.at(-1), shape = levels.at(-1)[0].map(side => Math.max(side >> 1, 1));
      const size = shape[0] * shape[1] * shape[2], coarse = new Uint16Array(size).fill(EMPTY), inks = fineInks && new Uint16Array(size);
      for (let z = 0, at = 0; z < depth; z++) for (let y = 0; y < height; y++) {
        const row = shape[0] * ((y >> 1) + shape[1] * (z >> 1));
        for (let x = 0; x < width; x++, at++) {
          const to = row + (x >> 1);
          if (fine[at] < coarse[to]) { coarse[to] = fine[at]; if (inks) inks[to] = fineInks[at] }
        }
      }
      levels.push([shape, coarse, inks]);
    }
    return levels;
  }
}
