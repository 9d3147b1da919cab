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
// inequality_*: any inequalities denominator * x[target] <= numerators . x + constant over any number of coordinates, and floors of
// such sums; a position is known by its index in the box, row-major.  A thread takes a choice of all coordinates but the longest,
// `deep`, which the total then gives: a sweep looks at each cell of the box about as often as there are coordinates, and sorts
// nothing.
#include "common.cuh"

namespace {

constexpr u32 NEVER = 0xffffffffu;
constexpr u16 NO_POSITION = 0xffffu;                   // what the 16 bits of a Grundy value hold where no position is

// Threads a block of wedge_outcomes.  Words that are due come in whole rows, all warps of a block share those of its rows, and a
// launch is over when the last block is: so a block has many warps.
constexpr u32 WORDS = 256;

// The bits of word `word` whose z in 0..nz-1 leaves x = s - z in 0..nx-1.
__device__ __forceinline__ u64 columns_inside(u32 s, u32 nx, u32 nz, u32 word) {
    const u32 start = 64 * word;
    const u32 from = max(s >= nx ? s - nx + 1 : 0u, start);
    const u32 to = min(min(s, nz - 1), start + 63);
    return from > to ? 0ull : ~0ull << (from - start) & ~0ull >> (start + 63 - to);
}

// What another thread of this launch may be changing.
__device__ __forceinline__ u32 read_shared(u32* address) { return atomicOr(address, 0u); }

// The least `value` of the 32 lanes, in every lane.  (The instruction for it came with sm_80.)
__device__ __forceinline__ u32 warp_min(u32 value) {
    for (int distance = 16; distance > 0; distance >>= 1) value = min(value, __shfl_xor_sync(FULL_WARP, value, distance));
    return value;
}

// Call work(t) for each thread t of the block that asks for it, once, by a whole warp: the warps take them in turn.  What threads
// wrote to shared memory before is there for the warps.
template <class Work>
__device__ __forceinline__ void deal_out(bool asks, const Work& work) {
    __shared__ u32 asking[WORDS], number;
    if (threadIdx.x == 0) number = 0;
    __syncthreads();
    if (asks) asking[atomicAdd(&number, 1u)] = threadIdx.x;
    __syncthreads();
    for (u32 i = threadIdx.x >> 5; i < number; i += blockDim.x >> 5) work(asking[i]);
}

// The last `base` digit of `number`, which loses it.  Numbers of 32 bits, nearly all, take a fifth of a 64-bit division.
__device__ __forceinline__ u32 last_digit(u64& number, u32 base) {
    if (number >> 32 != 0) {
        const u32 digit = static_cast<u32>(number % base);
        number /= base;
        return digit;
    }
    const u32 narrow = static_cast<u32>(number), quotient = narrow / base;
    number = quotient;
    return narrow - quotient * base;
}

// a / b rounded down, b > 0.
__device__ __forceinline__ i64 floor_divide(i64 a, i64 b) {
    if (static_cast<u64>(a | b) >> 32 == 0) return static_cast<u32>(a) / static_cast<u32>(b);
    const i64 quotient = a / b;
    return quotient - (a % b < 0);
}

}  // namespace

// Layout of both wedge kernels.  Neighbouring threads have neighbouring z and one s = x + z, so whatever belongs to a column (x, z)
// lies at [s % nx][z]: for a fixed z that is each x once, and a warp reads and writes neighbours.  top is laid out so.

