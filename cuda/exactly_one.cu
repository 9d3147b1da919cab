// Exactly-one growth in two and three dimensions: bricks of bits, one warp a brick, one launch a generation.
//
// Rule.  A dead cell is born when exactly one of the cells that touch it is alive.  Alive cells never go away, so the first
// generation that touches a cell decides it: one toucher, and it is born; more, and it never is.  What is known of a cell is
// one bit, touched; what a generation needs of the last one is one bit, newborn.
//
// Coordinates.  A growth that is symmetric under permutations is kept for a >= b >= c alone, in u = a-b, v = b-c, w = c: there
// the fundamental domain is u, v >= 0, and w >= 0 where signs are symmetries too, so that its walls are walls of bricks, no brick
// is cut by a mirror, and no cell is kept twice.  The reflections are
//
//     a <-> b:  (u, v, w) -> (-u, v+u, w)      b <-> c:  (u, v, w) -> (u+v, -v, w+v)      c -> -c:  (u, v, w) -> (u, v+2w, -w)
//
// The first two take rows of constant (u, v) to rows: a row beyond them is a row of the domain, moved along w.  What lies beyond
// the third is a bit or two at the lower end of a row, and is fetched bit by bit.  Without symmetry (u, v, w) is (a, b, c).  In
// the plane u is 0 and (v, w) is (a-b, b) or (a, b).  Where all coordinate sums are even the parity of w follows from the row,
// and only every second cell has a bit: bit k of a row of parity p is w = 2k + p.
//
// Layout.  A brick is 32 rows, 4 x 8 in space and 1 x 32 in the plane, of 32 bits along w: 128 bytes, a word a lane.  Bricks
// are numbered column by column (all bricks above one another in w), and only those exist that the growth can reach:
// columns[3c] + w is the number of brick w of column c, for w from columns[3c+1] to columns[3c+2] - 1.  `touched` has a word for
// each row of each brick.  Newborns are kept for listed bricks alone: list n holds the bricks in which generation n can touch
// anything, word 32 s + r of newborn plane n % 2 is row r of the list's brick s, and slots n % 4 say where in list n a brick
// stands, plus one; 0 where it does not.
//
// A generation.  Each brick of list n gathers the newborns of n-1 around it into shared memory, a window of 64 bits a row: the
// row's own word in the middle and 16 bits of either neighbour.  Only beside a mirror can a row lie beyond it.  A toucher is then one
// shift of one window, and exactly-one over all of them costs two three-input logic operations each.  The brick then enters into list n+1 itself and those of its 26
// neighbours that its newborns can reach.  Four slot maps turn round so that one launch can read n-1, write n+1 and wipe n-2.
//
// Invariant.  After generation n: `touched` holds every cell that a cell of generation < n touched; plane n % 2 and slots n % 4
// tell generation n; list n+1 is complete.  For what a newborn d and its images touch in the domain is rep(d + o) for some offset
// o, and sorting and dropping signs take no two points further apart, neither by their largest difference of coordinates nor by
// the sum of all: rep(d + o) is no further from d = rep(d) than o is long.  `reach` is that length in u, v and w.
//
// Ranks.  A rank owns the columns of some slabs of bricks, which have u, in the plane v, in common, and numbers its bricks from 0 to
// `owned` - 1.  Only these are ever listed by a generation, so that each cell is decided, counted and mixed by one rank.  The bricks of
// the slabs beside them have higher numbers, slots and no `touched`: they are the halo.  Once generation n is done, a rank sends its
// newborns that are within reach of another's slab (exactly_one_send), and puts what it receives at the end of list n and of its
// newborns (exactly_one_receive), where generation n + 1 finds them.  No newborn further away touches anything in the slab.
//
// Bytes.  Counted over `fcc` and `edge` to generation 255: 7.7 births, as orbits, to a listed brick, 81 of 100 listed bricks with
// births, 9.4 of its 27 neighbours listed one generation before.  A listed brick reads 128 bytes of `touched` and writes them
// back, writes 128 of newborns, and reads 9 sectors of 32 bytes of columns, 9 of slots and 25 of newborns: 1.8 KB from L2, 230
// bytes a birth.  From memory, where each newborn word is read once, it is about half of that.
#include "common.cuh"

