// What the mouse, fingers, keys and buttons do.

const LEGEND = 48;  // parts of the slider that have a colour each

class Controls {
  constructor(object, camera, picture, tracer, board) {  // board: of a page to play on, else null
    Object.assign(this, { object, camera, picture, tracer, board, generation: object.last, view: data.views[0], touched: false });
    Object.assign(this, { spinning: false, growing: null, flight: null, ticking: false, before: 0, marked: null });
    Object.assign(this, { theme: data.theme, cut: null, stops: [], stop: -1 });
    for (const name of ["play", "slider", "count", "colours", "views", "themes", "cuts", "cutting", "plane", "kept", "sweeping", "value", "swept", "lens", "spin", "full", "link", "save", "label", "said",
      "mark"]) {
      this[name] = document.getElementById(name);
    }
    this.link.hidden = !HAS_ADDRESS;
    this.full.hidden = !document.fullscreenEnabled;
    this.lens.hidden = this.spin.hidden = Boolean(object.flat);
    this.cuts.hidden = Boolean(object.flat || board);
    if (board) board.controls = this;
    this.sweeping.hidden = !data.sweep;
    if (data.sweep) { this.value.max = data.sweep.values.length - 1; this.nameValue(0) }
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.listen();
    this.measure();
    this.fit();
    if (!this.restore()) this.show(object.last);
  }

  measure() {  // the steps of the slider
    const { object: { first, last } } = this;
    this.steps = Number(last - first > MOST_STEPS ? MOST_STEPS : last - first);
    this.slider.max = this.steps;
    this.slider.hidden = this.play.hidden = !this.steps;
    this.colour();
    this.reserve();
  }

  colour() {
    const { legend } = data, colours = legend && bytes(legend.colours[Object.keys(data.themes).indexOf(this.theme)]);
    this.slider.style.setProperty("--colours", this.legend());
    if (legend) this.colours.replaceChildren(`${legend.title}: `, ...legend.names.map((name, k) => {
      const swatch = document.createElement("i"), item = document.createElement("span");
      swatch.style.background = `rgb(${colours.subarray(3 * k, 3 * k + 3).join(" ")})`;
      item.append(swatch, name);
      return item;
    }));
  }

  legend() {  // the colours of generations, along the slider; none where colours are of something else
    const { object } = this, stops = Array.from({ length: LEGEND + 1 }, (_, k) => this.atStep(Math.round(this.steps * k / LEGEND)));
    if (data.kind === "tree" || data.coloured) return "none";
    const index = generation => object.index ? object.index(Number(generation)) : Number(generation >> BigInt(object.bucket));
    return `linear-gradient(90deg, ${stops.map(stop => `rgb(${object.colours.subarray(3 * index(stop), 3 * index(stop) + 3).join(" ")})`).join(", ")})`;
  }

  rescale(bits) {  // after the object became so many powers of two larger: the same view of it
    const scaled = x => bits < 0 ? x >> BigInt(-bits) : x << BigInt(bits), { touched } = this, state = (this.flight?.to ?? this.camera.state());
    this.measure();
    this.tracer.paint();
    this.show(this.object.last);
    this.fly({ ...state, focus: state.focus.map(scaled), reach: state.reach * 2 ** bits }, () => { this.touched = touched });
  }

  // The picture: what the words and the controls leave free of the page, in pixels of the canvas times `ratio`.

  room(ratio = 1) {
    const whole = canvas.clientHeight, top = header.getBoundingClientRect().bottom, bottom = footer.getBoundingClientRect().top;
    const [from, to] = bottom - top > whole / 4 ? [top, bottom] : [0, whole];
    return { width: canvas.clientWidth * ratio, height: whole * ratio, middle: (from + to) / 2 * ratio, half: (to - from) / 2 * ratio };
  }

  aspect() { const { width, half } = this.room(); return width / 2 / half }

  scene([width, height], ratio) {
    return { rays: this.camera.rays({ ...this.room(ratio), width, height }, this.left()), shown: this.shown() };
  }

  shown() {
    const parts = x => [Number(x >> 30n), Number(x & 0x3fffffffn)];
    if (data.kind === "nim") {
      return { firstGeneration: parts(this.object.first), lastGeneration: parts(this.generation), bucket: this.object.bucket };
    }
    if (data.kind === "tree") return this.object.shape;
    return { levels: data.levels, lastIndex: this.object.index(Number(this.generation)), coloured: Number(data.coloured) };
  }