// The P-positions of total `total`: appended to `keys` as their indices in the box, in any order; `found` counts them.
//
// Bits.  Fix y.  The positions of a total have one s = x + z = total - y, and a word holds 64 of them, one for each z.
// - columns[s]: bit z, whether (x, y, z) is a position: y <= top(x, z).
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
// A line begins at a column (x, z) with top(x-1, z) < y <= top(x, z), or at x = 0.  So as y rises, a column wants a look from
// y = top(x-1, z) + 1 or top(x, z-1) + 1 on, to its end; changes[s] is the least y at which one of the word's columns does.
//
// A thread has a word.  The words that are due for a look, and those that have P-positions, are dealt out to the block's warps, a
// lane two columns: no thread goes through the bits of a word.
//
// Bytes: 44 read and 8 written for 64 positions, and in each line's first column 12 or so.
extern "C" __global__ void __launch_bounds__(WORDS, 4)
wedge_outcomes(const u32* __restrict__ top, u32 nx, u32 ny, u32 nz, u32 words, u32 total, u32 first_row, u32 rows,
               u64* __restrict__ columns, u32* __restrict__ changes, u64* __restrict__ y_lines, u64* __restrict__ x_lines,
               const u64* __restrict__ z_lines, u64* __restrict__ z_lines_next, u32* __restrict__ roof_x,
               u32* __restrict__ roof_z, u64* __restrict__ keys, u64* __restrict__ found) {
    __shared__ u64 of_word[WORDS], x_begun[WORDS], z_begun[WORDS];
    const u32 me = threadIdx.x, lane = me & 31u, first = blockIdx.x * blockDim.x;
    const u32 item = first + me, word = item % words, y = first_row + item / words, s = total - y;
    const u64 place = static_cast<u64>(s) * words + word, line = static_cast<u64>(y) * words + word;
    const bool has_word = item < rows * words;

    u64 inside = 0;
    if (has_word) inside = y == 0 ? columns_inside(s, nx, nz, word) : columns[place];
    if (has_word && y == 0 && inside == 0) columns[place] = 0;
    of_word[me] = inside;
    x_begun[me] = z_begun[me] = 0;
    deal_out(inside != 0 && (y == 0 || y >= changes[place]), [&](u32 owner) {
        const u32 its_word = (first + owner) % words, its_y = first_row + (first + owner) / words, its_s = total - its_y;
        const u32 row = its_s % nx, row_below = row > 0 ? row - 1 : nx - 1;
        const u64 all = of_word[owner];
        u64 stay = 0, x_begin = 0, z_begin = 0;
        u32 next = NEVER;
#pragma unroll
        for (u32 half = 0; half < 64; half += 32) {
            const u32 i = half + lane, z = 64 * its_word + i, x = its_s - z;
            bool stays = (all >> i & 1u) != 0, begins_x = false, begins_z = false;
            if (stays) {
                const u32* const below = top + static_cast<u64>(row_below) * nz + z;
                const u32 end = top[static_cast<u64>(row) * nz + z];
                const u32 x_below = x > 0 ? *below : NEVER, z_below = z > 0 ? *(below - 1) : NEVER;
                stays = end >= its_y;
                begins_x = stays && x_below < its_y && read_shared(&roof_z[z]) < its_y;
                begins_z = stays && z_below < its_y && read_shared(&roof_x[x]) < its_y;
                if (stays) next = min(next, max(min(end, min(x_below, z_below)), its_y));
            }
            stay |= static_cast<u64>(__ballot_sync(FULL_WARP, stays)) << half;
            x_begin |= static_cast<u64>(__ballot_sync(FULL_WARP, begins_x)) << half;
            z_begin |= static_cast<u64>(__ballot_sync(FULL_WARP, begins_z)) << half;
        }
        next = warp_min(next);
        __syncwarp();                                  // all lanes have read of_word
        if (lane != 0) return;
        const u64 its_place = static_cast<u64>(its_s) * words + its_word;
        columns[its_place] = of_word[owner] = stay;
        changes[its_place] = next + 1;
        x_begun[owner] = x_begin;
        z_begun[owner] = z_begin;
    });
    __syncthreads();

    u64 p = 0;
    if (has_word) {
        u64 z_seen = z_lines[line] << 1 | (word > 0 ? z_lines[line - 1] >> 63 : 0ull) | z_begun[me];
        inside = of_word[me];
        if (inside != 0) {
            const u64 x_seen = x_lines[line], y_seen = y == 0 ? 0ull : y_lines[place];
            p = inside & ~(x_seen | x_begun[me] | y_seen | z_seen);
            if ((p | x_begun[me]) != 0) x_lines[line] = x_seen | x_begun[me] | p;
            if (p != 0 || y == 0) y_lines[place] = y_seen | p;
            z_seen |= p;
        }
        z_lines_next[line] = z_seen;
    }
    of_word[me] = p;
    deal_out(p != 0, [&](u32 owner) {
        const u32 its_word = (first + owner) % words, its_y = first_row + (first + owner) / words, its_s = total - its_y;
        const u64 its_p = of_word[owner];
        u64 slot = lane == 0 ? atomicAdd(found, static_cast<u64>(__popcll(its_p))) : 0ull;
        slot = __shfl_sync(FULL_WARP, slot, 0);
#pragma unroll
        for (u32 half = 0; half < 64; half += 32) {
            const u32 i = half + lane, z = 64 * its_word + i, x = its_s - z;
            if ((its_p >> i & 1u) == 0) continue;
            keys[slot + __popcll(its_p & ((1ull << i) - 1))] = (static_cast<u64>(x) * ny + its_y) * nz + z;
            if (top[static_cast<u64>(its_s % nx) * nz + z] == its_y) {
                atomicMin(&roof_x[x], its_y);
                atomicMin(&roof_z[z], its_y);
            }
        }
    });
}

