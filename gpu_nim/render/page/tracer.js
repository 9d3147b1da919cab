// WebGL: the programs, the object in the graphics card's memory, and pictures of any resolution.

const WHOLE = `#version 300 es
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0, 1); }`;  // one triangle over all of it

const TEXTURES = { palette: 0, grid: 1, rows: 2 };

class Tracer {
  constructor(gl, object) {
    this.gl = gl;
    this.object = object;
    this.prepare();
  }

  prepare() {  // and again whenever the browser has lost what the graphics card held
    const { gl } = this, common = [data.shaders.cells, data.shaders[data.kind], data.shaders.trace];
    this.exact = gl.getExtension("EXT_color_buffer_float") !== null;  // else pictures of many samples are rounded to 8 bits
    this.programs = {
      picture: this.program([...common, data.shaders.picture]),
      pointed: this.program([...common, data.shaders.pointed]),
      screen: this.program([data.shaders.screen]),
    };
    this.palette = this.texture(gl.TEXTURE_2D, gl.NEAREST);
    this.paint();
    if (data.kind === "grid") this.upload();
    if (data.kind === "tree") this.plant();
    this.touched = this.target(1, 1, gl.RGBA32UI, gl.NEAREST, 2);
  }

  paint() {  // the object's colours, and again whenever they are others
    const { gl } = this, { colours } = this.object, rows = Math.ceil(colours.length / 768), filled = new Uint8Array(rows * 768);
    filled.set(colours);
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB8, 256, rows, 0, gl.RGB, gl.UNSIGNED_BYTE, filled);
  }

  program(parts) {
    const { gl } = this, program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, WHOLE], [gl.FRAGMENT_SHADER, ["#version 300 es", ...parts].join("\n")]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source); gl.compileShader(shader); gl.attachShader(program, shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) throw new Error(gl.getShaderInfoLog(shader));
    }
    gl.linkProgram(program);
    const uniforms = {};
    for (let k = (gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) ?? 0) - 1; k >= 0; k--) {
      const { name, type } = gl.getActiveUniform(program, k), where = gl.getUniformLocation(program, name);
      const set = {
        [gl.INT]: "uniform1i", [gl.BOOL]: "uniform1i", [gl.SAMPLER_2D]: "uniform1i", [gl.UNSIGNED_INT_SAMPLER_3D]: "uniform1i",
        [gl.INT_VEC2]: "uniform2iv", [gl.INT_VEC3]: "uniform3iv", [gl.FLOAT]: "uniform1f", [gl.FLOAT_VEC2]: "uniform2fv",
        [gl.UNSIGNED_INT_SAMPLER_2D]: "uniform1i", [gl.INT_VEC4]: "uniform4iv", [gl.FLOAT_VEC3]: "uniform3fv", [gl.FLOAT_VEC4]: "uniform4fv",
      }[type];
      uniforms[name] = value => gl[set](where, value);
    }
    return { program, uniforms };
  }

  use(name, values) {  // those of the values that the program knows
    const { program, uniforms } = this.programs[name];
    this.gl.useProgram(program);
    for (const [key, value] of Object.entries(values)) uniforms[key]?.(value);
  }

  texture(kind, filter) {
    const { gl } = this, texture = gl.createTexture();
    gl.bindTexture(kind, texture);
    for (const [key, value] of [["MIN_FILTER", filter], ["MAG_FILTER", filter], ["WRAP_S", gl.CLAMP_TO_EDGE], ["WRAP_T", gl.CLAMP_TO_EDGE]]) {
      gl.texParameteri(kind, gl[`TEXTURE_${key}`], value);
    }
    return texture;
  }

  upload() {
    const { gl } = this, [format, kind, parts] = data.coloured ? [gl.RG_INTEGER, gl.RG16UI, 2] : [gl.RED_INTEGER, gl.R16UI, 1];
    const levels = this.object.pyramid();
    gl.deleteTexture(this.grid ?? null);
    this.grid = this.texture(gl.TEXTURE_3D, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_3D, gl.TEXTURE_MIN_FILTER, gl.NEAREST_MIPMAP_NEAREST);
    gl.texStorage3D(gl.TEXTURE_3D, levels.length, kind, ...this.object.shape);
    for (const [level, [shape, values, colourIndices]] of levels.entries()) {
      const all = colourIndices ? new Uint16Array(parts * values.length) : values;
      if (colourIndices) for (let k = 0; k < values.length; k++) { all[2 * k] = values[k]; all[2 * k + 1] = colourIndices[k] }
      gl.texSubImage3D(gl.TEXTURE_3D, level, 0, 0, 0, ...shape, format, gl.UNSIGNED_SHORT, all);
    }
  }

  plant() {
    const { gl } = this, { refs } = this.object, height = Math.ceil(refs.length / 4096), filled = new Uint32Array(height * 4096);
    filled.set(refs);
    this.rows = this.texture(gl.TEXTURE_2D, gl.NEAREST);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32UI, 1024, height, 0, gl.RGBA_INTEGER, gl.UNSIGNED_INT, filled);
  }

  target(width, height, format, filter, textures = 1) {  // what a program draws into
    const { gl } = this, frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    const made = Array.from({ length: textures }, (_, k) => {
      const texture = this.texture(gl.TEXTURE_2D, filter);
      gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0 + k, gl.TEXTURE_2D, texture, 0);
      return texture;
    });
    gl.drawBuffers(made.map((_, k) => gl.COLOR_ATTACHMENT0 + k));
    return { frame, textures: made, width, height };
  }

  picture(width, height) { return this.target(width, height, this.exact ? this.gl.RGBA16F : this.gl.RGBA8, this.gl.LINEAR) }

  forget(target) {
    if (!target) return;
    this.gl.deleteFramebuffer(target.frame);
    for (const texture of target.textures) this.gl.deleteTexture(texture);
  }

  bind() {  // the textures that tracing reads
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE0); gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.activeTexture(gl.TEXTURE1); gl.bindTexture(gl.TEXTURE_3D, this.grid ?? null);
    gl.activeTexture(gl.TEXTURE2); gl.bindTexture(gl.TEXTURE_2D, this.rows ?? null);
    gl.activeTexture(gl.TEXTURE0);
  }

  // Draw rows of a picture; its first sample replaces what is there, and each further one enters the mean.
  draw(target, rays, shown, turn, bottom, rows) {
    const { gl } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, target.frame);
    gl.viewport(0, 0, target.width, target.height);
    gl.enable(gl.SCISSOR_TEST); gl.scissor(0, bottom, target.width, rows);
    this.bind();
    // Additive recurrence: points that fill the pixel evenly, however many there are.
    const shift = turn ? [(turn * .7548776662 + .5) % 1 - .5, (turn * .569840291 + .5) % 1 - .5] : [0, 0];
    this.use("picture", { ...theme.light, ...rays, ...shown, ...TEXTURES, turn, shift });
    if (turn) {
      gl.enable(gl.BLEND); gl.blendColor(0, 0, 0, 1 / (turn + 1));
      gl.blendFunc(gl.CONSTANT_ALPHA, gl.ONE_MINUS_CONSTANT_ALPHA);
    }
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.disable(gl.BLEND); gl.disable(gl.SCISSOR_TEST);
  }

  show(target) {
    const { gl } = this, [width, height] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, width, height);
    gl.activeTexture(gl.TEXTURE0); gl.bindTexture(gl.TEXTURE_2D, target.textures[0]);
    this.use("screen", { picture: 0, size: [width, height] });
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  // What is seen at a place in pixels from the bottom left: the first cell of its cube, the cube's level, the axis of the side that is
  // seen, and the distance; null where there is nothing.
  pointed(rays, shown, place) {
    const { gl } = this, here = new Uint32Array(4), there = new Uint32Array(4);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.touched.frame);
    gl.viewport(0, 0, 1, 1);
    this.bind();
    this.use("pointed", { ...rays, ...shown, ...TEXTURES, place });
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.readBuffer(gl.COLOR_ATTACHMENT0); gl.readPixels(0, 0, 1, 1, gl.RGBA_INTEGER, gl.UNSIGNED_INT, here);
    gl.readBuffer(gl.COLOR_ATTACHMENT1); gl.readPixels(0, 0, 1, 1, gl.RGBA_INTEGER, gl.UNSIGNED_INT, there);
    if (!here[3]) return null;
    const level = Math.floor((here[3] - 1) / 3), bits = BigInt(level);
    const cell = [0, 1, 2].map(k => (BigInt(here[k]) << 30n | BigInt(there[k])) >> bits << bits);
    return { cell, level, axis: (here[3] - 1) % 3, distance: new Float32Array(there.buffer)[3] };
  }
}
