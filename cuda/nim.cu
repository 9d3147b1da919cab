// Three-pile Nim: many generations of a bit plane in one launch, in registers alone.
//
// Rule [B].  (a,b,c) is born at generation n when exactly one of (a-1,b-1,c), (a-1,b,c-1), (a,b-1,c-1) was born at n-1;
// generation n lies on the plane a+b+c = 2n.  Write u = n-a, v = n-b, so that c = u+v.  Then (u,v) is born when exactly one of
// (u,v), (u,v-1), (u-1,v) was: one plane serves all generations and nothing in it moves.
//
// Layout.  Row u is row_words 64-bit words; bit v % 64 of word v / 64 is the cell (u,v).  A warp owns a tile of 96 rows by 4
// words.  It holds 128 rows by 4 1/2 words: the 32 rows above and the half word to the left are the halo, since 32 generations
// reach no further than 32 cells.  Lane l holds rows 4l to 4l+3 of them in registers, as halves of words; a row above comes from the
// lane below by shuffle.
//
// Tiles without a cell.  Most are: of n^2 / 2 cells of the plane 3^wt(n) are alive.  So a launch goes through a list of tiles alone: those
// with a cell in what their warp holds, and those that had one two launches before and must be emptied.  It makes the list of the next
// launch, in any order: lengths[n] is the length of the list of generation n, entered[t] is n + 1 where tile t has entered it.
// filled[t] is 0 where no word of tile t of the plane has a bit.  A tile whose own flag and those of the three tiles that its halo
// lies in are 0 has nothing to grow, and none of its words is read.  No tile needs to be listed for cells above to its left alone: u and
// v have no binary digit in common, so that a cell in the last 32 rows and columns of a tile is 33 steps or more from that corner.
//
// Invariant.  After g steps the bits of rows r >= g and of columns >= g of what a warp holds are those of generation
// `generation` + g; what enters from outside, whatever it is, has come no further.  So every owned cell is right for g <= 32.
//
// Bytes.  A launch reads each word of the tiles that are not empty 1.5 times (from cache, mostly) and writes it once, for up to 32
// generations: half a byte a word and generation.  A step costs two integer operations for each half of a word, a funnel shift and
// a three-input logic operation.  A cell that is born costs a mix; the warp's cells are dealt out to its lanes for that, since those
// of one generation lie in few of its rows.  Where few tiles are listed, a launch takes as long as one tile: 2^SHARES warps grow the
// same tile then, and each counts every 2^SHARES-th generation.
#include "common.cuh"

namespace {

constexpr u32 ROWS = 4, WORDS = 4;                 // rows a lane, words a row that a tile owns
constexpr u32 HALVES = 2 * WORDS + 1;              // halves of words a row that a lane holds, the first of them halo
constexpr u32 REACH = 32;                          // generations a launch at most: the rows and the columns of the halo
constexpr u32 OWNED = 32 * ROWS - REACH;           // rows that a tile owns
constexpr u32 THREADS = 128;
constexpr u32 FIELD = 24;                          // bits of a coordinate in a cell's key
constexpr u32 DEALT = 512;                         // cells of a generation that a warp deals out at a time
constexpr u32 SHARES = 2;                          // log2 of the warps a tile, where there are so many for each

// A tile of the plane as one lane sees it.
struct Tile {
    u32 half[ROWS][HALVES];
    u32 number;                                    // of the tile, in strips of tiles next to one another
    u32 strip, column;                             // the tile's place in the plane: in tiles, and that of its first word in a row
    u32 first;                                     // the row u of the tile's first row
    i64 row;                                       // the row of half[0] in the plane; negative above it
    bool owned;                                    // whether these rows belong to the tile or to its halo

    __device__ __forceinline__ Tile(u32 of_list, u32 across) : number(of_list) {
        const u32 lane = threadIdx.x & 31u;
        strip = number / across;
        column = (number - strip * across) * WORDS;
        row = static_cast<i64>(strip) * OWNED - REACH + static_cast<i64>(lane * ROWS);
        owned = lane * ROWS >= REACH;
        first = strip * OWNED;
    }

