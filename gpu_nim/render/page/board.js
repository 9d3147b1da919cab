// The panel of a page to play on, and the marks in the fractal: the position, its moves, those that win, and the moves played.

const MARKED = 256n;  // moves in one direction that are marked and can be pointed at
const NEAR = 18;  // pixels
const LISTED = 8;  // winning moves in words
const SHALLOWEST = 4;  // powers of two

const written = position => `(${position.map(spoken).join(", ")})`;

const readable = words => words.replace(/\d{4,}/g, digits => spoken(big(digits)));

function wholeOf(text) {  // a number as people write it: 12, 1_000 or 2^40; null where it is none
  const found = /^(\d{1,30})(?:\^(\d{1,3}))?$/.exec(text.replaceAll("_", ""));
  return found ? big(found[1]) ** big(found[2] ?? 1) : null;
}

class Board {
  constructor(object) {
    const names = ["turn", "position", "move", "from", "amount", "take", "make", "leaves", "undo", "hint", "why", "moves", "new", "begin", "start",
      "players", "misere", "refused", "rule", "bar", "played", "reach", "winning", "cube", "here", "chosen", "named"];
    this.at = Object.fromEntries(names.map(name => [name, document.getElementById(name)]));
    this.object = object;
    this.controls = null;  // of the picture, once it is drawn
    this.rules = data.game.lines ? new Lines(data.game) : new Inequalities(data.game);
    this.bar = data.game.bar ? new Bar(data.game.bar, this.rules.names, this.at.bar) : null;
    this.hinting = data.game.hints;
    this.keys = { u: () => this.undo(), h: () => this.swapHint(), m: () => { this.at.take.focus(); this.at.take.select() } };
    for (const [value, words] of Object.entries(PLAYERS)) this.at.players.add(new Option(words, value));
    this.at.players.value = data.game.second ? "program" : "you";
    this.at.misere.checked = data.game.misere;
    this.listen();
    if (!this.restore()) this.open(data.game.start.map(big));
  }

  listen() {
    document.querySelector("#help dl").insertAdjacentHTML("beforeend",
      "<dt>tap a mark, and again</dt><dd>choose a move, make it</dd><dt>m, u, h</dt><dd>to the move, undo, hint</dd>");
    const { at } = this, submitted = (form, act) => form.addEventListener("submit", event => { event.preventDefault(); act() });
    for (const [direction, name] of this.rules.directions.entries()) {
      const label = document.createElement("label"), input = Object.assign(document.createElement("input"), { type: "radio", name: "from", value: direction });
      input.addEventListener("change", () => this.offer(direction, this.take));
      label.append(input, `${name}: `, document.createElement("span"));
      at.from.append(label);
    }
    at.amount.addEventListener("input", () => this.offer(this.direction, 1n + (this.most - 1n) * BigInt(at.amount.value - 1) / BigInt(Math.max(at.amount.max - 1, 1))));
    at.take.addEventListener("input", () => this.offer(this.direction, wholeOf(at.take.value.trim()), true));
    submitted(at.move, () => this.make());
    submitted(at.begin, () => this.beginAsked());
    at.bar.addEventListener("click", ({ clientX, clientY }) => this.choose(this.bar.distance(clientX, clientY)));
    at.undo.addEventListener("click", () => this.undo());
    at.hint.addEventListener("click", () => this.swapHint());
  }

  // The match

  open(start) {  // begin a match; false, with a sentence, where the position is none of the game
    const { at, rules } = this, { limits, nim, exchanged } = data.game, misere = at.misere.checked;
    const strategy = new Strategy(rules, this.object, { nim, misere, exchanged });
    at.refused.textContent = !start || start.length !== rules.names.length || start.includes(null) ? `A position is ${rules.names.length} numbers, such as ${data.game.start.join(" ")}.`
      : start.some((x, k) => x > big(limits[k])) ? `The page is for positions up to ${written(limits.map(big))}.`
      : !rules.permits(start) ? `That is no position of the game. ${data.game.rule}` : "";
    if (!at.refused.textContent) {
      strategy.study(start);
      if (!strategy.solves(start)) at.refused.textContent = `${misere ? "Misere play" : "The game"} is known from positions with at most ${spoken(MOST_MOVES)} moves below them.`;
    }
    if (at.refused.textContent) { at.new.open = true; return false }
    this.match = new Match(rules, strategy, at.players.value, start);
    at.start.value = start.join(" ");
    at.rule.textContent = `${data.game.rule} Whoever makes the last move ${misere ? `loses${this.object ? "; the picture shows the P-positions of normal play" : ""}` : "wins"}.`;
    this.show();
    return true;
  }