// What a build for one rule has as constants, all of them or none: how its bricks lie, and its offsets.  The arguments say the same.
#ifdef OFFSETS
#define COMPILED(constant, argument) (static_cast<void>(argument), constant)
#else
#define COMPILED(constant, argument) (argument)
#endif
#define SHAPE                                                                                                            \
    {columns, columns_u, columns_v, COMPILED(LOG_V, log_v), COMPILED(REACH_U, reach_u), COMPILED(REACH_V, reach_v),      \
     COMPILED(REACH_K, reach_k), COMPILED(FLAGS, flags)}

namespace {

constexpr u32 SPATIAL = 1, FOLDED = 2, SIGNED = 4, PACKED = 8, PARITY_OF_V = 16;  // bits of `flags`
constexpr u32 NOWHERE = 0xffffffffu, CLAIMED = 0xffffffffu;
constexpr u32 NEIGHBOURS = 27, ITSELF = 13;
constexpr u32 FIELD = 21;                          // bits of a brick's coordinate in a list
constexpr i32 MARGIN = 16;                         // bits of a window on either side of its word

struct Shape {
    const i32* columns;
    i32 columns_u, columns_v;
    u32 log_v;                                     // a brick has 1 << log_v rows in v and 32 >> log_v in u
    i32 reach_u, reach_v, reach_k;                 // how far a newborn touches: rows, rows, bits
    u32 flags;

    __device__ __forceinline__ bool is(u32 flag) const { return (flags & flag) != 0; }
    __device__ __forceinline__ u32 log_u() const { return 5 - log_v; }
    __device__ __forceinline__ i32 step() const { return is(PACKED) ? 2 : 1; }  // in w, from a bit to the next
    __device__ __forceinline__ i32 parity(i32 u, i32 v) const {
        return is(PACKED) ? (u + (is(PARITY_OF_V) ? v : 0)) & 1 : 0;
    }
    __device__ __forceinline__ u32 row(i32 u, i32 v) const {
        return (static_cast<u32>(u) & ((1u << log_u()) - 1)) << log_v | (static_cast<u32>(v) & ((1u << log_v) - 1));
    }
    // Rows of a brick and of what surrounds it: in v, and in all.
    __device__ __forceinline__ u32 window_width() const { return (1u << log_v) + 2 * static_cast<u32>(reach_v); }
    __device__ __forceinline__ u32 window_rows() const {
        return ((1u << log_u()) + 2 * static_cast<u32>(reach_u)) * window_width();
    }
    // The number of a brick, or NOWHERE.
    __device__ __forceinline__ u32 brick(i32 u, i32 v, i32 w) const {
        if (u < 0 || u >= columns_u || v < 0 || v >= columns_v) return NOWHERE;
        const u32 at = 3u * (static_cast<u32>(u) * static_cast<u32>(columns_v) + static_cast<u32>(v));  // of 2^28 columns at the most
        const i32* const column = columns + at;
        return w >= column[1] && w < column[2] ? static_cast<u32>(column[0]) + static_cast<u32>(w) : NOWHERE;
    }
    // Take a cell to its representative by reflections.  `signs`: in w = 0 too.
    __device__ __forceinline__ void fold(i32& u, i32& v, i32& w, bool signs) const {
        while (true) {
            if (u < 0) {
                v += u;
                u = -u;
            } else if (v < 0) {
                if (is(SPATIAL)) u += v;
                w += v;
                v = -v;
            } else if (signs && w < 0) {
                v += 2 * w;
                w = -w;
            } else {
                return;
            }
        }
    }
};

// A brick's place, in bricks.
struct Place {
    i32 u, v, w;

    __device__ __forceinline__ explicit Place(u64 packed)
        : u(static_cast<i32>(packed >> 2 * FIELD)),
          v(static_cast<i32>(packed >> FIELD & ((1u << FIELD) - 1))),
          w(static_cast<i32>(packed & ((1u << FIELD) - 1))) {}

