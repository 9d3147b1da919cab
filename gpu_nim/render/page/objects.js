// The objects: Nim, which needs no data, and grids of cells. Each knows its box, its generations and what to say of a cell.

const big = text => BigInt(text);
const spoken = x => x.toLocaleString("en");
const raised = x => String(x).replace(/./g, digit => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);
function brief(x) {  // three digits and a power of ten where there are many
  const places = String(x).length;
  if (places < 16) return spoken(x);
  const least = 10n ** BigInt(places - 3), digits = String((BigInt(x) + least / 2n) / least * least);
  return `${digits[0]}.${digits.slice(1, 3)}\u00a0×\u00a010${raised(digits.length - 1)}`;
}
const bitLength = x => x.toString(2).length;
const nimSum = cell => cell.reduce((sum, pile) => sum ^ pile);

function named(cell, rest) { return `(${cell.map(spoken).join(", ")})${rest.length ? ": " : ""}${rest.join(", ")}` }

class Nim {
  constructor() {
    [this.first, this.last] = [big(data.first), big(data.last)];
    this.extent = [0, 1, 2].map(() => this.last + 1n);
    this.unit = "cells";
    this.hull = data.hull;
    this.bucket = data.bucket;
    this.paint();
  }

  paint() {  // in the colours of the theme; those of more generations than there are become fewer
    const given = big(data.last), bits = bitLength(this.last), colours = bytes(theme.palette);
    this.colours = bits < bitLength(given) ? Uint8Array.from({ length: 3 << bits }, (_, k) => {
      return colours[3 * Math.round(Math.floor(k / 3) * Number(given) / Number(this.last)) + k % 3];
    }) : colours;
  }

  deepen(bits) {  // to all generations below 2^bits: the same shape in the same colours, from data of all below another power of two
    const shift = bits - bitLength(big(data.last));
    this.last = (1n << BigInt(bits)) - 1n;
    this.extent = [0, 1, 2].map(() => this.last + 1n);
    this.hull = data.hull.map(point => point.map(x => x * 2 ** shift));
    this.bucket = Math.max(shift, 0);
    this.paint();
  }

  place(position) { return position }

  coordinate(x) { return x }

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
  // values: indices of generations, Uint16Array in the order of the texture, the first coordinate fastest; colourIndices: indices of colours, or null
  constructor(values, colourIndices) {
    this.values = values;
    this.colourIndices = colourIndices;
    this.shape = data.shape;
    this.extent = data.extent.map(BigInt);
    this.generations = data.generations;
    [this.first, this.last] = [BigInt(data.generations[0]), BigInt(data.generations.at(-1))];
    this.unit = data.unit;
    this.hull = data.hull;
    this.paint();
  }

  paint() { this.colours = bytes(theme.palette) }

  place(position) { return [0, 1, 2].map(k => (position[k] ?? 0n) - BigInt(data.low[k])) }

  coordinate(x, axis) { return x * BigInt(data.side) + BigInt(data.low[axis]) }

  holds(position) { return this.at(this.place(position).map(Number)) !== EMPTY }

  index(generation) {  // of the last generation with cells that is no later
    let low = 0, high = this.generations.length;
    while (low < high) { const half = (low + high) >> 1; if (this.generations[half] <= generation) low = half + 1; else high = half }
    return low - 1;
  }

  shown(generation) { return BigInt(data.shown[this.index(generation)]) }

  at([x, y, z]) {
    const [width, height, depth] = this.shape;
    return x < 0 || y < 0 || z < 0 || x >= width || y >= height || z >= depth ? EMPTY : this.values[x + width * (y + height * z)];
  }

  describe(place, level) {
    const small = place.map(Number), cell = small.map((x, k) => x * data.side + data.low[k]).slice(0, data.coordinates), rest = [];
    if (level || data.side > 1) return cell.length ? named(cell, [`cube ${spoken(data.side << level)} cells wide from here`]) : "cells smaller than a pixel";
    const generation = this.generations[this.at(small)], born = `generation ${spoken(generation)}`;
    if (!cell.length) return born;  // of a projected cell
    if (cell.length > 2 && Math.min(...cell) >= 0) rest.push(`nim-sum ${spoken(nimSum(cell))}`);
    rest.push(born);
    const parents = data.steps.map(step => plus(small, step, -1)).filter(parent => {
      const value = this.at(parent);
      return value !== EMPTY && this.generations[value] === generation - 1;
    });
    rest.push(parentsSpoken(parents.map(parent => plus(parent, data.low).slice(0, data.coordinates))));
    return named(cell, rest.filter(Boolean));
  }

