// Three-pile Nim: many generations of a bit plane in one launch, in registers alone.
//
// Rule [B].  (a,b,c) is born at generation n when exactly one of (a-1,b-1,c), (a-1,b,c-1), (a,b-1,c-1) was born at n-1;
// generation n lies on the plane a+b+c = 2n.  Write u = n-a, v = n-b, so that c = u+v.  Then (u,v) is born when exactly one of
// (u,v), (u,v-1), (u-1,v) was: one plane serves all generations and nothing in it moves.
//
// Layout.  Row u is row_words 64-bit words; bit v % 64 of word v / 64 is the cell (u,v).  A warp owns a tile of 96 rows by 4
// words.  It holds 128 rows by 5 words: the 32 rows above and the word to the left are the halo, since 32 generations reach no
// further than 32 cells.  Lane l holds rows 4l to 4l+3 of them in registers; a row above comes from the lane below by shuffle.
//
// Invariant.  After g steps the bits of rows r >= g and of columns >= g of the tile are those of generation `generation` + g;
// what enters as zeros from outside the tile has come no further.  So every owned cell is right for g <= 32 <= 64.
//
// Bytes.  A launch reads each word of the triangle u+v <= n 1.67 times (from cache, mostly) and writes it once, for up to 32
// generations: half a byte a word and generation.  A step costs four integer operations a word: a funnel shift and a
// three-input logic operation for each half.
#include "common.cuh"

namespace {

constexpr u32 ROWS = 4, WORDS = 4;                 // rows a lane, words a row that a tile owns
constexpr u32 REACH = 32;                          // generations a launch at most: the rows of the halo, the lanes of a warp
constexpr u32 OWNED = 32 * ROWS - REACH;           // rows that a tile owns

// The bits set in exactly one of three words.
__device__ __forceinline__ u64 exactly_one(u64 x, u64 y, u64 z) { return (x ^ y ^ z) & ~(x & y & z); }

// A tile of the plane as one lane sees it.
struct Tile {
    u64 word[ROWS][WORDS + 1];                     // [.][0] is the halo on the left
    i64 row;                                       // the row u of word[0]; negative above the plane
    u32 column;                                    // the place in its row of word[.][1]
    bool owned;                                    // whether these rows belong to the tile or to its halo

    // Whether this row and this word, counted from the halo, lie in the plane.
    __device__ __forceinline__ bool holds(u32 r, u32 w, u32 rows, u32 row_words) const {
        const i64 u = row + r;
        return u >= 0 && u < rows && column + w >= 1 && column + w - 1 < row_words;
    }

    __device__ __forceinline__ u64 index(u32 r, u32 w, u32 row_words) const {
        return static_cast<u64>(row + r) * row_words + column + w - 1;
    }

    // Replace generation n by generation n + 1.  Rows and words go from the last to the first, so that each still finds its
    // neighbours of generation n.
    __device__ __forceinline__ void step(u32 lane) {
        u64 above[WORDS + 1];
#pragma unroll
        for (u32 w = 0; w <= WORDS; ++w) {
            above[w] = __shfl_up_sync(FULL_WARP, word[ROWS - 1][w], 1);
            if (lane == 0) above[w] = 0;
        }
#pragma unroll
        for (u32 r = ROWS; r-- > 0;) {
#pragma unroll
            for (u32 w = WORDS + 1; w-- > 0;) {
                const u64 here = word[r][w];
                const u64 left = here << 1 | (w > 0 ? word[r][w - 1] >> 63 : 0ull);
                word[r][w] = exactly_one(here, left, r > 0 ? word[r - 1][w] : above[w]);
            }
        }
    }

    // Call visit(u, v) for each cell born in the rows and words that the tile owns.
    template <class Visit>
    __device__ __forceinline__ void each_cell(Visit visit) const {
        if (!owned) return;
#pragma unroll
        for (u32 r = 0; r < ROWS; ++r) {
#pragma unroll
            for (u32 w = 1; w <= WORDS; ++w) {
                const u32 v = 64 * (column + w - 1);
                for (u64 bits = word[r][w]; bits != 0; bits &= bits - 1)
                    visit(static_cast<u32>(row + r), v + static_cast<u32>(__ffsll(static_cast<i64>(bits))) - 1);
            }
        }
    }