  beginAsked() { if (this.open(this.at.start.value.trim().split(/[\s,;]+/).map(wholeOf))) this.at.new.open = false }

  restore() {  // from the address; false where it tells no position
    const given = new URLSearchParams(location.hash.slice(1)), text = given.get("position");
    if (!HAS_ADDRESS || !text) return false;
    if (this.match && text === this.match.position.join()) return true;
    this.at.misere.checked = given.has("misere");
    return this.open(text.split(",").map(wholeOf));
  }

  fragment() { return `&position=${this.match.position.join()}${this.at.misere.checked ? "&misere" : ""}` }

  make(option = this.option) {
    if (!option || !this.waits) return;
    this.match.make(option);
    this.show();
  }

  undo() { if (this.match.undo()) this.show() }

  swapHint() { this.hinting = !this.hinting; this.tell() }

  get waits() { return !this.match.over && this.match.isPerson(this.match.turn) }  // for a person's move

  show() {  // the position, after it has changed
    const { match, at } = this, { position, strategy } = match;
    clearTimeout(this.replying);
    strategy.study(position);
    this.winning = strategy.winning(position);
    this.marked = this.rules.directions.map((_, direction) => this.some(direction));
    this.follow();
    this.controls?.linkSoon();
    at.position.textContent = written(position);
    at.turn.textContent = this.status();
    at.moves.replaceChildren(...match.moves.map(({ by, move, leaves }) => {
      return Object.assign(document.createElement("li"), { textContent: `${match.name(by)}: ${readable(move)}, leaving ${written(leaves)}` });
    }));
    at.undo.disabled = !match.moves.some(({ by }) => match.isPerson(by));
    for (const [direction, label] of at.from.querySelectorAll("label").entries()) {
      const most = this.rules.most(position, direction);
      label.lastChild.textContent = spoken(most);
      label.firstChild.disabled = !this.waits || !most;
    }
    at.amount.disabled = at.take.disabled = !this.waits;
    const direction = this.rules.most(position, this.direction ?? 0) ? this.direction ?? 0 : this.marked.findIndex(some => some.length);
    this.offer(Math.max(direction, 0), 1n);
    this.tell();
    if (!match.over && !this.waits) this.replying = setTimeout(() => this.reply(), this.controls?.calm.matches ? 0 : 700);
  }

  reply() { this.match.make(this.match.strategy.best(this.match.position)); this.show() }

  status() {
    const { match } = this, last = match.moves.at(-1), played = last ? `${match.name(last.by)}: ${readable(last.move)}. ` : "";
    if (!match.over) return played + (match.players === "both" ? `${match.name(match.turn)} is to move.` : this.waits ? "Your move." : "The program is to move.");
    const winner = match.name(match.winner());
    return `${played}${last ? `There is no move left: ${winner.toLowerCase()} ${winner === "You" ? "win" : "wins"}.` : "There is no move."}`;
  }

  // The move that is offered

  get most() { return this.rules.most(this.match.position, this.direction) }

  offer(direction, take, typed = false) {
    const { at } = this, { position } = this.match;
    this.direction = direction;
    const { most } = this, steps = Number(most < MARKED ? most : MARKED);
    this.take = take === null || typed ? take : clamp(take, 1n, most || 1n);
    this.option = this.take !== null && this.take >= 1n && this.take <= most ? this.rules.option(position, direction, this.take) : null;
    at.from.querySelectorAll("input")[direction].checked = true;
    at.amount.max = Math.max(steps, 1);
    if (this.option) at.amount.value = most > 1n ? 1 + Number((this.take - 1n) * BigInt(steps - 1) / (most - 1n)) : 1;
    at.amount.setAttribute("aria-valuetext", at.amount.value && this.option ? `${spoken(this.take)} of ${spoken(most)}` : "");
    if (!typed) at.take.value = most ? String(this.take) : "";
    at.leaves.textContent = this.match.over ? "" : this.option ? `${readable(this.option.move)}, leaving ${written(this.option.leaves)}` : `not a move: 1 to ${spoken(most)} can be taken`;
    at.make.disabled = !this.option || !this.waits;
    this.mark();
  }

  some(direction) {  // moves in a direction: all, or some that lie evenly
    const { position } = this.match, most = this.rules.most(position, direction), count = most < MARKED ? most : MARKED, found = [];
    for (let k = 0n; k < count; k++) {
      const option = this.rules.option(position, direction, count > 1n ? 1n + (most - 1n) * k / (count - 1n) : 1n);
      if (option) found.push(option);
    }
    return found;
  }

  get shown() { return [...this.marked.flat(), ...(this.hinting ? this.winning : [])] }