    // In which tiles that lie in what the warp holds there are bits: 1 itself, 2 to the left, 4 above, 8 above to the left.
    __device__ __forceinline__ u32 held(const u8* __restrict__ filled, u32 across) const {
        const u32 lane = threadIdx.x & 31u, up = lane >> 1, left = lane & 1u;
        const bool there = lane < 4 && up <= strip && left * WORDS <= column;
        return __ballot_sync(FULL_WARP, there && filled[number - up * across - left] != 0);
    }

    // Whether row r and word w lie in the plane.
    __device__ __forceinline__ bool holds(u32 r, u32 w, u32 rows, u32 row_words) const {
        return row + r >= 0 && row + r < rows && column + w < row_words;
    }

    __device__ __forceinline__ u64 index(u32 r, u32 w, u32 row_words) const {
        return static_cast<u64>(row + r) * row_words + column + w;
    }

    __device__ __forceinline__ void load(const u64* __restrict__ plane, u32 rows, u32 row_words) {
#pragma unroll
        for (u32 r = 0; r < ROWS; ++r) {
            const bool halo = column > 0 && holds(r, 0, rows, row_words);
            half[r][0] = halo ? static_cast<u32>(plane[index(r, 0, row_words) - 1] >> 32) : 0u;
#pragma unroll
            for (u32 w = 0; w < WORDS; ++w) {
                const u64 word = holds(r, w, rows, row_words) ? plane[index(r, w, row_words)] : 0ull;
                half[r][2 * w + 1] = static_cast<u32>(word);
                half[r][2 * w + 2] = static_cast<u32>(word >> 32);
            }
        }
    }

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (u32 r = 0; r < ROWS; ++r)
#pragma unroll
            for (u32 h = 0; h < HALVES; ++h) half[r][h] = 0;
    }

    __device__ __forceinline__ void store(u64* __restrict__ plane, u32 rows, u32 row_words) const {
        if (!owned) return;
#pragma unroll
        for (u32 r = 0; r < ROWS; ++r)
#pragma unroll
            for (u32 w = 0; w < WORDS; ++w)
                if (holds(r, w, rows, row_words))
                    plane[index(r, w, row_words)] = static_cast<u64>(half[r][2 * w + 2]) << 32 | half[r][2 * w + 1];
    }

    // Replace generation n by generation n + 1.  Rows and halves go from the last to the first, so that each still finds its
    // neighbours of generation n.
    __device__ __forceinline__ void step() {
        u32 above[HALVES];
#pragma unroll
        for (u32 h = 0; h < HALVES; ++h) above[h] = __shfl_up_sync(FULL_WARP, half[ROWS - 1][h], 1);
#pragma unroll
        for (u32 r = ROWS; r-- > 0;) {
#pragma unroll
            for (u32 h = HALVES; h-- > 0;) {
                const u32 left = __funnelshift_l(h > 0 ? half[r][h - 1] : 0u, half[r][h], 1);
                half[r][h] = lop3<EXACTLY_ONE>(half[r][h], left, r > 0 ? half[r - 1][h] : above[h]);
            }
        }
    }

    // The bits of half h in any of the lane's rows.
    __device__ __forceinline__ u32 any(u32 h) const {
        u32 bits = 0;
#pragma unroll
        for (u32 r = 0; r < ROWS; ++r) bits |= half[r][h];
        return bits;
    }

    // Which tiles hold a cell of this one: 1 itself, 2 the one to the right, 4 the one below.  All lanes of the warp must call it.
    __device__ __forceinline__ u32 holders() const {
        constexpr u32 LAST_ROWS = FULL_WARP << OWNED / ROWS;  // the lanes whose rows are halo of the strip below
        u32 bits = 0;
#pragma unroll
        for (u32 h = 1; h < HALVES; ++h) bits |= any(h);
        const u32 rows = __ballot_sync(FULL_WARP, owned && bits != 0);
        const u32 right = __ballot_sync(FULL_WARP, owned && any(HALVES - 1) != 0);  // a half is halo of the next tile
        return (rows != 0 ? 1u : 0u) | (right != 0 ? 2u : 0u) | ((rows & LAST_ROWS) != 0 ? 4u : 0u);
    }

