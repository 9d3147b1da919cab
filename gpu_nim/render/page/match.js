// A match: the positions so far, who moves, and who has won. It knows nothing of the page.

const PLAYERS = { you: "you begin", program: "the program begins", both: "two people" };

class Match {
  constructor(rules, strategy, players, start) {
    Object.assign(this, { rules, strategy, players, positions: [start], moves: [] });
  }

  get position() { return this.positions.at(-1) }
  get over() { return isOver(this.rules, this.position) }
  get turn() { return this.moves.length % 2 }  // 0 for who began

  isPerson(turn) { return this.players === "both" || (turn === 0) === (this.players === "you") }

  name(turn) { return this.players === "both" ? `Player ${turn + 1}` : this.isPerson(turn) ? "You" : "The program" }

  make(option) { this.moves.push({ ...option, by: this.turn }); this.positions.push(option.leaves) }

  undo() {  // to the last time that a person was to move; false if there was none
    let count = this.moves.length - 1;
    while (count >= 0 && !this.isPerson(count % 2)) count--;
    if (count < 0) return false;
    this.moves.length = count;
    this.positions.length = count + 1;
    return true;
  }

  winner() { return this.strategy.misere ? this.turn : 1 - this.turn }  // once it is over
}
