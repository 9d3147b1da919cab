// The page begins: its words and colours, its object, and what draws it.

const [canvas, header, footer] = ["canvas", "header", "footer"].map(name => document.querySelector(name));
const say = text => { document.getElementById("message").textContent = text };
let hinting;
const hint = text => { say(text); clearTimeout(hinting); hinting = setTimeout(() => say(""), 1500) };
const css = colour => `rgb(${colour.map(part => Math.round(part * 255)).join(" ")})`;

function bytes(text) { return Uint8Array.from(atob(text), character => character.charCodeAt(0)) }

async function inflated(text) {
  return new Response(new Blob([bytes(text)]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function unpacked(text) {  // what Python packed: two planes of bytes, low and high, of each value and 1
  const planes = new Uint8Array(await inflated(text)), count = planes.length / 2, values = new Uint16Array(count);
  for (let k = 0; k < count; k++) values[k] = (planes[k] | planes[count + k] << 8) - 1;  // 65535 where it is empty
  return values;
}

let theme;  // the one of the data's themes that the page is in

function wear(name) {
  theme = data.themes[name];
  const { style } = document.documentElement, { bottom, top, text, pick, win } = theme;
  style.colorScheme = bottom[0] + bottom[1] + bottom[2] > 1.5 ? "light" : "dark";
  style.background = `linear-gradient(${css(top)}, ${css(bottom)}) fixed`;
  for (const [part, colour] of Object.entries({ paper: bottom, sky: top, pick, win })) style.setProperty(`--${part}`, css(colour));
  document.body.style.color = css(text);
}

function entitle() {
  document.getElementById("name").textContent = data.title;
  document.getElementById("note").textContent = data.note;
  document.getElementById("digits").textContent = data.views.slice(1, 10).map((_, k) => k + 1).join(" ");
  canvas.setAttribute("aria-label", [`${data.title} in three dimensions`, data.note].filter(Boolean).join(", "));
}

function refuse(sentence) {
  say(sentence);
  document.documentElement.classList.add("still");
  footer.style.display = document.getElementById("help").style.display = "none";
}

async function objectOf() {
  if (data.sweep) Object.assign(data, data.sweep.frames[0]);
  if (data.kind === "nim") return new Nim();
  if (data.kind === "tree") return new Tree(await unpacked(data.rows), new Uint8Array(await inflated(data.tones)));
  return new Grid(await unpacked(data.grid), data.coloured ? await unpacked(data.colourIndices) : null);
}

function obstacle(gl) {  // why no picture can be drawn, or ""
  if (!gl) return `This browser has no WebGL 2, which draws the picture.${data.game ? " The game can be played without it." : ""}`;
  const most = gl.getParameter(gl.MAX_3D_TEXTURE_SIZE), wide = data.kind === "grid" ? Math.max(...data.shape) : 0;
  return wide > most ? `This graphics card holds objects up to ${most} cells wide, and this one has ${wide}.` : "";
}

async function begin() {
  if (matchMedia("(prefers-color-scheme: light)").matches) data.theme = data.light;
  wear(data.theme);
  entitle();
  if (data.kind === "bar") {  // which has no picture
    document.documentElement.classList.add("bare");
    window.gpunim = { board: new Board(null) };
    return;
  }
  const gl = canvas.getContext("webgl2", { antialias: false, depth: false }), sentence = obstacle(gl);
  if (sentence) refuse(sentence);
  if (sentence && !data.game) return;
  const object = await objectOf(), board = data.game ? new Board(object) : null;
  window.gpunim = { object, board };  // for scripts and tests
  if (sentence) return;
  const camera = new Camera(object), tracer = new Tracer(gl, object);
  const picture = new Picture(tracer, canvas, (size, ratio) => controls.scene(size, ratio));
  const controls = new Controls(object, camera, picture, tracer, board);
  canvas.addEventListener("webglcontextlost", event => event.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => { tracer.prepare(); picture.forget() });
  Object.assign(window.gpunim, { controls, camera, picture, tracer });
}

begin();
