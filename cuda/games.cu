// Inequality games: outcomes and Grundy values, one launch for each total of the coordinates.
//
// Order.  Every move lowers the total, by one at the least.  So the positions of one total are independent of each other, and all
// that a position depends on was written by earlier launches.  Within a launch no word is written by one thread and read by
// another; the only exceptions are the roofs below, which go through atomics and mean the same whichever comes first.
//
// A move lowers one coordinate and drags the others down to the greatest position that is left.  Two families:
//
// wedge_*: (x, y, z) with 0 <= y <= top[x][z], where top decreases along neither axis: the chocolates and bars of three or two
// coordinates.  Lowering x to u drags y to top[u][z] where y is larger, and likewise z; lowering y drags nothing.
//
// inequality_*: any inequalities denominator * x[target] <= numerators . x + constant over any number of coordinates; a position
// is known by its index in the box, row-major.  A thread takes a choice of all coordinates but the longest, `deep`, which the
// total then gives: a sweep looks at each cell of the box about as often as there are coordinates, and sorts nothing.
#include "common.cuh"

namespace {

constexpr u32 NEVER = 0xffffffffu;

// The bits of word `word` whose z in 0..nz-1 leaves x = s - z in 0..nx-1.
__device__ __forceinline__ u64 columns_inside(u32 s, u32 nx, u32 nz, u32 word) {
    const u32 start = 64 * word;
    const u32 from = max(s >= nx ? s - nx + 1 : 0u, start);
    const u32 to = min(min(s, nz - 1), start + 63);
    return from > to ? 0ull : ~0ull << (from - start) & ~0ull >> (start + 63 - to);
}

// What another thread of this launch may be changing.
__device__ __forceinline__ u32 read_shared(u32* address) { return atomicOr(address, 0u); }

}  // namespace

// The P-positions of total `total`: appended to `keys` as their indices in the box, in any order; `found` counts them.
//
// Bits.  Fix y.  The positions of a total have one s = x + z = total - y, and a word holds 64 of them, one for each z.
// - columns[s]: bit z, whether (x, y, z) is a position: y <= top[x][z].
// - y_lines[s]: bit z, whether (x, y', z) is P for some y' < y.
// - x_lines[y]: bit z, whether lowering x of (x, y, z) leads to a P-position.
// - z_lines[y]: bit z, whether lowering z does.  The bit of the line of x stood at z - 1 one total ago: rows are shifted by one bit
//   on the way from one buffer to the other, and a thread reads no word that another writes.
// p = columns & ~(x_lines | y_lines | z_lines), and then joins all three.
//
// Dragging.  Lowering x from (x, y, z) drags y just where it leads to a column (u, z) that ends below y, and then to its top.  The
// positions of a line share these options: the columns u < x0, for a line that begins at x0.  Let roof_z[z] be the lowest top of a
// column (u, z) that is P.  The line begins with its bit set where roof_z[z] < y: tops below y are those of the columns u < x0, whose
// totals are below x0 + y + z, so all of them are known.  Likewise roof_x[x] for the lines along z.  A roof that another thread
// lowers in this launch is the top of a column of this total, which is not below y for any y that asks: it may be seen or not.
//
// A line begins at a column (x, z) with top[x-1][z] < y <= top[x][z], or at x = 0.  So as y rises, a column wants a look from
// y = top[x-1][z] + 1 or top[x][z-1] + 1 on, to its end; changes[s] is the least y at which one of the word's columns does.
//
// Bytes: 44 read and 8 written for 64 positions, and in each line's first column 12 or so.
extern "C" __global__ void __launch_bounds__(128, 8)
wedge_outcomes(const u32* __restrict__ top, u32 nx, u32 ny, u32 nz, u32 words, u32 total, u32 first_row, u32 rows,
               u64* __restrict__ columns, u32* __restrict__ changes, u64* __restrict__ y_lines, u64* __restrict__ x_lines,
               const u64* __restrict__ z_lines, u64* __restrict__ z_lines_next, u32* __restrict__ roof_x,
               u32* __restrict__ roof_z, u64* __restrict__ keys, u64* __restrict__ found) {
    const u64 thread = global_thread();
    if (thread >= static_cast<u64>(rows) * words) return;
    const u32 word = static_cast<u32>(thread % words);
    const u32 y = first_row + static_cast<u32>(thread / words), s = total - y;
    const u64 place = static_cast<u64>(s) * words + word, line = static_cast<u64>(y) * words + word;

    u64 z_seen = z_lines[line] << 1 | (word > 0 ? z_lines[line - 1] >> 63 : 0ull);
    u64 inside = y == 0 ? columns_inside(s, nx, nz, word) : columns[place];
    if (inside != 0) {
        const u64 x_seen = x_lines[line], y_seen = y == 0 ? 0ull : y_lines[place];
        u64 x_begun = 0;
        if (y == 0 || y >= changes[place]) {
            u32 next = NEVER;
            for (u64 bits = inside; bits != 0; bits &= bits - 1) {
                const u64 bit = bits & (0ull - bits);
                const u32 z = 64 * word + static_cast<u32>(__ffsll(static_cast<i64>(bits))) - 1, x = s - z;
                const u64 column = static_cast<u64>(x) * nz + z;
                const u32 end = top[column];
                if (end < y) {
                    inside ^= bit;
                    continue;
                }
                const u32 x_below = x > 0 ? top[column - nz] : NEVER, z_below = z > 0 ? top[column - 1] : NEVER;
                if (x_below < y && read_shared(&roof_z[z]) < y) x_begun |= bit;
                if (z_below < y && read_shared(&roof_x[x]) < y) z_seen |= bit;
                next = min(next, max(min(end, min(x_below, z_below)), y));
            }
            columns[place] = inside;
            changes[place] = next + 1;
        }
        const u64 p = inside & ~(x_seen | x_begun | y_seen | z_seen);
        if ((p | x_begun) != 0) x_lines[line] = x_seen | x_begun | p;
        if (p != 0 || y == 0) y_lines[place] = y_seen | p;
        if (p != 0) {
            z_seen |= p;
            u64 slot = atomicAdd(found, static_cast<u64>(__popcll(p)));
            for (u64 bits = p; bits != 0; bits &= bits - 1) {
                const u32 z = 64 * word + static_cast<u32>(__ffsll(static_cast<i64>(bits))) - 1, x = s - z;
                keys[slot++] = (static_cast<u64>(x) * ny + y) * nz + z;
                if (top[static_cast<u64>(x) * nz + z] == y) {
                    atomicMin(&roof_x[x], y);
                    atomicMin(&roof_z[z], y);
                }
            }
        }
    } else if (y == 0) {
        columns[place] = 0;
    }
    z_lines_next[line] = z_seen;
}

