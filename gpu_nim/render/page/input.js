// The events of the page, which call what the controls do.

const MOST_STEPS = 1n << 20n;  // of the slider
const MOST_PLANES = 1n << 10n;  // of the cut

Controls.prototype.listen = function () {
  this.listenToPointers();
  this.listenToKeys();
  this.slider.addEventListener("input", () => this.step(+this.slider.value));
  this.plane.addEventListener("input", () => this.moveCut(+this.plane.value));
  this.value.addEventListener("input", () => this.sweep(+this.value.value));
  this.play.addEventListener("click", () => this.grow(this.growing === null));
  this.spin.addEventListener("click", () => this.rotate(!this.spinning));
  this.lens.addEventListener("click", () => this.swapLens());
  this.save.addEventListener("click", () => this.savePicture());
  this.link.addEventListener("click", () => this.copyLink());
  this.full.addEventListener("click", () => this.fill());
  document.addEventListener("fullscreenchange", () => this.full.setAttribute("aria-pressed", Boolean(document.fullscreenElement)));
  for (const [k, { name }] of data.views.entries()) this.views.add(new Option(name, k));
  this.views.addEventListener("change", () => { this.face(this.views.value); this.views.value = "" });
  for (const name of Object.keys(data.themes)) this.themes.add(new Option(name, name, name === data.theme, name === data.theme));
  this.themes.addEventListener("change", () => this.wear(this.themes.value));
  for (const [k, name] of data.axes.entries()) if (this.object.extent[k] > 1n) this.cuts.add(new Option(`Cut ${name}`, k));
  this.cuts.addEventListener("change", () => this.cutOpen(this.cuts.value ? +this.cuts.value : null));
  // Space spins after a click on a button too; who came to it by the keyboard presses it with space.
  document.addEventListener("click", event => { if (event.detail && event.target.closest("button, summary")) event.target.blur() });
  window.addEventListener("hashchange", () => this.restore());
  window.addEventListener("resize", () => this.reserve());
  window.addEventListener("beforeprint", () => { document.getElementById("still").src = this.printed().toDataURL("image/png") });
  for (const part of [canvas, header, footer]) new ResizeObserver(() => this.fit()).observe(part);
};

Controls.prototype.listenToPointers = function () {
  const pointers = new Map();  // fingers, or the mouse while a button is held
  let dragged = 0;
  canvas.addEventListener("pointerdown", event => {
    canvas.setPointerCapture(event.pointerId);
    document.activeElement.blur();  // so that keys are for the picture again
    if (!pointers.size) dragged = 0;
    pointers.set(event.pointerId, event);
    this.hideLabel();
  });
  canvas.addEventListener("pointerup", event => {
    if (pointers.size === 1 && dragged < 5) this.tap(event.clientX, event.clientY);
  });
  for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) canvas.addEventListener(name, event => pointers.delete(event.pointerId));
  canvas.addEventListener("pointermove", event => {
    const last = pointers.get(event.pointerId);
    if (!last) { if (!this.flight && !this.spinning && this.growing === null) this.hover(event); return }
    const [x, y] = [event.clientX - last.clientX, event.clientY - last.clientY], others = [...pointers.values()].filter(p => p !== last);
    pointers.set(event.pointerId, event);
    dragged += Math.abs(x) + Math.abs(y);
    if (others.length) {
      const [other] = others, apart = p => Math.hypot(p.clientX - other.clientX, p.clientY - other.clientY);
      dragged += 5;
      this.zoom(apart(event) / Math.max(apart(last), 1), (event.clientX + other.clientX) / 2, (event.clientY + other.clientY) / 2);
      this.move(x / 2, y / 2);
    } else if (dragged < 3) return;
    else if (event.shiftKey || event.buttons > 1) this.move(x, y);
    else this.turn(x, y);
  });
  canvas.addEventListener("pointerleave", () => { this.hovered = null; this.hideLabel() });
  canvas.addEventListener("mousedown", event => event.preventDefault());  // the ring of focus is for who comes by the keyboard
  canvas.addEventListener("contextmenu", event => event.preventDefault());
  // In another page the wheel is that page's, until this one is clicked, and again when it is left: as maps have it.
  let entered = window.parent === window;
  if (!entered) {
    for (const { style } of [document.documentElement, document.body]) style.overscrollBehavior = "auto";
    canvas.addEventListener("pointerdown", () => { entered = true });
    document.documentElement.addEventListener("mouseleave", () => { entered = false });
  }
  window.addEventListener("wheel", event => {
    if (event.target.closest("#game")) return;
    if (!entered && !event.ctrlKey) {
      hint("Ctrl + wheel zooms, or the wheel after a click");
      return;
    }
    event.preventDefault();  // a pinch on a touchpad is a wheel with Ctrl, and would enlarge the page
    this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 30 : 1) * (event.ctrlKey ? .01 : .001)), event.clientX, event.clientY);
  }, { passive: false });
};