    // Whether rows around the brick, or the lower ends of its own, lie beyond a mirror.
    __device__ __forceinline__ bool beside_mirror(const Shape& s) const {
        return (s.is(FOLDED) && ((s.is(SPATIAL) && u == 0) || v == 0)) || (s.is(SIGNED) && w == 0);
    }
};

__device__ __forceinline__ u64 pack(i32 u, i32 v, i32 w) {
    return static_cast<u64>(u) << 2 * FIELD | static_cast<u64>(v) << FIELD | static_cast<u64>(w);
}

// What the brick's neighbourhood was like one generation ago: slots[i] is neighbour i's in `newborn`, NOWHERE of one that has none.
struct Surroundings {
    const u32* slots;
    const u32* newborn;

    // Word `r` of neighbour `i`, and 0 of one that had no newborns.
    __device__ __forceinline__ u32 word(i32 i, u32 r) const {
        const u32 slot = slots[i];
        return slot == NOWHERE ? 0u : (newborn + r)[32ull * slot];
    }

    // Row `r` of neighbour `i`, in the window of a row that it lies `moved` bits off.
    __device__ __forceinline__ u64 window(i32 i, u32 r, i32 moved) const {
        const u32 below = word(i - 1, r), here = word(i, r), above = word(i + 1, r), shift = static_cast<u32>(MARGIN + moved);
        return static_cast<u64>(__funnelshift_r(here, above, shift)) << 32 | __funnelshift_r(below, here, shift);
    }
};

// The number of the neighbour that row (u, v) lies in, counted from the brick's first row, or NOWHERE.
__device__ __forceinline__ u32 neighbour_of(const Shape& s, i32 u, i32 v) {
    const i32 du = u >> s.log_u(), dv = v >> s.log_v;
    return du < -1 || du > 1 || dv < -1 || dv > 1 ? NOWHERE : static_cast<u32>(static_cast<i32>(ITSELF) + 9 * du + 3 * dv);
}

// The newborns of row (u, v), counted from the brick's first row: bit MARGIN + i is bit i of the brick's row.
__device__ __forceinline__ u64 window(const Shape& s, const Surroundings& around, i32 u, i32 v) {
    return around.window(static_cast<i32>(neighbour_of(s, u, v)), s.row(u, v), 0);
}

// The same of a row of a brick beside a mirror, which may lie beyond it.
__device__ __forceinline__ u64 mirrored_window(const Shape& s, const Place& at, const Surroundings& around, i32 u, i32 v) {
    const i32 first_u = at.u << s.log_u(), first_v = at.v << s.log_v;
    i32 moved = 0;                                 // in bits, along the row that stands for this one
    u32 beside = neighbour_of(s, u, v), row = s.row(u, v);
    if (s.is(FOLDED) && (first_u + u < 0 || first_v + v < 0)) {
        u += first_u, v += first_v;
        i32 w = 0;
        const i32 parity = s.parity(u, v);
        s.fold(u, v, w, false);
        moved = (parity + w - s.parity(u, v)) / s.step();
        u -= first_u, v -= first_v;
        beside = neighbour_of(s, u, v);
        row = s.row(u, v);
        // Images of cells that touch the brick lie next to it (see `reach`); of others nothing is asked.
        if (beside == NOWHERE) return 0;
    }
    u64 bits = around.window(static_cast<i32>(beside), row, moved);
    if (s.is(SIGNED) && at.w == 0) {
        u += first_u, v += first_v;
        for (i32 k = moved - s.reach_k; k < 0; ++k) {  // cells beyond the mirror w = 0, one by one
            i32 x = u, y = v, z = k * s.step() + s.parity(u, v);
            s.fold(x, y, z, true);
            const i32 place = (z - s.parity(x, y)) / s.step();
            const u32 image = neighbour_of(s, x - first_u, y - first_v);
            if (image == NOWHERE || place >= 64) continue;
            const u64 bit = around.word(static_cast<i32>(image) + (place >> 5), s.row(x, y)) >> (place & 31) & 1u;
            bits |= bit << (k - moved + MARGIN);
        }
    }
    return bits;
}

// Call visit(number, u, v) for this lane's share of the rows of a brick and of what surrounds it, counted from the brick's first row,
// `at_once` of them in flight.
template <u32 at_once, class Visit>
__device__ __forceinline__ void each_row(const Shape& s, u32 lane, Visit visit) {
    const u32 width = s.window_width(), rows = s.window_rows();
    u32 across = lane / width, along = lane % width;
#pragma unroll at_once
    for (u32 r = lane; r < rows; r += 32) {
        visit(r, static_cast<i32>(across) - s.reach_u, static_cast<i32>(along) - s.reach_v);
        along += 32 % width;                       // the next row is 32 further: no division by a width known at run time
        across += 32 / width;
        if (along >= width) {
            along -= width;
            ++across;
        }
    }
}

// Which of its 27 neighbours, itself among them, a brick's newborns reach: the lane stands for neighbour `lane`.
struct Herald {
    i32 du, dv, dw;                                // this lane's neighbour, from the brick
    u32 rows;                                      // the rows whose newborns reach it
    u32 low, high;                                 // the bits of a word that reach the neighbours below and above