// The Grundy values of the positions of total `total`, into values[x][y][z].
//
// Each line keeps the set of values seen on it so far as a bit mask, in 64-bit words, word-major, so that the lanes of a warp,
// neighbours in z, read neighbouring words: x_seen[word][y][z], y_seen[word][(x + z) % nx][z], z_seen[word][y][x].  (For fixed x + z
// the second takes every column (x, z) to its own place.)  A value is the first that is in none of the three sets, and then goes
// into all three: a line has one position of each total, so nobody else touches its words.  A line along x that begins above the
// top of a column (u, z), at x = u + 1, has the options of that top and the top itself as its first: the top's thread hands its
// set on to the lines that begin there, which no thread has used yet.  Likewise along z.
//
// Bound.  A position has x + y + z options, some of them equal, and the least value missing among n is at most n: a value is at
// most the total, so word total / 64 of the three sets together has a free bit.
//
// Bytes, per position: 24 for each 64 values below its own, 24 written, and the value's own two; once for each line that begins
// above a top, its words copied.
extern "C" __global__ void __launch_bounds__(128, 8)
wedge_grundy(const u32* __restrict__ top, u32 nx, u32 ny, u32 nz, u32 total, u32 first_row, u32 rows, u64* __restrict__ x_seen,
             u64* __restrict__ y_seen, u64* __restrict__ z_seen, u16* __restrict__ values) {
    const u64 thread = global_thread();
    if (thread >= static_cast<u64>(rows) * nz) return;
    const u32 z = static_cast<u32>(thread % nz), y = first_row + static_cast<u32>(thread / nz), s = total - y;
    if (z > s || s - z >= nx) return;
    const u32 x = s - z;
    const u64 column = static_cast<u64>(x) * nz + z;
    const u32 end = top[column];
    if (y > end) return;

    const u64 x_lines = static_cast<u64>(ny) * nz, y_lines = static_cast<u64>(nx) * nz, z_lines = static_cast<u64>(ny) * nx;
    const u64 x_line = static_cast<u64>(y) * nz + z, z_line = static_cast<u64>(y) * nx + x;
    const u64 y_line = static_cast<u64>(s % nx) * nz + z;
    u64 in_x, in_y, in_z;
    u32 word = 0;
    for (;; ++word) {
        in_x = x_seen[word * x_lines + x_line];
        in_y = y_seen[word * y_lines + y_line];
        in_z = z_seen[word * z_lines + z_line];
        if (~(in_x | in_y | in_z) != 0) break;
    }
    const u64 free = ~(in_x | in_y | in_z), bit = free & (0ull - free);
    x_seen[word * x_lines + x_line] = in_x | bit;
    y_seen[word * y_lines + y_line] = in_y | bit;
    z_seen[word * z_lines + z_line] = in_z | bit;
    values[(static_cast<u64>(x) * ny + y) * nz + z] =
        static_cast<u16>(64 * word + static_cast<u32>(__ffsll(static_cast<i64>(free))) - 1);
    if (y != end) return;

    const u32 x_end = x + 1 < nx ? top[column + nz] : end, z_end = z + 1 < nz ? top[column + 1] : end;
    const u32 last_word = total / 64;
    for (u32 line = end + 1; line <= x_end; ++line)
        for (u32 w = 0; w <= last_word; ++w)
            x_seen[w * x_lines + static_cast<u64>(line) * nz + z] = x_seen[w * x_lines + x_line];
    for (u32 line = end + 1; line <= z_end; ++line)
        for (u32 w = 0; w <= last_word; ++w)
            z_seen[w * z_lines + static_cast<u64>(line) * nx + x] = z_seen[w * z_lines + z_line];
}