Controls.prototype.hover = function (event) {  // once a frame, however many events there are
  const waiting = this.hovered;
  this.hovered = event;
  if (!waiting) requestAnimationFrame(() => { if (this.hovered) this.point(this.hovered.clientX, this.hovered.clientY, false); this.hovered = null });
};

Controls.prototype.listenToKeys = function () {
  const middle = act => { const { width, middle } = this.room(); act(width / 2, middle) }, at = () => +this.slider.value;
  const keys = {
    " ": () => this.rotate(!this.spinning), p: () => this.grow(this.growing === null), o: () => this.swapLens(),
    c: () => middle((x, y) => this.point(x, y, true)), f: () => this.fill(), s: () => this.savePicture(), l: () => this.copyLink(),
    "+": () => middle((x, y) => this.zoom(1.25, x, y)), "-": () => middle((x, y) => this.zoom(.8, x, y)),
    h: () => document.documentElement.classList.toggle("stage"), v: () => this.keep(), V: () => this.keep(false),
    PageUp: () => this.walk(-1), PageDown: () => this.walk(1), ArrowUp: () => this.walk(-1), ArrowDown: () => this.walk(1),
    ArrowLeft: () => this.step(at() - 1), ArrowRight: () => this.step(at() + 1), Home: () => this.step(0), End: () => this.step(this.steps),
  };
  const shifted = { ArrowLeft: [-20, 0], ArrowRight: [20, 0], ArrowUp: [0, -20], ArrowDown: [0, 20] };
  data.views.slice(0, 10).forEach((_, k) => { keys[k] = () => this.face(k) });
  const themes = Object.keys(data.themes), axes = [0, 1, 2].filter(axis => this.object.extent[axis] > 1n);
  keys.t = () => this.wear(themes[(themes.indexOf(this.theme) + 1) % themes.length]);
  const absent = { cut: this.cuts.hidden, turns: this.object.flat, grows: this.object.first === this.object.last, hides: this.board, sweeps: !data.sweep };
  for (const [name, hidden] of Object.entries(absent)) for (const words of document.querySelectorAll(`.${name}`)) words.hidden = hidden;
  if (data.sweep) Object.assign(keys, { "[": () => this.sweep(+this.value.value - 1), "]": () => this.sweep(+this.value.value + 1) });
  if (!this.cuts.hidden) {
    keys.x = () => this.cutOpen(axes[this.cut ? axes.indexOf(this.cut.axis) + 1 : 0] ?? null);
    keys[","] = () => this.moveCut(+this.plane.value - 1);
    keys["."] = () => this.moveCut(+this.plane.value + 1);
  }
  keys["="] = keys["+"];  // the same key without Shift
  Object.assign(keys, this.board?.keys);
  window.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = event.shiftKey && Object.hasOwn(shifted, event.key) ? () => this.turn(...shifted[event.key]) : Object.hasOwn(keys, event.key) && keys[event.key];
    if (!act || event.target.closest("select, #game input") || (event.target.type === "range" && /^(Arrow|Home|End)/.test(event.key))) return;
    if (event.key === " " && event.target.closest("button, summary")) return;
    event.preventDefault();
    act();
  });
};
