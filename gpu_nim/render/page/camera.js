// The camera: a focus in the object, where it looks from, how much of the object it sees, and its lens.

const FLAT = .015;  // lenses below this have parallel sight lines

const UPRIGHT = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];

class Camera {
  // basis: right, up and toward the eye; pole: the axis that it is turned about; reach: half the height that is seen around the focus;
  // lens: the tangent of half the angle, or 0 for parallel sight lines.
  constructor(object) {
    this.object = object;
  }

  get radius() { return length(this.object.extent.map(Number)) / 2 }

  get middle() { return this.object.extent.map(side => (side << BITS) / 2n) }

  get parallel() { return this.lens < FLAT }

  take({ basis, pole, focus, reach, lens }) {
    Object.assign(this, { basis, pole, focus, reach, lens }, this.object.flat && { basis: UPRIGHT, lens: 0 });  // from above alone
  }

  state() {
    const { basis, pole, focus, reach, lens } = this;
    return { basis, pole, focus, reach, lens };
  }

  // With parallel sight lines rays begin before the object, but not so far that floats lose what a pixel shows.
  get distance() {
    if (!this.parallel) return this.reach / this.lens;
    return Math.min(length(between(this.middle, this.focus)) + 1.01 * this.radius, this.reach * 4096);
  }

  eye() { return moved(this.focus, this.basis[2].map(x => x * this.distance)) }

  turn(x, y) {
    const up = Math.asin(clamp(dot(this.basis[2], this.pole), -1, 1)), rise = clamp(up + y, -1.56, 1.56) - up;
    const level = this.basis.map(axis => turned(axis, this.pole, -x)), right = level[0];
    this.basis = level.map(axis => turned(axis, right, -rise));
  }

  keepNear() {  // the focus stays about the object
    const far = between(this.middle, this.focus), limit = 1.5 * this.radius;
    if (length(far) > limit) this.focus = moved(this.middle, far.map(x => x * limit / length(far)));
  }

  move(x, y) {  // by parts of half the height that is seen
    this.focus = moved(this.focus, plus(this.basis[0].map(part => -part * x * this.reach), this.basis[1], y * this.reach));
    this.keepNear();
  }

  zoom(times, about) {  // a point keeps its place in the picture
    const reach = clamp(this.reach / times, .75, 8 * this.radius), part = reach / this.reach;
    this.focus = moved(about, between(about, this.focus).map(x => x * part));
    this.reach = reach;
    this.keepNear();
  }

  lookAlong(view, aspect) {  // where a view of the page shows its part of the object, or all of it: the picture's height is 2, its width twice the aspect
    const toward = unit(view.toward), right = unit(cross(view.pole, toward)), up = cross(toward, right), share = 1 - 2 * data.margin;
    const [x, y, z] = [right, up, toward].map(axis => (view.hull ?? this.object.hull).map(p => dot(axis, p)));
    const least = a => Math.min(...a), most = a => Math.max(...a), depth = dot(this.object.extent.map(Number), toward) / 2;
    let cx, cy, reach;
    if (view.parallel) {
      cx = (least(x) + most(x)) / 2; cy = (least(y) + most(y)) / 2;
      reach = Math.max((most(y) - least(y)) / 2 / share, (most(x) - least(x)) / 2 / share / aspect);
    } else {  // as gpu_nim.render.views.fit
      const mean = a => a.reduce((sum, part) => sum + part) / a.length, near = mean(z), t = data.tangent * share;
      let distance = 0;
      cx = mean(x); cy = mean(y);
      for (let round = 0; round < 60; round++) {
        distance = most(z.map((d, k) => d + Math.max(Math.abs(x[k] - cx) / t / aspect, Math.abs(y[k] - cy) / t)));
        const px = x.map((a, k) => (a - cx) / (distance - z[k])), py = y.map((a, k) => (a - cy) / (distance - z[k]));
        cx += (most(px) + least(px)) / 2 * (distance - near); cy += (most(py) + least(py)) / 2 * (distance - near);
      }
      reach = (distance - depth) * data.tangent;
    }
    const focus = moved([0n, 0n, 0n], plus(plus(right.map(part => part * cx), up, cy), toward, depth));
    return { basis: [right, up, toward], pole: view.pole, focus, reach: Math.max(reach, .75), lens: view.parallel ? 0 : data.tangent };
  }