    // All lanes of the warp must call it.
    __device__ __forceinline__ Herald(const Shape& s, u32 lane)
        : du(static_cast<i32>(lane / 9) - 1), dv(static_cast<i32>(lane / 3 % 3) - 1), dw(static_cast<i32>(lane % 3) - 1) {
        const i32 u = static_cast<i32>(lane >> s.log_v), v = static_cast<i32>(lane & ((1u << s.log_v) - 1));
        const u32 first_u = __ballot_sync(FULL_WARP, u < s.reach_u);
        const u32 last_u = __ballot_sync(FULL_WARP, u >= (1 << s.log_u()) - s.reach_u);
        const u32 first_v = __ballot_sync(FULL_WARP, v < s.reach_v);
        const u32 last_v = __ballot_sync(FULL_WARP, v >= (1 << s.log_v) - s.reach_v);
        rows = lane >= NEIGHBOURS ? 0u : FULL_WARP;
        rows &= du < 0 ? first_u : du > 0 ? last_u : FULL_WARP;
        rows &= dv < 0 ? first_v : dv > 0 ? last_v : FULL_WARP;
        low = (1u << s.reach_k) - 1;
        high = ~(FULL_WARP >> s.reach_k);
    }

    // Whether this lane's neighbour is reached, from each lane's newborns.  All lanes of the warp must call it.
    __device__ __forceinline__ bool reached(u32 born) const {
        const u32 any = __ballot_sync(FULL_WARP, born != 0);
        if (any == 0) return false;
        const u32 below = __ballot_sync(FULL_WARP, (born & low) != 0), above = __ballot_sync(FULL_WARP, (born & high) != 0);
        return ((dw == 0 ? any : dw < 0 ? below : above) & rows) != 0;
    }
};

// The rings of a growth, as generation n sees them.
struct Rings {
    u32* newborn;
    u32* slots;
    u64* lists;
    u32* counts;
    u64 bricks;
    u32 capacity, owned;

    __device__ __forceinline__ u32* newborn_of(u32 n) const { return newborn + 32ull * capacity * (n & 1); }
    __device__ __forceinline__ u32* slots_of(u32 n) const { return slots + bricks * (n & 3); }
    __device__ __forceinline__ u64* list_of(u32 n) const { return lists + static_cast<u64>(capacity) * (n & 3); }
    __device__ __forceinline__ u32 count_of(u32 n) const { return counts[n] < capacity ? counts[n] : capacity; }

