// Links to a view: the fragment of the page's address says where the camera is, which generation is shown, the theme and the cut.

const HAS_ADDRESS = location.protocol !== "about:";  // a page within a notebook has none
const LINKED = ["generation", "focus", "reach", "toward", "up", "pole", "lens"];

function fragmentOf(state, generation, theme, cut) {
  const numbers = (v, digits = 6) => v.map(x => +x.toFixed(digits)).join();
  return "#" + [
    `generation=${generation}`, `focus=${state.focus.join()}`, `reach=${+state.reach.toPrecision(8)}`, `toward=${numbers(state.basis[2])}`,
    `up=${numbers(state.basis[1])}`, `pole=${numbers(state.pole)}`, `lens=${+state.lens.toPrecision(6)}`,
    ...theme === data.theme ? [] : [`theme=${theme}`], ...cut ? [`cut=${[cut.axis, cut.at, Number(cut.below)].join()}`] : [],
  ].join("&");
}

function stateOf(fragment, object) {  // null where it is no such fragment
  const given = Object.fromEntries(new URLSearchParams(fragment.slice(1)));
  if (!LINKED.every(name => name in given)) return null;
  const vector = name => given[name].split(",").map(Number), right = v => v.length === 3 && v.every(Number.isFinite);
  const [toward, up, pole] = ["toward", "up", "pole"].map(vector), [reach, lens] = [+given.reach, +given.lens];
  const whole = given.focus.split(",");
  if (!/^\d{1,40}$/.test(given.generation) || !(whole.length === 3 && whole.every(x => /^-?\d{1,40}$/.test(x)))) return null;
  if (![toward, up, pole].every(right) || !(reach > 0 && reach < 1e30 && lens >= 0 && lens < 10)) return null;
  const side = cross(up, toward);
  if (length(side) < 1e-6 || length(pole) < 1e-6) return null;
  const [z, x] = [unit(toward), unit(side)];
  const generation = clamp(BigInt(given.generation), object.first, object.last);
  const named = Object.hasOwn(data.themes, given.theme) ? given.theme : data.theme;
  return { value: given.value, theme: named, cut: cutOf(given.cut, object), generation, basis: [x, cross(z, x), z], pole: unit(pole), focus: whole.map(BigInt), reach, lens };
}

function cutOf(text, object) {  // null where it is none of the object
  const found = /^([012]),(\d{1,40}),([01])$/.exec(text), [axis, at] = found ? [+found[1], BigInt(found[2])] : [];
  return found && object.extent[axis] > 1n && at <= object.extent[axis] ? { axis, at, below: found[3] === "1" } : null;
}
