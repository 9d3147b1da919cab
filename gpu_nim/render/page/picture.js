// The picture on the screen: coarse while it changes, finer at rest, never more at a time than the graphics card draws in a moment.

const COARSEST = 8, SAMPLES = 40, PATIENCE = 15_000;  // rays a pixel at the end, or as many as are traced in this many milliseconds
const MOMENT = [42, 85];  // milliseconds that a part may take: the next one is larger, or smaller; with nothing to do it is 30
const LEAST = 10_000;  // pixels

class Picture {
  constructor(tracer, canvas, scene) {  // scene: returns the rays for a size in pixels, and what is shown
    Object.assign(this, { tracer, canvas, scene, samples: SAMPLES, budget: 4 * LEAST, waiting: false, changed: true, front: null, pass: null });
  }

  change() { this.changed = true; this.schedule() }

  forget() { this.front = this.pass = this.fence = null; this.change() }  // after the graphics card lost all

  get rests() { return !this.changed && !this.pass && !this.fence }

  schedule() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.step() });
  }

  resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const size = [this.canvas.clientWidth, this.canvas.clientHeight].map(part => Math.max(1, Math.round(part * ratio)));
    if (this.canvas.width !== size[0] || this.canvas.height !== size[1]) [this.canvas.width, this.canvas.height] = size;
    return ratio;
  }

  step() {
    const { gl } = this.tracer;
    if (gl.isContextLost() || !this.canvas.clientWidth) return;
    if (this.fence && !this.drawn()) { this.schedule(); return }
    if (this.changed) { this.begin(this.scale(), true); this.until = performance.now() + PATIENCE }
    this.changed = false;
    this.proceed();
    if (!this.rests) this.schedule();
  }

  drawn() {  // whether the last part is, and how large the next one may be
    const { gl } = this.tracer;
    if (gl.getSyncParameter(this.fence, gl.SYNC_STATUS) !== gl.SIGNALED) return false;
    const took = performance.now() - this.since;
    if (took < MOMENT[0]) this.budget = Math.min(this.budget * 1.6, 1e8);
    else if (took > MOMENT[1]) this.budget = Math.max(this.budget * Math.max(MOMENT[1] / took, .25), LEAST);
    gl.deleteSync(this.fence);
    this.fence = null;
    return true;
  }

  scale() {  // how many pixels wide those of a picture are that is drawn in a moment
    let scale = 1;
    this.resize();
    while (scale < COARSEST && this.canvas.width * this.canvas.height / scale ** 2 > this.budget) scale *= 2;
    return scale;
  }

  begin(scale, whole = false) {  // whole: drawn at once, since further changes would leave it unfinished
    const { tracer } = this, ratio = this.resize(), size = [this.canvas.width, this.canvas.height].map(side => Math.ceil(side / scale));
    if (this.pass && this.pass.target !== this.front) tracer.forget(this.pass.target);
    this.pass = { scale, whole, turn: 0, row: 0, target: tracer.picture(...size), ...this.scene(size, ratio / scale) };
  }

  proceed() {  // draw a part of the pass; show it when it is complete, and begin the next one
    const { pass, tracer } = this, { gl } = tracer;
    if (pass) {
      const { width, height } = pass.target, left = height - pass.row;
      const rows = pass.whole ? left : clamp(Math.floor(this.budget / width), 1, left);
      tracer.draw(pass.target, pass.rays, pass.shown, pass.turn, pass.row, rows);
      pass.row += rows;
      this.since = performance.now();
      this.fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
      gl.flush();
      if (pass.row === height) this.complete();
    }
  }

  complete() {
    const { pass, tracer } = this;
    if (this.front !== pass.target) { tracer.forget(this.front); this.front = pass.target }
    tracer.show(this.front);  // only now: to show a picture takes a browser without a graphics card as long as to draw a part
    if (pass.scale > 1) this.begin(pass.scale / 2);
    else if (pass.turn + 1 < this.samples && performance.now() < this.until) Object.assign(pass, { turn: pass.turn + 1, row: 0, whole: false });
    else this.pass = null;
  }
}