// The Grundy values of the positions of total `total`, into values[(x + z) % nx][y][z].
//
// Each line keeps the set of values seen on it so far as a bit mask, in 64-bit words, word-major, so that the lanes of a warp,
// neighbours in z, read neighbouring words: x_seen[word][y][z], y_seen[word][(x + z) % nx][z], z_seen[word][y][x].  A value is the
// first that is in none of the three sets, and then goes into all three: a line has one position of each total, so nobody else
// touches its words.  A line along x that begins above the top of a column (u, z), at x = u + 1, has the options of that top and
// the top itself as its first: the top's thread hands its set on to the lines that begin there, which no thread has used yet.
// Likewise along z.
//
// Bound.  A position has x + y + z options, some of them equal, and the least value missing among n is at most n: a value is at
// most the total, so word total / 64 of the three sets together has a free bit.
//
// Bytes, per position: 24 for each 64 values below its own, 24 written, four of its top and two of its value; once for each line
// that begins above a top, its words copied.
extern "C" __global__ void __launch_bounds__(128, 8)
wedge_grundy(const u32* __restrict__ top, u32 nx, u32 ny, u32 nz, u32 total, u32 first_row, u32 rows, u64* __restrict__ x_seen,
             u64* __restrict__ y_seen, u64* __restrict__ z_seen, u16* __restrict__ values) {
    const u32 item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= rows * nz) return;
    const u32 z = item % nz, y = first_row + item / nz, s = total - y;
    if (z > s || s - z >= nx) return;
    const u32 x = s - z, row = s % nx;
    const u32 column = row * nz + z;
    const u32 end = top[column];
    if (y > end) return;

    const u64 x_lines = static_cast<u64>(ny) * nz, y_lines = static_cast<u64>(nx) * nz, z_lines = static_cast<u64>(ny) * nx;
    const u64 x_line = static_cast<u64>(y) * nz + z, z_line = static_cast<u64>(y) * nx + x;
    // Pointers that go on from word to word: to multiply for each would take as many instructions as all else.
    u64 *of_x = x_seen + x_line, *of_y = y_seen + column, *of_z = z_seen + z_line;
    u32 word = 0;
    for (; (*of_x | *of_y | *of_z) == ~0ull; ++word) {
        of_x += x_lines;
        of_y += y_lines;
        of_z += z_lines;
    }
    const u64 free = ~(*of_x | *of_y | *of_z), bit = free & (0ull - free);
    *of_x |= bit;
    *of_y |= bit;
    *of_z |= bit;
    values[(static_cast<u64>(row) * ny + y) * nz + z] =
        static_cast<u16>(64 * word + static_cast<u32>(__ffsll(static_cast<i64>(free))) - 1);
    if (y != end) return;

    const u32 row_above = (row + 1 < nx ? row + 1 : 0) * nz;
    const u32 x_end = x + 1 < nx ? top[row_above + z] : end, z_end = z + 1 < nz ? top[row_above + z + 1] : end;
    const u32 last_word = total / 64;
    for (u32 line = end + 1; line <= x_end; ++line)
        for (u32 w = 0; w <= last_word; ++w)
            x_seen[w * x_lines + static_cast<u64>(line) * nz + z] = x_seen[w * x_lines + x_line];
    for (u32 line = end + 1; line <= z_end; ++line)
        for (u32 w = 0; w <= last_word; ++w)
            z_seen[w * z_lines + static_cast<u64>(line) * nx + x] = z_seen[w * z_lines + z_line];
}

// What wedge_grundy has stored, by [x][y][z], NO_POSITION where y > top(x, z): the lines along z from number `first`, x ny + y, on.
//
// Bytes, per cell: two written, side by side; and a sector of 32 read for two, which is once and not once a total.
extern "C" __global__ void __launch_bounds__(256)
wedge_values(const u32* __restrict__ top, const u16* __restrict__ stored, u32 nx, u32 ny, u32 nz, u32 first, u32 lines,
             u16* __restrict__ values) {
    const u32 item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= lines * nz) return;
    const u32 z = item % nz, line = first + item / nz, x = line / ny, y = line - x * ny, row = (x + z) % nx;
    values[item] = y > top[row * nz + z] ? NO_POSITION : stored[(static_cast<u64>(row) * ny + y) * nz + z];
}