  roundabout(aspect) {  // the state in which all of the object stays in the picture, while it is turned about its pole
    const share = 1 - 2 * data.margin, middle = this.object.extent.map(side => Number(side) / 2), state = this.state(), turns = Array.from({ length: 24 }, (_, k) => k * Math.PI / 12);
    const points = this.object.hull.map(point => plus(point, middle, -1)).flatMap(point => turns.map(angle => turned(point, state.pole, angle)));
    const reaches = points.map(point => {
      const [x, y, z] = state.basis.map(axis => dot(axis, point));
      return Math.max(Math.abs(x) / aspect, Math.abs(y)) / share + z * state.lens;
    });
    return { ...state, focus: this.middle, reach: Math.max(...reaches) };
  }

  // What is part of the way from one state to another, as a function of 0 to 1.
  static way(from, to) {
    const [axis, angle] = turnBetween(from.basis, to.basis), far = between(from.focus, to.focus), nearer = Math.abs(to.reach / from.reach - 1) > .01;
    return part => {
      const reach = from.reach * (to.reach / from.reach) ** part;
      // Where it goes nearer or farther, the focus moves so that one point of the picture stays. It is counted from the closer end,
      // which may be a cell in an object of 2^60.
      const gone = nearer ? (reach - from.reach) / (to.reach - from.reach) : part;
      const left = nearer ? (to.reach - reach) / (to.reach - from.reach) : 1 - part;
      const focus = gone < left ? moved(from.focus, far.map(x => x * gone)) : moved(to.focus, far.map(x => -x * left));
      return { basis: from.basis.map(v => turned(v, axis, angle * part)), pole: to.pole, focus, reach, lens: mix(from.lens, to.lens, part) };
    };
  }

  // The numbers that the shaders trace with, for a canvas of some pixels, of which the picture is centred at `middle`, `half` high, and for
  // the cells from `first` to before `beyond`.
  rays({ width, height, middle, half }, [first, beyond]) {
    const eye = this.eye(), [right, up, toward] = this.basis;
    const anchor = eye.map((x, k) => clamp(x >> BITS, 0n, this.object.extent[k] - 1n)), zero = [0, 0, 0];
    const { cell, shift } = this.object.anchored?.(anchor) ?? { cell: anchor };
    const from = corner => corner.map((x, k) => Number(x - anchor[k])), scaled = (v, times) => v.map(x => x * times);
    return {
      anchor,
      ...halves("anchor", cell), ...halves("first", first), ...halves("extent", beyond), ...shift && { anchorShift: shift },
      lowCorner: from(first), highCorner: from(beyond),
      frame: [1 / half, 1 / half, -width / 2 / half, (middle - height) / half],
      eye: between(anchor.map(x => x << BITS), eye), ahead: scaled(toward, -1),
      eyeRight: this.parallel ? scaled(right, this.reach) : zero, eyeUp: this.parallel ? scaled(up, this.reach) : zero,
      aheadRight: this.parallel ? zero : scaled(right, this.lens), aheadUp: this.parallel ? zero : scaled(up, this.lens),
      pixel: this.parallel ? this.reach / half : 0, pixelSpread: this.parallel ? 0 : this.lens / half,
      right, up, ...this.lights(),
    };
  }

  lights() {  // directions, from those for a camera whose axes are those of the world
    return Object.fromEntries(Object.entries(data.lights).map(([name, light]) =>
      [name, light.reduce((sum, part, k) => plus(sum, this.basis[k], part), [0, 0, 0])]));
  }

  project(point, { width, middle, half }) {  // to pixels from the top left corner
    const at = between(this.eye(), point), [x, y, z] = this.basis.map(axis => dot(axis, at));
    const scale = half / (this.parallel ? this.reach : Math.max(-z, 1e-9) * this.lens);
    return [width / 2 + x * scale, middle - y * scale];
  }
}
