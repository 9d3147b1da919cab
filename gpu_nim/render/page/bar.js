// A position as a bar of chocolate, as gpu_nim.games.inequality has it: the piece that is left, and the lines that are clicked.

const WIDE = { width: 640, height: 500, square: 90 }, NARROW = { width: 300, height: 250, square: 44 };  // the most, in units of the drawing
const RIM = 24;  // around it, for the names

const along = ([a, b], [x, y]) => a * x + b * y;

function kept(corners, side, line) {  // the part of a convex polygon that a side keeps where it lies at a line
  return corners.flatMap((one, k) => {
    const other = corners[(k + 1) % corners.length], far = along(side, one) - line, further = along(side, other) - line;
    const crossing = far * further < 0 ? [one.map((x, j) => x + (other[j] - x) * far / (far - further))] : [];
    return far <= 0 ? [one, ...crossing] : crossing;
  });
}

class Bar {
  constructor({ sides, across, colours }, names, svg) {
    Object.assign(this, { sides, across, names, svg, most: data.kind === "bar" && Math.min(innerWidth, innerHeight) > 600 ? WIDE : NARROW });
    for (const [part, colour] of Object.entries(colours)) svg.style.setProperty(`--${part}`, colour);
    svg.removeAttribute("hidden");
  }

  line([, , base, step], value) { return base + step * Number(value) }

  piece(position) {  // its corners
    const lines = this.sides.map(side => this.line(side, position[side[4]] ?? 0)), far = 2 * lines.reduce((sum, line) => sum + Math.abs(line), 0);
    return this.sides.reduce((corners, side, k) => kept(corners, side, lines[k]), [[-far, -far], [far, -far], [far, far], [-far, far]]);
  }

  cut(corners, { direction, leaves, take }, position) {  // the ends of the line of a move
    const side = this.sides.find(each => each[4] === direction), line = this.line(side, position[direction] - take);
    return kept(corners, side, line).filter(corner => along(side, corner) === line);
  }

  show(position, options, winning, chosen) {
    const { width, height, square } = this.most, [shift, rise] = this.across, corners = this.piece(position);
    const drawn = ([x, y]) => [x + shift * y, -rise * y], ends = [0, 1].map(k => corners.map(corner => drawn(corner)[k])).map(all => [Math.min(...all), Math.max(...all)]);
    const [across, down] = ends.map(([low, high]) => high - low), unit = Math.min(square, (width - 2 * RIM) / across, (height - 2 * RIM) / down);
    const place = point => drawn(point).map((x, k) => (x - ends[k][0]) * unit + (k ? RIM : (width - unit * across) / 2));
    const path = (points, close = "Z") => `M${points.map(point => place(point).map(x => x.toFixed(1)).join(" ")).join("L")}${close}`;
    this.lines = new Map(options.map(option => [option, this.cut(corners, option, position).map(place)]));
    const lowered = chosen && position.map((x, k) => k === chosen.direction ? x - chosen.take : x);
    const put = (name, d) => this.svg.querySelector(`.${name}`).setAttribute("d", d), cuts = moves => moves.map(move => path(this.cut(corners, move, position), "")).join("");
    put("whole", path(corners));
    put("left", path(lowered ? this.piece(lowered) : corners));
    put("bitter", path(this.piece(position.map(() => 0))));
    put("lines", cuts(options));
    put("winning", cuts(winning));
    put("chosen", chosen ? cuts([chosen]) : "");
    this.svg.setAttribute("viewBox", `0 0 ${width} ${(unit * down + 2 * RIM).toFixed(1)}`);
    this.svg.querySelector("g").replaceChildren(...this.sides.filter(side => side[4] >= 0).map(side => {
      const far = Math.max(...corners.map(corner => along(side, corner))), outer = corners.filter(corner => along(side, corner) === far).map(place);
      const out = [side[0], -(side[1] - side[0] * shift) / rise], long = Math.hypot(...out);
      const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
      text.textContent = this.names[side[4]];
      for (const [k, name] of ["x", "y"].entries()) text.setAttribute(name, outer.reduce((sum, point) => sum + point[k], 0) / outer.length + out[k] / long * 13);
      return text;
    }));
  }

  distance(x, y) {  // of moves from a place of the page, in pixels
    const matrix = this.svg.getScreenCTM(), { x: u, y: v } = new DOMPoint(x, y).matrixTransform(matrix.inverse());
    return option => {
      const [[a, b], [c, d]] = this.lines.get(option), part = clamp(((u - a) * (c - a) + (v - b) * (d - b)) / ((c - a) ** 2 + (d - b) ** 2), 0, 1);
      return Math.hypot(a + part * (c - a) - u, b + part * (d - b) - v) * matrix.a;
    };
  }
}
