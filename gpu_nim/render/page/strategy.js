// Who wins, how, and by how long a play: what gpu_nim.games.nim.strategy and gpu_nim.games.evolution compute, for the player's browser.

const MOST_MOVES = 200_000;  // that are listed to find what plays from a position can reach, as in gpu_nim.games.rulesets

// All that plays from a position reach, as a Map from texts of positions to { isP, longest }; null if that has too many moves.
function evolved(rules, start, misere) {
  const reached = new Map([[String(start), { position: start }]]);
  let moves = 0;
  for (const here of reached.values()) {
    here.options = new Set();
    for (const { leaves } of options(rules, here.position)) {
      const name = String(leaves);
      if (here.options.has(name)) continue;
      if (++moves > MOST_MOVES) return null;
      here.options.add(name);
      if (!reached.has(name)) reached.set(name, { position: leaves });
    }
  }
  // A move lowers the total, so that what it leaves comes first.
  const order = [...reached.values()].map(here => [total(here.position), here]).sort(([one], [other]) => one < other ? -1 : one > other ? 1 : 0);
  for (const [, here] of order) {
    const after = Array.from(here.options, name => reached.get(name)), winning = after.filter(each => each.isP);
    here.isP = after.length ? !winning.length : !misere;
    here.longest = after.length ? 1 + Math.max(...(winning.length ? winning : after).map(each => each.longest)) : 0;
    here.options = null;
  }
  return reached;
}

class Strategy {
  // object: where P-positions are looked up that lie beyond MOST_MOVES; not of Nim, and null where there is none
  // exchanged: the positions that are P in one of misere and normal play, or null
  constructor(rules, object, { nim, misere, exchanged }) {
    Object.assign(this, { rules, object, nim, misere, exchanged: exchanged && new Set(exchanged.map(String)), reached: null });
  }

  study(position) {  // all plays from a position, unless they are too many, or Bouton's theorem tells all
    if ((this.nim && !this.misere) || this.known(position)) return;
    const moves = this.rules.directions.reduce((sum, _, k) => sum + this.rules.most(position, k), 0n);
    this.reached = moves > MOST_MOVES ? null : evolved(this.rules, position, this.misere);
  }

  known(position) { return this.reached?.get(String(position)) }

  solves(position) { return this.known(position) !== undefined || (this.object !== null && (this.exchanged !== null || !this.misere)) }

  isP(position) {
    const known = this.known(position);
    if (known) return known.isP;
    const normal = this.nim ? nimSum(position) === 0n : this.object.holds(position);
    return normal !== (this.misere && this.exchanged.has(String(position)));
  }

  longest(position) {  // the moves of the longest optimal play, or null
    const known = this.known(position);
    if (known) return BigInt(known.longest);
    if (!this.nim || this.misere) return null;
    if (this.isP(position)) return total(position);  // one counter a move [NF, 5.2]
    return 1n + greatest(this.winning(position).map(({ leaves }) => total(leaves)));
  }

  winning(position) {
    if (!this.nim || this.known(position)) return [...options(this.rules, position)].filter(({ leaves }) => this.isP(leaves));
    const sum = nimSum(position), found = [];
    for (const [pile, x] of position.entries()) for (const lower of new Set([x ^ sum, ...(this.misere ? [1n, 0n] : [])])) {
      if (lower >= x) continue;
      const option = this.rules.option(position, pile, x - lower);
      if (this.isP(option.leaves)) found.push(option);
    }
    return found;
  }

  best(position) {  // the move of a perfect player, along the longest optimal play where that is known; null where there is none
    const winning = this.winning(position);
    if (this.nim && !this.known(position)) return winning.length ? winning.reduce((a, b) => b.take < a.take ? b : a) : this.delaying(position);
    const candidates = winning.length ? winning : [...options(this.rules, position)];
    if (!candidates.length || !this.known(position)) return candidates[0] ?? null;
    return candidates.reduce((a, b) => this.longest(b.leaves) > this.longest(a.leaves) ? b : a);
  }

  delaying(position) {  // 1 from the largest pile that ends in as many binary zeros as another [NF, Lemma 21]
    const ends = position.map(pile => pile & -pile), paired = position.filter((pile, k) => pile && ends.indexOf(ends[k]) !== ends.lastIndexOf(ends[k]));
    const pile = greatest([0n, ...(paired.length ? paired : position)]);
    return pile ? this.rules.option(position, position.indexOf(pile), 1n) : null;
  }
}