namespace {

// A thread's vector: a column of shared memory, one row a coordinate, since registers cannot be indexed.
struct Vector {
    u32* first;

    __device__ __forceinline__ u32& operator[](u32 coordinate) const { return first[coordinate * blockDim.x]; }
};

// An inequality game in a box: its inequalities, as gpu_nim.model.linear_bounds.LinearBounds, and the box's sides.
struct Game {
    const u32* targets;
    const i64* numerators;
    const i64* constants;
    const i64* denominators;
    u32 inequalities;
    const u32* sides;
    u32 k, deep;

    // The largest value that inequality r allows its target.  No sum passes 2^62: the caller has seen to that.
    __device__ __forceinline__ i64 bound(u32 r, Vector v) const {
        i64 sum = constants[r];
        for (u32 j = 0; j < k; ++j) {
            const i64 numerator = numerators[r * k + j];
            if (numerator != 0) sum += numerator * v[j];
        }
        const i64 denominator = denominators[r];
        if (denominator == 1) return sum;
        const i64 quotient = sum / denominator;
        return quotient - (sum % denominator < 0);
    }

    __device__ __forceinline__ bool allows(Vector v) const {
        for (u32 r = 0; r < inequalities; ++r)
            if (v[targets[r]] > bound(r, v)) return false;
        return true;
    }

    // Lower v to the greatest position below it; false where there is none.  Each bound keeps all positions below v below v.
    __device__ __forceinline__ bool lower(Vector v) const {
        for (bool changed = true; changed;) {
            changed = false;
            for (u32 r = 0; r < inequalities; ++r) {
                const i64 most = bound(r, v);
                u32& value = v[targets[r]];
                if (most >= value) continue;
                if (most < 0) return false;
                value = static_cast<u32>(most);
                changed = true;
            }
        }
        return true;
    }

    __device__ __forceinline__ u64 index(Vector v) const {
        u64 result = 0;
        for (u32 j = 0; j < k; ++j) result = result * sides[j] + v[j];
        return result;
    }

    // The vector of this total with the coordinates that `choice` numbers; false where it is no position.
    __device__ __forceinline__ bool choose(u64 choice, u32 total, Vector v) const {
        u64 rest = total;
        for (u32 j = k; j-- > 0;) {
            if (j == deep) continue;
            const u32 value = static_cast<u32>(choice % sides[j]);
            choice /= sides[j];
            v[j] = value;
            if (value > rest) return false;
            rest -= value;
        }
        if (rest >= sides[deep]) return false;
        v[deep] = static_cast<u32>(rest);
        return allows(v);
    }
};

// Bit i of a position's flags: one of the options of coordinate i is P.  Lowering i by one leads to u, the greatest position below;
// lowering it further leads where u's own moves of i lead.  So the bit is "u is P, or u's bit i is set", and a position without
// a bit is P.  Flags of cells that are no positions are neither written nor read.
template <class Flags>
__device__ __forceinline__ void outcomes(const Game& game, u64 choices, u32 total, Flags* __restrict__ flags,
                                         u64* __restrict__ keys, u64* __restrict__ found) {
    DYNAMIC_SHARED(u32, columns);
    const Vector position{columns + threadIdx.x}, option{columns + game.k * blockDim.x + threadIdx.x};
    const u64 choice = global_thread();
    if (choice >= choices || !game.choose(choice, total, position)) return;
    u32 mine = 0;
    for (u32 i = 0; i < game.k; ++i) {
        if (position[i] == 0) continue;
        for (u32 j = 0; j < game.k; ++j) option[j] = position[j];
        option[i] -= 1;
        if (!game.lower(option)) continue;
        const u32 theirs = flags[game.index(option)];
        if (theirs == 0 || (theirs >> i & 1u) != 0) mine |= 1u << i;
    }
    const u64 index = game.index(position);
    flags[index] = static_cast<Flags>(mine);
    if (mine == 0) keys[atomicAdd(found, 1ull)] = index;
}

}  // namespace