    // Enter each lane's brick into list n, once whoever asks, where `wanted`.  All lanes of the warp must call it.
    __device__ __forceinline__ void enter(u32 n, u32 lane, bool wanted, u32 brick, u64 place) const {
        u32* const slot = slots_of(n) + brick;
        const bool won = wanted && atomicCAS(slot, 0u, CLAIMED) == 0;
        const u32 winners = __ballot_sync(FULL_WARP, won);
        if (winners == 0) return;
        u32 first = 0;
        if (lane == 0) first = atomicAdd(&counts[n], static_cast<u32>(__popc(winners)));
        first = __shfl_sync(FULL_WARP, first, 0);
        if (!won) return;
        const u32 at = first + static_cast<u32>(__popc(winners & ((1u << lane) - 1)));
        // A count beyond the capacity is what tells the host that the list overflowed.
        const bool fits = at < capacity;
        if (fits) list_of(n)[at] = place;
        atomicExch(slot, fits ? at + 1 : 0u);
    }
};

// How many cells a representative of row (u, v) stands for, at w = 0 or anywhere above.
__device__ __forceinline__ u32 orbit(const Shape& s, i32 u, i32 v, bool bottom) {
    if (!s.is(FOLDED)) return 1;
    const bool in_space = s.is(SPATIAL);
    const u32 walls = (v == 0 ? 1 : 0) + (in_space && u == 0 ? 1 : 0);
    const u32 arrangements = in_space ? (walls == 0 ? 6 : walls == 1 ? 3 : 1) : 2 - walls;
    if (!s.is(SIGNED)) return arrangements;
    // Coordinates that are not 0: all of them, or those above w, which are v + w and, in space, u + v + w.
    const u32 signs = !bottom ? (in_space ? 3 : 2) : (v != 0 ? 1 : 0) + (in_space && (u != 0 || v != 0) ? 1 : 0);
    return arrangements << signs;
}

// The newborns of a row that lie in a plane.
struct Section {
    u32 axes;                                      // 1, 2, 4: u, v, w is `level`; 8: coordinates of a folded cell are; 0: no plane
    i32 level;

    // Whether the cell `w` above the first of a row's word is born.
    static __device__ __forceinline__ u32 bit(const Shape& s, u32 word, i32 w) {
        if (w < 0 || w >= 32 * s.step() || w % s.step() != 0) return 0;
        return word >> (w / s.step()) & 1u;
    }

    // How many of them there are; of folded cells, the sum of orbits over cells and coordinates at the level.
    __device__ __forceinline__ u32 count(const Shape& s, u32 born, i32 u, i32 v, i32 start) const {
        if (axes == 1 || axes == 2) return (axes == 1 ? u : v) == level ? static_cast<u32>(__popc(born)) : 0u;
        if (axes == 4) return bit(s, born, level - start);
        const u32 above = bit(s, born, level - start) * orbit(s, u, v, level == 0) +
                          bit(s, born, level - v - start) * orbit(s, u, v, level == v);
        return above + (s.is(SPATIAL) ? bit(s, born, level - u - v - start) * orbit(s, u, v, level == u + v) : 0u);
    }
};

}  // namespace