namespace {

// A thread's vector: a column of shared memory, one row a coordinate, since registers cannot be indexed.
struct Vector {
    u32* first;

    __device__ __forceinline__ u32& operator[](u32 coordinate) const { return first[static_cast<u64>(coordinate * blockDim.x)]; }
};

// An inequality game in a box: its inequalities, as gpu_nim.backends.interface.LinearBounds, and the box's sides.
struct Game {
    const u32* targets;
    const i64* numerators;
    const i64* constants;
    const i64* denominators;
    const u32* sides;
    u64 choices;                                   // of all coordinates but the longest
    u32 inequalities;
    u32 k;
    u32 width;                                     // of a vector: its coordinates and the floors, 32 bits each
    u32 deep;

    // The largest value that inequality r allows its target.  No sum passes 2^62: the caller has seen to that.
    __device__ __forceinline__ i64 bound(u32 r, Vector v) const {
        i64 sum = constants[r];
        for (u32 j = 0; j < width; ++j) {
            const i64 numerator = numerators[r * width + j];
            if (numerator != 0) sum += numerator * v[j];
        }
        const i64 denominator = denominators[r];
        return denominator == 1 ? sum : floor_divide(sum, denominator);
    }

    // Whether row r is of a floor, which it then gives v: the greatest of what the rows of one floor, next to each other, say.
    __device__ __forceinline__ bool gives(u32 r, Vector v, i64 most) const {
        const u32 target = targets[r];
        if (target < k) return false;
        if (r == 0 || targets[r - 1] != target || most > v[target]) v[target] = static_cast<u32>(most);
        return true;
    }

    __device__ __forceinline__ bool allows(Vector v) const {
        for (u32 r = 0; r < inequalities; ++r) {
            const i64 most = bound(r, v);
            if (!gives(r, v, most) && v[targets[r]] > most) return false;
        }
        return true;
    }

    // Lower v to the greatest position below it; false where there is none.  Each bound keeps all positions below v below v.
    __device__ __forceinline__ bool lower(Vector v) const {
        for (bool changed = true; changed;) {
            changed = false;
            for (u32 r = 0; r < inequalities; ++r) {
                const i64 most = bound(r, v);
                if (gives(r, v, most)) continue;
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
            const u32 value = last_digit(choice, sides[j]);
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
__device__ __forceinline__ void outcomes(const Game& game, u32 total, Flags* __restrict__ flags,
                                         u64* __restrict__ keys, u64* __restrict__ found) {
    DYNAMIC_SHARED(u32, columns);
    const Vector position{columns + threadIdx.x}, option{columns + static_cast<u64>(game.width * blockDim.x) + threadIdx.x};
    const u64 choice = global_thread();
    if (choice >= game.choices || !game.choose(choice, total, position)) return;
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
inequality_outcomes(const Game game, u32 total, u8* __restrict__ flags, u64* __restrict__ keys, u64* __restrict__ found) {
    outcomes(game, total, flags, keys, found);
}

extern "C" __global__ void __launch_bounds__(128, 8)
inequality_outcomes_wide(const Game game, u32 total, u32* __restrict__ flags, u64* __restrict__ keys, u64* __restrict__ found) {
    outcomes(game, total, flags, keys, found);
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
inequality_grundy(const Game game, u32 total, u32 seen_words, u16* __restrict__ values) {
    DYNAMIC_SHARED(u32, columns);
    const u32 k = game.k;
    const u32 lane = threadIdx.x & 31u, warp = threadIdx.x >> 5;
    const Vector mine{columns + threadIdx.x}, option{columns + static_cast<u64>(game.width * blockDim.x) + threadIdx.x};
    u32* const seen = columns + static_cast<u64>(2 * game.width * blockDim.x + warp * seen_words);
    const u64 choice = global_thread();
    const bool is_position = choice < game.choices && game.choose(choice, total, mine);
    for (u32 left = __ballot_sync(FULL_WARP, is_position); left != 0; left &= left - 1) {
        const u32 owner = static_cast<u32>(__ffs(static_cast<i32>(left))) - 1;
        const Vector position{columns + static_cast<u64>(32 * warp + owner)};
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