// The P-positions of total `total`: appended to `keys` as their indices in the box, in any order; `found` counts them.  flags: one
// for each cell of the box, a bit for each coordinate, up to 8 of them, or 32 in the wide kernel.  Shared memory: two vectors a
// thread.  Bytes, per position: one flag read for each coordinate and one written.
extern "C" __global__ void __launch_bounds__(128, 8)
inequality_outcomes(const u32* __restrict__ targets, const i64* __restrict__ numerators, const i64* __restrict__ constants,
                    const i64* __restrict__ denominators, u32 inequalities, const u32* __restrict__ sides, u32 k, u32 deep,
                    u64 choices, u32 total, u8* __restrict__ flags, u64* __restrict__ keys, u64* __restrict__ found) {
    outcomes(Game{targets, numerators, constants, denominators, inequalities, sides, k, deep}, choices, total, flags, keys, found);
}

extern "C" __global__ void __launch_bounds__(128, 8)
inequality_outcomes_wide(const u32* __restrict__ targets, const i64* __restrict__ numerators, const i64* __restrict__ constants,
                         const i64* __restrict__ denominators, u32 inequalities, const u32* __restrict__ sides, u32 k, u32 deep,
                         u64 choices, u32 total, u32* __restrict__ flags, u64* __restrict__ keys, u64* __restrict__ found) {
    outcomes(Game{targets, numerators, constants, denominators, inequalities, sides, k, deep}, choices, total, flags, keys, found);
}

// The Grundy values of the positions of total `total`, into `values`, one for each cell of the box, whose other cells keep
// NO_POSITION.
//
// A warp looks for positions among 32 choices, a lane each, and then solves those found one after the other, all lanes together:
// option m of the total's many, counted through the coordinates, is a lane's, and the values of the options are marked in a bit
// mask of the warp's.  Options are computed, not remembered, so the only memory is the values'.  Shared memory: two vectors a
// thread and a mask of `seen_words` words a warp, for the largest total of the box.
//
// Bound.  Lowering leads to a smaller total, and a value is at most its position's total, the number of its moves: the values
// marked for total n are below n, so bits 0 to n of the mask are all that is needed, and one of them is free.
//
// Bytes, per position: two for each of its moves and two written.
extern "C" __global__ void __launch_bounds__(64, 16)
inequality_grundy(const u32* __restrict__ targets, const i64* __restrict__ numerators, const i64* __restrict__ constants,
                  const i64* __restrict__ denominators, u32 inequalities, const u32* __restrict__ sides, u32 k, u32 deep,
                  u64 choices, u32 total, u32 seen_words, u16* __restrict__ values) {
    DYNAMIC_SHARED(u32, columns);
    const Game game{targets, numerators, constants, denominators, inequalities, sides, k, deep};
    const u32 lane = threadIdx.x & 31u, warp = threadIdx.x >> 5;
    const Vector mine{columns + threadIdx.x}, option{columns + k * blockDim.x + threadIdx.x};
    u32* const seen = columns + 2 * k * blockDim.x + warp * seen_words;
    const u64 choice = global_thread();
    const bool is_position = choice < choices && game.choose(choice, total, mine);
    for (u32 left = __ballot_sync(FULL_WARP, is_position); left != 0; left &= left - 1) {
        const u32 owner = static_cast<u32>(__ffs(static_cast<i32>(left))) - 1;
        const Vector position{columns + 32 * warp + owner};
        for (u32 word = lane; word <= total / 32; word += 32) seen[word] = 0;
        __syncwarp();                                  // the mask is clear, the owner's vector written
        for (u32 move = lane; move < total; move += 32) {
            u32 lowered = 0, value = move;
            for (; value >= position[lowered]; ++lowered) value -= position[lowered];
            for (u32 j = 0; j < k; ++j) option[j] = position[j];
            option[lowered] = value;
            if (!game.lower(option)) continue;
            const u32 theirs = values[game.index(option)];
            atomicOr(&seen[theirs / 32], 1u << theirs % 32);
        }
        __syncwarp();
        u32 word = lane, taken, missing;
        do {
            taken = word <= total / 32 ? seen[word] : NEVER;
            missing = __ballot_sync(FULL_WARP, taken != NEVER);
            word += 32;
        } while (missing == 0);
        const u32 first = static_cast<u32>(__ffs(static_cast<i32>(missing))) - 1;
        if (lane == first) {
            const u32 value = 32 * (word - 32) + static_cast<u32>(__ffs(static_cast<i32>(~taken))) - 1;
            values[game.index(position)] = static_cast<u16>(value);
        }
        __syncwarp();                                  // the mask is read: it may be cleared
    }
}