// Grow generation n = clock[0] + 1 + step from the one before: add its births, orbit by orbit, to reports[3n], their mixes to
// reports[3n + 1], and to reports[3n + 2] those that lie in the section.  For each offset, offsets holds the step to the toucher's
// window, times 2^16, and the shift within it in a row of parity 0, and of parity 1, times 2^8.  mix_* are the linear mix of a
// representative in u, v and w, and that of (0, 0, 0).
extern "C" __global__ void __launch_bounds__(128, 8)
exactly_one_grow(const i32* __restrict__ columns, i32 columns_u, i32 columns_v, u32 log_v, i32 reach_u, i32 reach_v, i32 reach_k,
                 u32 flags, const i32* __restrict__ offsets, u32 offset_count, u32* __restrict__ touched, u32* newborn,
                 u32* slots, u64* lists, u32* counts, u64 bricks, u32 capacity, u32 owned, const u32* __restrict__ clock, u32 step,
                 u64 mix_u, u64 mix_v, u64 mix_w, u64 mix_0, u32 section_axes, i32 section_level, u64* __restrict__ reports) {
    const Shape s SHAPE;
    const Rings rings{newborn, slots, lists, counts, bricks, capacity, owned};
    const u32 generation = *clock + 1 + step;
    const u32 lane = threadIdx.x & 31u;
    const u32 width = s.window_width(), rows = s.window_rows();
    DYNAMIC_SHARED(u64, windows_of_block);
    u64* const windows = windows_of_block + static_cast<u64>((threadIdx.x >> 5) * (rows + 16));
    u32* const around = reinterpret_cast<u32*>(windows + rows);  // 32 slots

    const i32 row_u = static_cast<i32>(lane >> s.log_v), row_v = static_cast<i32>(lane & ((1u << s.log_v) - 1));
    const u64* const own_window = windows + static_cast<u64>((row_u + s.reach_u) * width) + row_v + s.reach_v;
    const Herald herald(s, lane);
    const u64 warp = global_thread() >> 5, warps = global_threads() >> 5;
    const u32 listed = rings.count_of(generation);
    const u64* const list = rings.list_of(generation);
    const u32* const old_slots = rings.slots_of(generation - 1);
    const Surroundings surroundings{around, rings.newborn_of(generation - 1)};
    u32* const born_now = rings.newborn_of(generation);

    const Section section{section_axes, section_level};

    u64 count = 0, sum = 0, in_section = 0;
    for (u64 i = warp; i < listed; i += warps) {
        const Place place(list[i]);
        const i32 u = (place.u << s.log_u()) + row_u, v = (place.v << s.log_v) + row_v;
        u32 neighbour = NOWHERE;
        if (lane < NEIGHBOURS) neighbour = s.brick(place.u + herald.du, place.v + herald.dv, place.w + herald.dw);
        around[lane] = neighbour == NOWHERE ? NOWHERE : old_slots[neighbour] - 1;  // of a slot that is 0, NOWHERE too
        const u64 word = 32ull * __shfl_sync(FULL_WARP, neighbour, ITSELF) + lane;
        const u32 closed = touched[word];
        __syncwarp();
        if (place.beside_mirror(s))
            each_row<1>(s, lane, [&](u32 r, i32 du, i32 dv) { windows[r] = mirrored_window(s, place, surroundings, du, dv); });
        else
            each_row<4>(s, lane, [&](u32 r, i32 du, i32 dv) { windows[r] = window(s, surroundings, du, dv); });
        __syncwarp();
        const i32 parity = s.parity(u, v);
        u32 once = 0, twice = 0;
        const auto touch = [&](i32 offset) {
            const u32 toucher = static_cast<u32>(own_window[offset >> 16] >> (offset >> 8 * parity & 0xff));
            twice |= once & toucher;
            once |= toucher;
        };
#ifdef OFFSETS
        constexpr i32 compiled[] = {OFFSETS};
#pragma unroll
        for (const i32 offset : compiled) touch(offset);
        static_cast<void>(offsets), static_cast<void>(offset_count);
#else
        for (u32 o = 0; o < offset_count; ++o) touch(offsets[o]);
#endif
        const u32 born = once & ~twice & ~closed;
        if ((once & ~closed) != 0) touched[word] = closed | once;
        born_now[32 * i + lane] = born;
        const bool reached = herald.reached(born) && neighbour < owned;  // neither NOWHERE nor of the halo
        rings.enter(generation + 1, lane, reached, reached ? neighbour : 0,
                    pack(place.u + herald.du, place.v + herald.dv, place.w + herald.dw));
        if (born == 0) continue;
        const i32 w = 32 * s.step() * place.w + parity;
        const u64 start = mix_0 + mix_u * static_cast<u64>(u) + mix_v * static_cast<u64>(v) + mix_w * static_cast<u64>(w);
        if (section.axes != 0) in_section += section.count(s, born, u, v, w);
        const u64 stride = mix_w * static_cast<u64>(s.step());
        u32 bits = born;
        if (w == 0 && (born & 1u) != 0) {              // the one cell that may lie on the mirror w = 0
            const u32 size = orbit(s, u, v, true);
            count += size;
            sum += size * mix64(start);
            bits &= ~1u;
        }
        const u32 size = orbit(s, u, v, false);
        count += static_cast<u64>(size * static_cast<u32>(__popc(bits)));
        for (; bits != 0; bits &= bits - 1)
            sum += size * mix64(start + stride * (static_cast<u32>(__ffs(static_cast<i32>(bits))) - 1));
    }

    const u64* const stale = rings.list_of(generation + 2);
    if (generation >= 2) {
        const u32 wiped = rings.count_of(generation - 2);
        for (u64 i = global_thread(); i < wiped; i += global_threads()) {
            const Place place(stale[i]);
            rings.slots_of(generation + 2)[s.brick(place.u, place.v, place.w)] = 0;
        }
    }
    add_sums(reports + 3ull * generation, count, sum, in_section);
}

// The last launch of a batch: the clock tells the last generation that is done.
extern "C" __global__ void __launch_bounds__(32) exactly_one_tick(u32* clock, u32 generations) {
    if (global_thread() == 0) *clock += generations;
}

