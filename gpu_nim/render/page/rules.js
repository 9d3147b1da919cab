// The moves of a game. A position is an array of BigInts; a direction is what the player chooses first, such as a pile, and a move takes
// a number off there. Words and order are those of gpu_nim.games.rulesets.

const least = numbers => numbers.reduce((a, b) => b < a ? b : a);
const greatest = numbers => numbers.reduce((a, b) => b > a ? b : a);
const total = position => position.reduce((sum, x) => sum + x, 0n);
const divided = (x, by) => x / by - (x % by < 0n ? 1n : 0n);  // rounded down
const equal = (one, other) => one.every((x, k) => x === other[k]);

class Lines {  // the same number from every pile of one of some sets of piles
  constructor({ names, lines, nim }) {
    Object.assign(this, { names, lines, descending: nim });
    this.directions = lines.map(line => names.filter((_, k) => line[k]).join(" and "));
  }

  permits(position) { return position.length === this.names.length }

  most(position, direction) { return least(position.filter((_, k) => this.lines[direction][k])) }

  option(position, direction, take) {
    const line = this.lines[direction];
    return { direction, take, move: `${take} from ${this.directions[direction]}`, leaves: position.map((x, k) => line[k] ? x - take : x) };
  }
}

class Inequalities {  // one coordinate is lowered, and the others drop where they must
  constructor({ names, inequalities }) {
    Object.assign(this, { names, directions: names, descending: true });
    this.inequalities = inequalities.map(([target, factors, constant, divisor]) => [target, factors.map(big), big(constant), big(divisor)]);
  }

  permits(position) { return position.length === this.names.length && this.inequalities.every(each => position[each[0]] <= this.bound(each, position)) }

  bound([, factors, constant, divisor], vector) { return divided(vector.reduce((sum, x, k) => sum + factors[k] * x, constant), divisor) }

  most(position, direction) { return position[direction] }

  option(position, direction, take) {  // null where no position is that low
    const leaves = [...position], lower = position[direction] - take, drops = [];
    leaves[direction] = lower;
    for (let lowered = true; lowered;) {
      lowered = false;
      for (const each of this.inequalities) {
        const bound = this.bound(each, leaves);
        if (bound < leaves[each[0]]) { leaves[each[0]] = bound; lowered = true }
      }
      if (leaves.some(x => x < 0n)) return null;
    }
    if (leaves[direction] < lower) drops.push(`itself drops to ${leaves[direction]}`);
    leaves.forEach((x, k) => { if (x < position[k] && k !== direction) drops.push(`${this.names[k]} drops to ${x}`) });
    return { direction, take, move: [`${this.names[direction]} to ${lower}`, ...drops].join(", and "), leaves };
  }
}

function* options(rules, position) {  // every move, in order
  for (const direction of rules.directions.keys()) {
    const most = rules.most(position, direction);
    for (let k = 1n; k <= most; k++) {
      const option = rules.option(position, direction, rules.descending ? most + 1n - k : k);
      if (option) yield option;
    }
  }
}

const isOver = (rules, position) => options(rules, position).next().done;