    // Whether the tile has a cell.  All lanes of the warp must call it.
    __device__ __forceinline__ bool alive() const {
        u32 bits = 0;
#pragma unroll
        for (u32 h = 1; h < HALVES; ++h) bits |= any(h);
        return __ballot_sync(FULL_WARP, owned && bits != 0) != 0;
    }

    // The number of the lane's cells in the tile.
    __device__ __forceinline__ u32 count() const {
        u32 cells = 0;
        if (!owned) return cells;
#pragma unroll
        for (u32 h = 1; h < HALVES; ++h) {
            if (any(h) == 0) continue;
#pragma unroll
            for (u32 r = 0; r < ROWS; ++r) cells += static_cast<u32>(__popc(half[r][h]));
        }
        return cells;
    }

    // Call visit(u, v) for each of the lane's cells in the tile, counted from the tile's corner.
    template <class Visit>
    __device__ __forceinline__ void each_cell(Visit visit) const {
        if (!owned) return;
        const u32 first = (threadIdx.x & 31u) * ROWS - REACH;
#pragma unroll
        for (u32 h = 1; h < HALVES; ++h) {
            if (any(h) == 0) continue;
#pragma unroll
            for (u32 r = 0; r < ROWS; ++r) {
#pragma unroll 1
                for (u32 bits = half[r][h]; bits != 0;) {
                    const u32 bit = 31u - static_cast<u32>(__clz(static_cast<i32>(bits)));
                    bits ^= 1u << bit;
                    visit(first + r, 32 * (h - 1) + bit);
                }
            }
        }
    }
};

__device__ __forceinline__ u32 tiles_across(u32 row_words) { return (row_words + WORDS - 1) / WORDS; }

// The list of the tiles that generation n is grown from.
struct List {
    u32* tiles;
    u32* lengths;
    u32* entered;
    u32 n;

    // Enter the tile at the given place, in tiles, unless it lies outside of the plane.
    __device__ __forceinline__ void enter(u32 rows, u32 across, u32 strip, u32 along) const {
        if (along >= across || strip * OWNED >= rows) return;
        const u32 tile = strip * across + along;
        if (atomicExch(&entered[tile], n + 1) != n + 1) tiles[atomicAdd(&lengths[n], 1u)] = tile;
    }
};

// The sum of `value` over this lane and those before it.  All lanes of the warp must call it.
__device__ __forceinline__ u32 prefix_sum(u32 value) {
    const u32 lane = threadIdx.x & 31u;
#pragma unroll
    for (u32 distance = 1; distance < 32; distance <<= 1) {
        const u32 before = __shfl_up_sync(FULL_WARP, value, distance);
        if (lane >= distance) value += before;
    }
    return value;
}

}  // namespace