namespace {

// Enter the owned neighbours that the newborns of the brick at `place` reach into the list of generation n.  All lanes of the warp
// must call it.
__device__ __forceinline__ void enter_reached(const Shape& s, const Rings& rings, const Herald& herald, u32 n, u32 lane,
                                              const Place& place, u32 born) {
    const bool reached = herald.reached(born);
    const i32 u = place.u + herald.du, v = place.v + herald.dv, w = place.w + herald.dw;
    const u32 neighbour = reached ? s.brick(u, v, w) : NOWHERE;
    const bool wanted = neighbour < rings.owned;
    rings.enter(n, lane, wanted, wanted ? neighbour : 0, pack(u, v, w));
}

}  // namespace

// Begin with `generation`, whose list and newborns the host has laid, the seeds or those of a saved state: touch them, tell their
// slots, and make list `generation` + 1.
extern "C" __global__ void __launch_bounds__(128, 8)
exactly_one_lay(const i32* __restrict__ columns, i32 columns_u, i32 columns_v, u32 log_v, i32 reach_u, i32 reach_v, i32 reach_k,
                u32 flags, u32* __restrict__ touched, u32* newborn, u32* slots, u64* lists, u32* counts, u64 bricks, u32 capacity,
                u32 owned, u32 generation) {
    const Shape s SHAPE;
    const Rings rings{newborn, slots, lists, counts, bricks, capacity, owned};
    const u32 lane = threadIdx.x & 31u;
    const Herald herald(s, lane);
    const u32 listed = rings.count_of(generation);
    for (u64 i = global_thread() >> 5; i < listed; i += global_threads() >> 5) {
        const Place place(rings.list_of(generation)[i]);
        const u32 brick = s.brick(place.u, place.v, place.w), born = rings.newborn_of(generation)[32 * i + lane];
        touched[32ull * brick + lane] |= born;
        if (lane == 0) rings.slots_of(generation)[brick] = static_cast<u32>(i) + 1;
        enter_reached(s, rings, herald, generation + 1, lane, place, born);
    }
}

// A part, what one rank sends to another: the number of its entries, these, and words.  An entry is a brick's place in two numbers,
// the rows of the brick that are sent, a bit each, and where their words begin.
namespace {

constexpr u32 ENTRY = 4;                           // numbers of an entry

// Count, or write, the rows of a brick that are sent to a rank.  counted[2t] and counted[2t + 1] are the entries and the words for rank
// t, counted up, and down again as they are written: part t begins at starts[2t] of parts, its words at starts[2t + 1].
struct Sending {
    const u64* starts;
    u32* counted;
    u32* parts;
    bool writes;

    // All lanes of the warp must call it, each with its row of the brick.
    __device__ __forceinline__ void send(i32 rank, u64 place, u32 rows, u32 lane, u32 born) const {
        if (rows == 0) return;
        const u32 words = static_cast<u32>(__popc(rows));
        u32* const mine = counted + static_cast<i64>(2 * rank);
        u32 entry = 0, word = 0;
        if (lane == 0) {
            entry = atomicAdd(mine, writes ? ~0u : 1u) - 1;
            word = atomicAdd(mine + 1, writes ? 0u - words : words) - words;
        }
        if (!writes) return;
        entry = __shfl_sync(FULL_WARP, entry, 0);
        word = __shfl_sync(FULL_WARP, word, 0);
        const u64 first = starts[2ll * rank], first_word = starts[2ll * rank + 1];
        const u32 field = lane == 0   ? static_cast<u32>(place)
                          : lane == 1 ? static_cast<u32>(place >> 32)
                          : lane == 2 ? rows
                                      : word;
        if (lane < ENTRY) parts[first + 1 + ENTRY * static_cast<u64>(entry) + lane] = field;
        if (lane == 0 && entry == 0) parts[first] = static_cast<u32>((first_word - first - 1) / ENTRY);
        const u32 before = static_cast<u32>(__popc(rows & ((1u << lane) - 1)));
        if ((rows >> lane & 1u) != 0) parts[first_word + word + before] = born;
    }
};

}  // namespace