  pyramid() {  // [shape, values, colourIndices] of the grid and of coarser ones: each value is the least of the 2 x 2 x 2 below it
    const levels = [[this.shape, this.values, this.colourIndices]];
    while (levels.length < data.levels) {
      const [[width, height, depth], fine, fineColourIndices] = levels.at(-1), shape = levels.at(-1)[0].map(side => Math.max(side >> 1, 1));
      const size = shape[0] * shape[1] * shape[2], coarse = new Uint16Array(size).fill(EMPTY), colourIndices = fineColourIndices && new Uint16Array(size);
      for (let z = 0, at = 0; z < depth; z++) for (let y = 0; y < height; y++) {
        const row = shape[0] * ((y >> 1) + shape[1] * (z >> 1));
        for (let x = 0; x < width; x++, at++) {
          const to = row + (x >> 1);
          if (fine[at] < coarse[to]) { coarse[to] = fine[at]; if (colourIndices) colourIndices[to] = fineColourIndices[at] }
        }
      }
      levels.push([shape, coarse, colourIndices]);
    }
    return levels;
  }
}

const SLANT = 1097817622920238380819884895107n;  // sqrt(3)/2 in units of 2^-100

class Tree {
  // numbers: of the halves of the rows, level by level from the whole, in the next level from 1; in the last one, as tones: of a block the
  // part of its cells that are alive, to 255.
  constructor(numbers, tones) {
    const side = 1n << BigInt(data.level), space = data.flat ? 4 : 8, starts = [0];
    for (const count of data.counts) starts.push(starts.at(-1) + count);
    this.refs = new Uint32Array(numbers.length);
    for (let level = 0, at = 0; level < data.counts.length; level++) for (const end = starts[level + 1] * space; at < end; at++) {
      const number = numbers[at], row = starts[level + 1] + number, ends = level + 1 === data.counts.length;
      if (number) this.refs[at] = ends ? 1 | number << 24 : row | tones[row - 1] << 24;
    }
    this.flat = data.flat;
    this.cells = [side, side, data.flat ? 1n : side];
    this.extent = data.slanted ? [3n * side / 2n, (side * SLANT >> 100n) + 1n, 1n] : this.cells;  // as it is drawn
    this.corner = data.corner.map(big);
    this.first = this.last = big(data.generation);
    this.unit = "cells";
    this.hull = data.hull;
    this.paint();
    const { least, bucket, level, flat, slanted, outward } = data, maps = data.maps.length ? data.maps : [1, 0, 0, 1];
    this.shape = {
      least, bucket, treeLevel: level, flatBody: flat, outward, slanted: Number(slanted), "maps[0]": maps, mapped: data.maps.length / 4,
      ...halves("origin", this.corner.map(x => -x)),
    };
  }

  paint() { this.colours = bytes(theme.palette) }

  coordinate(x, axis) { return x + this.corner[axis] }

  anchored([x, y, z]) {  // a cell near a place of the plane, and where it is drawn from there
    if (!data.slanted) return { cell: [x, y, z], shift: [0, 0] };
    const row = (y << 100n) / SLANT, column = x - row / 2n;
    return { cell: [column, row, z], shift: [Number(row % 2n) / 2, -Number((y << 100n) - row * SLANT) / 2 ** 100] };
  }

  place(position) { return [0, 1, 2].map(k => (position[k] ?? 0n) - this.corner[k]) }

  shown() { return big(data.population) }

  describe(cell, level) {
    const rest = level ? [`first of a ${data.flat ? "square" : "cube"} ${spoken(1n << BigInt(level))} cells wide`] : [];
    return named(cell.map((x, k) => x + this.corner[k]).slice(0, data.flat ? 2 : 3), rest);
  }
}