  redraw() {
    this.hideLabel();
    this.picture.change();
    this.board?.draw();
    this.linkSoon();
  }

  linkSoon() {
    clearTimeout(this.linking);
    this.linking = setTimeout(() => this.tellAddress(), 500);
  }

  // The theme

  wear(name) {
    wear(name);
    this.theme = this.themes.value = name;
    this.object.paint();
    this.tracer.paint();
    this.colour();
    this.redraw();
  }

  // The cut: of the cells, only those are left whose coordinate on an axis is below `at`, or those at which it is not.

  cutOpen(axis) {  // in the middle, so that the section faces the eye; null for no cut
    this.takeCut(axis === null ? null : { axis, at: this.object.extent[axis] / 2n, below: this.camera.basis[2][axis] >= 0 });
  }

  takeCut(cut) {
    this.cut = cut;
    this.cuts.value = cut ? cut.axis : "";
    this.cuts.options[0].text = cut ? "Whole" : "Cut";
    this.cutting.hidden = !cut;
    if (cut) {
      const { axis, at, below } = cut, side = this.object.extent[axis], steps = side < MOST_PLANES ? side : MOST_PLANES;
      Object.assign(this.plane, { min: Number(below), max: Number(steps) - !below, value: Number(at * steps / side) });
      this.kept.textContent = `${data.axes[axis]} ${below ? "<" : "≥"} ${brief(this.object.coordinate(at, axis))}`;
      this.plane.setAttribute("aria-valuetext", this.kept.textContent);
    }
    this.redraw();
  }

  moveCut(step) {
    const { cut } = this, side = cut && this.object.extent[cut.axis], most = side < MOST_PLANES ? side : MOST_PLANES;
    if (cut) this.takeCut({ ...cut, at: BigInt(clamp(step, +this.plane.min, +this.plane.max)) * side / most });
  }

  left() {  // the cells of the object's box that the cut leaves: from the first to before the second
    const ends = [[0n, 0n, 0n], [...this.object.cells ?? this.object.extent]], { cut } = this;
    if (cut) ends[Number(cut.below)][cut.axis] = cut.at;
    return ends;
  }

  nameValue(k) {  // of the parameter
    this.value.value = k;
    this.swept.textContent = `${data.sweep.name} = ${data.sweep.values[k]}`;
    this.value.setAttribute("aria-valuetext", this.swept.textContent);
  }

  async sweep(k) {  // to another value of the parameter
    const frame = data.sweep.frames[k];
    if (!frame) return;
    this.nameValue(k);
    Object.assign(data, frame);
    const found = await unpacked(frame.grid);
    if (data.grid !== frame.grid) return;  // it was moved on
    this.object.values = found;
    this.tracer.upload();
    this.show(this.generation);
  }

  // The camera

  fit() {  // for the page as it is now; what was turned or moved only keeps its size
    const aspect = this.aspect(), wanted = this.camera.lookAlong(this.view, aspect);
    if (!this.touched) this.camera.take(wanted);
    else if (this.fitted) this.camera.reach *= wanted.reach / this.camera.lookAlong(this.view, this.fitted).reach;
    this.fitted = aspect;
    this.nameLens();
    this.redraw();
  }

  face(number) {
    this.view = data.views[number];
    this.fly(this.camera.lookAlong(this.view, this.aspect()), () => { this.touched = false });
  }

  fly(to, then = () => {}) {
    const arrive = () => { this.camera.take(to); this.flight = null; then(); this.nameLens(); this.redraw() };
    if (this.calm.matches) { arrive(); return }
    this.flight = { to, way: Camera.way(this.camera.state(), to), part: 0, arrive };
    this.tick();
  }

  swapLens() {
    const state = this.camera.state();
    this.touched = true;
    this.fly({ ...state, lens: this.camera.parallel ? data.tangent : 0 });
  }

  nameLens() { this.lens.setAttribute("aria-pressed", this.camera.parallel) }

  take(change) {  // by hand, which ends a flight
    this.flight = null;
    this.touched = true;
    change();
    this.redraw();
  }

  turn(x, y) { if (this.object.flat) this.move(x, y); else this.take(() => this.camera.turn(x * .006, y * .006)) }
  move(x, y) { const { half } = this.room(); this.take(() => this.camera.move(x / half, y / half)) }
  zoom(times, x, y) { this.take(() => this.camera.zoom(times, this.under(x, y))) }