// Send the newborns of `generation` that are within reach of other ranks' slabs: owners[1 + i] is the owner of slab i, and beyond the
// first and the last it is this rank.  Without `writes` they are only counted.  counted[2 ranks] is the length of the list.
extern "C" __global__ void __launch_bounds__(128, 8)
exactly_one_send(const i32* __restrict__ columns, i32 columns_u, i32 columns_v, u32 log_v, i32 reach_u, i32 reach_v, i32 reach_k,
                 u32 flags, const u32* __restrict__ newborn, const u64* __restrict__ lists, const u32* __restrict__ counts, u32 capacity,
                 u32 generation, const i32* __restrict__ owners, i32 rank, i32 ranks, const u64* __restrict__ starts, u32* counted,
                 u32* __restrict__ parts, u32 writes) {
    const Shape s SHAPE;
    const u32 lane = threadIdx.x & 31u, listed = counts[generation] < capacity ? counts[generation] : capacity;
    if (global_thread() == 0) counted[2ll * ranks] = counts[generation];
    const bool in_space = s.is(SPATIAL);
    const i32 row_u = static_cast<i32>(lane >> s.log_v), row_v = static_cast<i32>(lane & ((1u << s.log_v) - 1));
    const i32 across = in_space ? row_u : row_v, reach = in_space ? s.reach_u : s.reach_v;
    const i32 width = 1 << (in_space ? s.log_u() : s.log_v);
    const u64* const list = lists + static_cast<u64>(capacity) * (generation & 3);
    const u32* const born_now = newborn + 32ull * capacity * (generation & 1);
    const Sending sending{starts, counted, parts, writes != 0};
    for (u64 i = global_thread() >> 5; i < listed; i += global_threads() >> 5) {
        const Place place(list[i]);
        const i32 slab = in_space ? place.u : place.v, below = owners[slab], above = owners[slab + 2];
        if (below == rank && above == rank) continue;
        const u32 born = born_now[32 * i + lane];
        u32 to_below = __ballot_sync(FULL_WARP, below != rank && born != 0 && across < reach);
        u32 to_above = __ballot_sync(FULL_WARP, above != rank && born != 0 && across >= width - reach);
        if (below == above) {
            to_below |= to_above;
            to_above = 0;
        }
        sending.send(below, list[i], to_below, lane, born);
        sending.send(above, list[i], to_above, lane, born);
    }
}

// Put what other ranks sent of `generation`, whose list has `listed` bricks, at the end of the list, and what it reaches into the next
// list.  The parts begin at starts[0] ... of `parts`.
extern "C" __global__ void __launch_bounds__(128, 8)
exactly_one_receive(const i32* __restrict__ columns, i32 columns_u, i32 columns_v, u32 log_v, i32 reach_u, i32 reach_v, i32 reach_k,
                    u32 flags, u32* newborn, u32* slots, u64* lists, u32* counts, u64 bricks, u32 capacity, u32 owned, u32 generation,
                    u32 listed, const u64* __restrict__ starts, u32 part_count, const u32* __restrict__ parts) {
    const Shape s SHAPE;
    const Rings rings{newborn, slots, lists, counts, bricks, capacity, owned};
    const u32 lane = threadIdx.x & 31u;
    const Herald herald(s, lane);
    u32 before = listed;
    for (u32 p = 0; p < part_count; ++p) {
        const u32* const part = parts + starts[p];
        const u32 entries = part[0];
        for (u64 i = global_thread() >> 5; i < entries; i += global_threads() >> 5) {
            const u64 at = before + i;
            if (at >= capacity) break;                 // the count tells the host
            const u32* const entry = part + 1 + ENTRY * i;
            const u32* const words = part + 1 + ENTRY * static_cast<u64>(entries) + entry[3];
            const u64 packed = static_cast<u64>(entry[1]) << 32 | entry[0];
            const u32 rows = entry[2];
            const u32 born = (rows >> lane & 1u) != 0 ? words[__popc(rows & ((1u << lane) - 1))] : 0u;
            const Place place(packed);
            rings.newborn_of(generation)[32 * at + lane] = born;
            if (lane == 0) {
                rings.list_of(generation)[at] = packed;
                rings.slots_of(generation)[s.brick(place.u, place.v, place.w)] = static_cast<u32>(at) + 1;
            }
            enter_reached(s, rings, herald, generation + 1, lane, place, born);
        }
        before += entries;
    }
    if (global_thread() == 0) counts[generation] = before;
}