    __device__ __forceinline__ bool empty() const {
        u64 any = 0;
#pragma unroll
        for (u32 r = 0; r < ROWS; ++r)
#pragma unroll
            for (u32 w = 0; w <= WORDS; ++w) any |= word[r][w];
        return __ballot_sync(FULL_WARP, any != 0) == 0;
    }
};

// Load this warp's tile; false where there is none or no cell of it can be alive by generation `last`.
__device__ __forceinline__ bool load(Tile& tile, const u64* __restrict__ plane, u32 rows, u32 row_words, u32 last) {
    const u32 lane = threadIdx.x & 31u;
    const u64 warp = global_thread() >> 5;
    const u32 across = (row_words + WORDS - 1) / WORDS;
    const u64 strip = warp / across;
    tile.column = static_cast<u32>(warp % across) * WORDS;
    tile.row = static_cast<i64>(strip * OWNED) - REACH + lane * ROWS;
    tile.owned = lane * ROWS >= REACH;
    // Cells have u + v <= n.  A tile beyond that was never written, in either plane, and is never read but as zeros.
    if (strip * OWNED + 64ull * tile.column > last) return false;
#pragma unroll
    for (u32 r = 0; r < ROWS; ++r)
#pragma unroll
        for (u32 w = 0; w <= WORDS; ++w)
            tile.word[r][w] = tile.holds(r, w, rows, row_words) ? plane[tile.index(r, w, row_words)] : 0ull;
    return true;
}

}  // namespace

// Grow `steps` <= 32 generations from plane `from`, which holds generation `generation`, into plane `to`; add the newborns of
// generation + 1 + g to births[at + g] and their mixes to checksums[at + g].  `down`, `along` and `up` make a cell's linear mix in
// plane coordinates: K.(n-u, n-v, u+v) = down * u + along * v + up * n.
extern "C" __global__ void __launch_bounds__(128, 4)
nim_advance(const u64* __restrict__ from, u64* __restrict__ to, u32 rows, u32 row_words, u32 generation, u32 steps,
            u64 down, u64 along, u64 up, u64* __restrict__ births, u64* __restrict__ checksums, u32 at) {
    const u32 lane = threadIdx.x & 31u;
    Tile tile;
    if (!load(tile, from, rows, row_words, generation + steps)) return;
    if (!tile.empty()) {
        u64 my_births = 0, my_checksum = 0;            // lane g keeps those of step g
        for (u32 g = 0; g < steps; ++g) {
            tile.step(lane);
            const u64 mixed_n = up * (generation + 1 + g);
            u64 count = 0, sum = 0;
            tile.each_cell([&](u32 u, u32 v) {
                ++count;
                sum += mix64(down * u + along * v + mixed_n);
            });
            if (__ballot_sync(FULL_WARP, count != 0) == 0) continue;
            count = warp_sum(count);
            sum = warp_sum(sum);
            if (lane == g) {
                my_births = count;
                my_checksum = sum;
            }
        }
        if (my_births != 0) {
            atomicAdd(&births[at + lane], my_births);
            atomicAdd(&checksums[at + lane], my_checksum);
        }
    }
    if (!tile.owned) return;
#pragma unroll
    for (u32 r = 0; r < ROWS; ++r)
#pragma unroll
        for (u32 w = 1; w <= WORDS; ++w)
            if (tile.holds(r, w, rows, row_words)) to[tile.index(r, w, row_words)] = tile.word[r][w];
}

// Write the cells that nim_advance counted.  keys[start[g] ...] takes those of step g, in any order, each as
// g << 48 | a << 24 | b; cursor[g] counts what has been written of them.
extern "C" __global__ void __launch_bounds__(128, 4)
nim_cells(const u64* __restrict__ from, u32 rows, u32 row_words, u32 generation, u32 steps, const u64* __restrict__ start,
          u64* __restrict__ cursor, u64* __restrict__ keys) {
    const u32 lane = threadIdx.x & 31u;
    Tile tile;
    if (!load(tile, from, rows, row_words, generation + steps) || tile.empty()) return;
    for (u32 g = 0; g < steps; ++g) {
        tile.step(lane);
        const u64 n = generation + 1 + g;
        u64 count = 0;
        tile.each_cell([&](u32, u32) { ++count; });
        if (count == 0) continue;                      // this lane alone: the shuffles in step() are reached by all
        u64 place = start[g] + atomicAdd(&cursor[g], count);
        tile.each_cell([&](u32 u, u32 v) { keys[place++] = static_cast<u64>(g) << 48 | (n - u) << 24 | (n - v); });
    }
}