// Grow `steps` <= 32 generations from plane `from`, which holds generation `generation`, into plane `to`; add the newborns of each
// generation n of them to births[n] and their mixes to checksums[n].  filled_from and filled_to tell the tiles of either plane
// that may hold cells; `tiles` lists those to go through, and takes_tiles those of the next launch.  `down`, `along` and `up` make a
// cell's linear mix in plane coordinates: K.(n-u, n-v, u+v) = down * u + along * v + up * n.
extern "C" __global__ void __launch_bounds__(THREADS, 5)
nim_advance(const u64* __restrict__ from, u64* __restrict__ to, const u8* __restrict__ filled_from, u8* __restrict__ filled_to,
            const u32* __restrict__ tiles, u32* __restrict__ takes_tiles, u32* lengths, u32* __restrict__ entered, u32 rows,
            u32 row_words, u32 generation, u32 steps, u64 down, u64 along, u64 up, u64* __restrict__ births,
            u64* __restrict__ checksums) {
    __shared__ u16 dealt_by_warp[THREADS / 32][DEALT];
    u16* const dealt = dealt_by_warp[threadIdx.x >> 5];  // of each cell, its row and its column in the tile
    const u32 lane = threadIdx.x & 31u, across = tiles_across(row_words), listed = lengths[generation];
    const List next{takes_tiles, lengths, entered, generation + steps};
    const u64 warps = global_threads() >> 5;
    const u32 shares = static_cast<u64>(listed) << SHARES <= warps ? SHARES : 0, others = (1u << shares) - 1;
    for (u64 i = global_thread() >> 5; i >> shares < listed; i += warps) {
        Tile tile(tiles[i >> shares], across);
        const u32 share = static_cast<u32>(i) & others;  // share 0 writes the tile, the others only count
        const bool stale = __ballot_sync(FULL_WARP, lane == 0 && share == 0 && filled_to[tile.number] != 0) != 0;
        const u32 held = tile.held(filled_from, across);
        if (held == 0 && !stale) continue;
        if (held != 0) {
            tile.load(from, rows, row_words);
            const u64 corner = down * tile.first + along * (64ull * tile.column);
            u64 my_births = 0, my_checksum = 0;        // lane g keeps those of step g
            for (u32 g = 0; g < steps; ++g) {
                tile.step();
                if ((g & others) != share || !tile.alive()) continue;
                const u64 origin = corner + up * (generation + 1 + g);
                const u32 mine = tile.count(), last = prefix_sum(mine), cells = __shfl_sync(FULL_WARP, last, 31);
                u64 sum = 0;
                for (u32 first = 0; first < cells; first += DEALT) {
                    u32 place = last - mine - first;   // wraps where an earlier round has dealt out the cell
                    tile.each_cell([&](u32 u, u32 v) {
                        if (place < DEALT) dealt[place] = static_cast<u16>(u << 8 | v);
                        ++place;
                    });
                    __syncwarp();
#pragma unroll 1
                    for (u32 cell = lane; cell < DEALT && first + cell < cells; cell += 32)
                        sum += mix64(origin + down * (dealt[cell] >> 8) + along * (dealt[cell] & 255u));
                    __syncwarp();
                }
                sum = warp_sum(sum);
                if (lane == g) {
                    my_births = cells;
                    my_checksum = sum;
                }
            }
            if (my_births != 0) {
                atomicAdd(&births[generation + 1 + lane], my_births);
                atomicAdd(&checksums[generation + 1 + lane], my_checksum);
            }
        } else {
            tile.clear();
        }
        if (share != 0) continue;
        const u32 holders = tile.holders();
        if (holders != 0 || stale) tile.store(to, rows, row_words);
        if (lane == 0) filled_to[tile.number] = holders != 0;
        // The tile itself, too, where `from` has cells of it, which the next launch overwrites.
        if (((holders | (held & 1u)) >> lane & 1u) != 0)
            next.enter(rows, across, tile.strip + (lane >> 1), tile.column / WORDS + (lane & 1u));
    }
}

// Write the cells that nim_advance counted.  keys[start[g] ...] takes those of step g, in any order, each as
// g << 2 FIELD | a << FIELD | b; cursor[g] counts what has been written of them.
extern "C" __global__ void __launch_bounds__(THREADS, 5)
nim_cells(const u64* __restrict__ from, const u8* __restrict__ filled_from, const u32* __restrict__ tiles,
          const u32* __restrict__ lengths, u32 rows, u32 row_words, u32 generation, u32 steps, const u64* __restrict__ start,
          u64* __restrict__ cursor, u64* __restrict__ keys) {
    const u32 lane = threadIdx.x & 31u, across = tiles_across(row_words), listed = lengths[generation];
    for (u64 i = global_thread() >> 5; i < listed; i += global_threads() >> 5) {
        Tile tile(tiles[i], across);
        if (tile.held(filled_from, across) == 0) continue;
        tile.load(from, rows, row_words);
        for (u32 g = 0; g < steps; ++g) {
            tile.step();
            if (!tile.alive()) continue;
            const u32 mine = tile.count(), last = prefix_sum(mine), cells = __shfl_sync(FULL_WARP, last, 31);
            u64 place = 0;
            if (lane == 0) place = start[g] + atomicAdd(&cursor[g], static_cast<u64>(cells));
            place = __shfl_sync(FULL_WARP, place, 0) + last - mine;
            const u64 n = generation + 1 + g, a = n - tile.first, b = n - 64ull * tile.column;
            tile.each_cell([&](u32 u, u32 v) { keys[place++] = static_cast<u64>(g) << 2 * FIELD | (a - u) << FIELD | (b - v); });
        }
    }
}