  under(x, y) {  // the point that is seen at a place of the page, or that of the focus' distance
    const { width, middle, half } = this.room(), { camera } = this, [right, up] = camera.basis;
    const found = this.hit(x, y), across = (x - width / 2) / half, high = (middle - y) / half;
    if (!found) return moved(camera.focus, plus(right.map(part => part * across * camera.reach), up, high * camera.reach));
    const { rays } = found, way = unit(plus(plus(rays.ahead, rays.aheadRight, across), rays.aheadUp, high));
    return moved(camera.eye(), plus(plus(plus([0, 0, 0], rays.eyeRight, across), rays.eyeUp, high), way, found.distance));
  }

  // Pointing

  hit(x, y) {
    const ratio = canvas.width / canvas.clientWidth, rays = this.scene([canvas.width, canvas.height], ratio).rays;
    const found = this.tracer.pointed(rays, this.shown(), [x * ratio, canvas.height - y * ratio]);
    return found && { ...found, rays };
  }

  tap(x, y) { if (!this.board?.choose(this.board.distance(x, y))) this.point(x, y, true) }

  point(x, y, aloud) {
    const found = this.hit(x, y), text = found ? this.object.describe(found.cell, found.level) : "";
    this.hideLabel();
    if (found) {
      this.label.textContent = text;
      this.label.hidden = false;
      const box = this.label.getBoundingClientRect(), { width, height } = this.room();
      this.label.style.left = `${clamp(x + 16, 8, Math.max(8, width - box.width - 8))}px`;
      this.label.style.top = `${y + 20 + box.height < height - 8 ? y + 20 : Math.max(8, y - box.height - 16)}px`;
      this.outline(found);
    }
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => { this.said.textContent = text || "nothing is there" }, aloud ? 0 : 400);
    return text;
  }

  outline({ cell, level }) { if (!this.object.flat) this.mark.firstElementChild.setAttribute("d", this.sides(cell, 1n << BigInt(level))) }

  sides(cell, side) {  // of a cube, those that face the eye, as a path
    const room = this.room(), to = this.camera.eye(), paths = [];
    for (let axis = 0; axis < 3; axis++) for (const end of [0n, 1n]) {
      const at = (cell[axis] + end * side) << BITS, facing = this.camera.parallel ? this.camera.basis[2][axis] : Number(to[axis] - at);
      if (end ? facing <= 0 : facing >= 0) continue;
      const corners = [[0n, 0n], [1n, 0n], [1n, 1n], [0n, 1n]].map(([u, v]) => {
        const corner = cell.map(x => x << BITS);
        corner[axis] = at;
        corner[(axis + 1) % 3] += u * side << BITS; corner[(axis + 2) % 3] += v * side << BITS;
        return this.camera.project(corner, room).map(part => part.toFixed(1)).join(" ");
      });
      paths.push(`M${corners.join("L")}Z`);
    }
    return paths.join("");
  }

  hideLabel() {
    this.label.hidden = true;
    this.mark.firstElementChild.setAttribute("d", "");
  }

  // Generations

  show(generation) {
    const { first, last } = this.object, most = BigInt(this.steps || 1);
    this.generation = clamp(generation, first, last);
    const step = last > first ? ((this.generation - first) * most + (last - first) / 2n) / (last - first) : 0n;
    this.slider.value = Number(step);
    const text = this.countText(this.generation);
    this.count.textContent = text;
    this.slider.setAttribute("aria-valuetext", text);
    this.redraw();
  }

  countText(generation) {
    const shown = brief(this.object.shown(generation)), unit = shown === "1" ? this.object.unit.slice(0, -1) : this.object.unit;
    return `generation ${brief(generation)} of ${brief(this.object.last)}: ${shown} ${unit}`;
  }

  reserve() {  // the height of the longest text, so that the picture does not move with it
    this.count.style.minHeight = "";
    this.count.textContent = this.countText(this.object.last);
    this.count.style.minHeight = `${Math.ceil(this.count.getBoundingClientRect().height)}px`;
    this.count.textContent = this.countText(this.generation);
  }

  atStep(step) { return this.steps ? this.object.first + (this.object.last - this.object.first) * BigInt(step) / BigInt(this.steps) : this.object.last }

  step(step) { this.grow(false); this.show(this.atStep(clamp(step, 0, this.steps))) }

  grow(on) {
    this.growing = on ? (+this.slider.value === this.steps ? 0 : +this.slider.value) : null;
    this.play.textContent = on ? "Pause" : "Play";
    this.tick();
  }

  rotate(on) {
    this.spinning = on && !this.object.flat;
    if (this.spinning && !this.touched) this.fly(this.camera.roundabout(this.aspect()));
    this.spin.setAttribute("aria-pressed", this.spinning);
    this.tick();
  }

  fill() { if (document.fullscreenElement) document.exitFullscreen(); else document.documentElement.requestFullscreen().catch(() => {}) }

  tick() {  // of what moves by itself
    if (this.ticking || !(this.spinning || this.flight || this.growing !== null)) return;
    this.ticking = true;
    requestAnimationFrame(now => {
      const seconds = Math.min((now - this.before) / 1000, .1);
      this.before = now;
      this.ticking = false;
      if (this.flight) {
        const flight = this.flight, part = flight.part = Math.min(flight.part + seconds / 1.2, 1);
        if (part === 1) flight.arrive();
        else { this.camera.take(flight.way(part * part * (3 - 2 * part))); this.redraw() }
      } else if (this.spinning) { this.camera.turn(-.5 * seconds, 0); this.touched = true; this.redraw() }
      if (this.growing !== null) {
        this.growing = Math.min(this.growing + seconds * this.steps / clamp(this.steps * .3, 2, 12), this.steps);
        this.show(this.atStep(Math.floor(this.growing)));
        if (this.growing === this.steps) this.grow(false);
      }
      this.tick();
    });
  }

  // Links and pictures

  here() { return fragmentOf(this.camera.state(), this.generation, this.theme, this.cut) + (data.sweep ? `&value=${this.value.value}` : "") }

  fragment() {
    return this.here() + (this.stops.length ? `&stops=${encodeURIComponent(this.stops.join(" "))}` : "") + (this.board?.fragment() ?? "");
  }

  restore() {
    this.board?.restore();
    const state = stateOf(location.hash, this.object);
    if (!state) return false;
    this.flight = null;
    this.touched = true;
    this.stops = new URLSearchParams(location.hash.slice(1)).get("stops")?.split(" ") ?? [];
    this.stop = -1;
    this.camera.take(state);
    this.camera.keepNear();
    this.nameLens();
    this.dress(state);
    return true;
  }

  dress({ theme, cut, generation, value }) {
    this.wear(theme);
    this.takeCut(cut);
    this.show(generation);
    if (data.sweep && value in data.sweep.values) this.sweep(value);
  }

  // Views for a talk, one after the other

  keep(one = true) {
    this.stops = one ? [...this.stops, this.here()] : [];
    this.stop = this.stops.length - 1;
    hint(one ? `view ${this.stops.length} saved` : "no views saved");
    this.linkSoon();
  }

  walk(step) {  // through the saved views, or through those of the page
    const all = this.stops.length ? this.stops : data.views;
    this.stop = clamp(this.stop + step, 0, all.length - 1);
    if (all === data.views) { this.face(this.stop); return }
    const state = stateOf(all[this.stop], this.object);
    if (!state) return;
    this.dress(state);
    this.touched = true;
    this.fly(state);
  }

  tellAddress() { if (HAS_ADDRESS) history.replaceState(null, "", this.fragment()) }

  copyLink() {
    if (!HAS_ADDRESS) return;
    this.tellAddress();
    const done = () => { this.said.textContent = "link copied"; this.link.textContent = "Copied"; setTimeout(() => { this.link.textContent = "Link" }, 1500) };
    const shown = () => { this.said.textContent = "the address of the page is the link" };
    navigator.clipboard ? navigator.clipboard.writeText(location.href).then(done, shown) : shown();
  }

  printed() {  // the picture on paper, with a few samples a pixel
    const { picture } = this, worn = this.theme;
    this.wear("paper");
    picture.begin(1);
    while (picture.pass && picture.pass.turn < 4) picture.proceed();
    const paper = this.paper();
    this.wear(worn);
    return paper;
  }

  paper() {  // the picture on its background
    this.tracer.show(this.picture.front);
    const paper = document.createElement("canvas"), pen = paper.getContext("2d");
    [paper.width, paper.height] = [canvas.width, canvas.height];
    const shade = pen.createLinearGradient(0, 0, 0, paper.height);
    shade.addColorStop(0, css(theme.top)); shade.addColorStop(1, css(theme.bottom));
    pen.fillStyle = shade; pen.fillRect(0, 0, paper.width, paper.height); pen.drawImage(canvas, 0, 0);
    return paper;
  }

  savePicture() {
    const link = document.createElement("a");
    link.download = "gpunim.png"; link.href = this.paper().toDataURL("image/png"); link.click();
  }
}