  choose(distance) {  // the move whose mark is nearest; chosen again it is made. False where none is near
    if (!this.waits) return false;
    let [nearest, found] = [NEAR, null];
    for (const option of this.shown) {
      const far = distance(option);
      if (far < nearest) [nearest, found] = [far, option];
    }
    if (!found) return false;
    if (found.direction === this.direction && found.take === this.take) this.make(found);
    else this.offer(found.direction, found.take);
    return true;
  }

  // What a hint tells

  tell() {
    const { at, match, winning } = this, { position, strategy } = match, parts = [];
    at.hint.setAttribute("aria-pressed", this.hinting);
    this.mark();
    const say = text => parts.push(Object.assign(document.createElement("p"), { textContent: text }));
    const propose = option => {
      const button = Object.assign(document.createElement("button"), { textContent: readable(option.move) });
      button.addEventListener("click", () => this.offer(option.direction, option.take));
      parts.push(button);
    };
    if (this.hinting && !match.over) {
      const count = winning.length, longest = strategy.longest(position);
      say(count ? `An N-position: the player to move wins, by ${count === 1 ? "1 move" : `${spoken(count)} moves`}:` : "A P-position: no move wins against perfect play. The longest play goes on with");
      for (const option of count ? winning.slice(0, LISTED) : [strategy.best(position)]) propose(option);
      if (count > LISTED) say(`and ${spoken(count - LISTED)} more.`);
      if (longest !== null) say(`The longest optimal play has ${longest === 1n ? "1 move" : `${spoken(longest)} moves`}.`);
      say(this.reason());
    }
    at.why.replaceChildren(...parts);
  }

  reason() {
    if (!this.object) return "All plays from here were tried.";
    const { position, strategy } = this.match, { nim, theorem } = data.game, known = nim ? `The nim-sum is ${spoken(nimSum(position))}. ` : "";
    if (strategy.misere) {
      return nim ? `${known}In misere play the P-positions are those of nim-sum 0 with a pile above 1, and an odd number of piles of 1.`
        : strategy.known(position) ? "All plays from here were tried."
        : `The P-positions are those of normal play, but exchanged are ${data.game.exchanged.map(written).join(", ")}.`;
    }
    return known + (theorem ? `${theorem.source}: ${theorem.summary}.` : `No theorem is known: the game was solved up to ${written(data.game.limits.map(big))}.`);
  }

  // The marks

  follow() {  // Nim's picture is as deep as the piles are
    if (!data.game.nim) return;
    const from = bitLength(this.object.last), bits = Math.max(SHALLOWEST, bitLength(greatest(this.match.position)));
    if (bits === from) return;
    this.object.deepen(bits);
    this.controls?.rescale(bits - from);
  }

  spot(position) {  // the middle of its cell, in pixels
    const middle = this.object.place(position).map(x => (x << BITS) + (1n << BITS) / 2n);
    return this.controls.camera.project(middle, this.controls.room());
  }

  mark() {
    const { match: { position, over }, bar, hinting, option } = this;
    bar?.show(position, this.shown, hinting && !over ? this.winning : [], option);
    this.draw();
  }

  distance(x, y) {  // of the marks of moves from a place of the page
    return ({ leaves }) => { const [u, v] = this.spot(leaves); return Math.hypot(u - x, v - y) };
  }

  draw() {
    if (!this.controls) return;
    const { at, match: { position, positions, over } } = this, put = (name, path) => at[name].setAttribute("d", path);
    const spots = these => these.map(each => this.spot(each).map(x => x.toFixed(1)).join(" ")), here = this.spot(position);
    const circle = (name, [x, y]) => { at[name].setAttribute("cx", x); at[name].setAttribute("cy", y) };
    put("played", `M${spots(positions).join("L")}`);
    put("reach", this.marked.map(some => `M${spots([position, ...some.map(({ leaves }) => leaves)]).join("L")}`).join(""));
    put("winning", this.hinting && !over ? spots(this.winning.map(({ leaves }) => leaves)).map(spot => `M${spot}h0`).join("") : "");
    put("cube", this.controls.sides(this.object.place(position), 1n));
    circle("here", here);
    at.chosen.style.display = this.option ? "" : "none";
    if (this.option) circle("chosen", this.spot(this.option.leaves));
    at.named.textContent = written(position);
    const { width } = this.controls.room(), left = here[0] > width / 2, free = left ? here[0] : width - here[0];
    at.named.setAttribute("text-anchor", left ? "end" : "start");
    at.named.setAttribute("x", here[0] + (left ? -12 : 12)); at.named.setAttribute("y", here[1] - 10);
    if (at.named.getComputedTextLength() > free - 20) at.named.textContent = "";
  }
}
