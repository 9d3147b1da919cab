// Exactly-one growth in two and three dimensions: bricks of bits, one lane a word of 64, one launch a generation.
//
// Rule.  A dead cell is born when exactly one of the cells that touch it is alive.  Alive cells never go away, so the first
// generation that touches a cell decides it: one toucher, and it is born; more, and it never is.  What is known of a cell is
// one bit, touched; what a generation needs of the last one is one bit, newborn.
//
// Layout (gpu_nim/backends/shared/brick_grid.py).  A brick is 8 x 8 x 8 sites, in the plane 16 x 1 x 16, as 4 or 8 words of 64 bits, of
// 4 x 4 x 8 sites where coordinate sums are even, 4 x 4 x 4 of another lattice, 8 x 1 x 8 of the plane.  Bit (x, y, k) of a word is
// 16 x + 4 y + k, in the plane 8 x + k; where sums are even, k is every second z: that of parity x + y.  Bricks are numbered column by
// column: columns[3c] + z is the number of brick z of column c, for z from columns[3c+1] to columns[3c+2] - 1.  `touched` has the words
// of each brick.  Newborns are kept for listed bricks alone: list n holds the bricks in which generation n can touch anything, its
// newborns are the words of the brick's position in newborn plane n % 2, and slots n % 2 say where in list n a brick with newborns
// stands.  incoming n % 2 has a bit for each of the 27 bricks around a brick, itself among them, that has newborns of n - 1 which reach
// it: whoever sets the first one lists the brick, and the brick clears them all.  So only neighbours with newborns are read, and
// nothing is stale.
//
// A generation.  A lane gathers the words around its own, and takes of them the newborns at each offset: a shift along x, then y, then
// z, of a word and the one beyond it.  once |= toucher and twice |= once & toucher count touches up to two; the newborns are
// once & ~twice & ~touched, and once is added to touched.
//
// A turn.  A warp takes 8 listed bricks of 4 words, or 4 of 8, and deals out what is to be done, bit by bit.  The lanes of a brick take
// the known bits of `incoming` in turn, and put these bricks' slots into shared memory; where no newborns are known the slot is that of a
// row of zeros behind both planes, so that all words are loaded alike.  Births of the warp queue in shared memory and are mixed 32 at a
// time, where they also tell which bricks they reach.  The lanes of a brick take these in turn, enter them, and what the warp enters is
// appended to the list at once.  A warp's queue and the bricks that it enters have the same room, one after the other.
//
// Walls (gpu_nim/backends/shared/brick_grid.py).  Of a growth with symmetry only the domain x >= y >= z is kept.  A cell near one of its
// walls has touchers by its distances from them, its class, and is decided bit by bit.  Bricks with such cells are at the end of
// their list, so that no warp waits for another brick.
//
// Bytes.  A brick with newborns is read by those of its neighbours that these reach, 4.4 for `edge`.  A listed brick of 256 cells reads
// 32 bytes of `touched` and writes them back, writes 32 of newborns, and lists 8: for 8.2 births of `edge`, as orbits.
#include "common.cuh"

namespace {

// Blocks that a multiprocessor is to hold, by which registers are bounded: 80 where a rule's numbers are constants and take none.
#ifdef OFFSETS
constexpr u32 RESIDENT = 6;
#else
constexpr u32 RESIDENT = 5;
#endif

constexpr u32 SPATIAL = 1, PACKED = 2, WALLED = 4;  // bits of `flags`
constexpr u32 NOWHERE = 0xffffffffu;
constexpr u32 NEIGHBOURS = 27, ALL = (1u << NEIGHBOURS) - 1;
constexpr u32 FIELD = 21;                          // bits of a brick's coordinate in a list
constexpr u32 THREADS = 128;
constexpr u32 ROOM = 32 / 4 * NEIGHBOURS, QUEUE = 4 * ROOM;  // of a warp: bricks that it enters, or births that it deals
constexpr u64 EVEN = 0xf0f00f0ff0f00f0full;        // the rows of a packed word in which x + y is even

struct Site {
    i32 x, y, z;
};

__device__ __forceinline__ Site neighbour(const Site& brick, u32 k) {
    const u32 row = k / 3;
    return {brick.x + static_cast<i32>(row / 3) - 1, brick.y + static_cast<i32>(row % 3) - 1, brick.z + static_cast<i32>(k % 3) - 1};
}

__device__ __forceinline__ u32 lowest(u32 bits) { return static_cast<u32>(__ffs(static_cast<i32>(bits)) - 1); }
__device__ __forceinline__ u32 lowest(u64 bits) { return static_cast<u32>(__ffsll(static_cast<i64>(bits)) - 1); }

// Bits without the COUNT lowest of those that are set.
template <u32 COUNT>
__device__ __forceinline__ u32 without(u32 bits) {
#pragma unroll
    for (u32 k = 0; k < COUNT; ++k) bits &= bits - 1;
    return bits;
}

__device__ __forceinline__ u64 pack(const Site& brick) {
    return static_cast<u64>(brick.x) << 2 * FIELD | static_cast<u64>(brick.y) << FIELD | static_cast<u32>(brick.z);
}

__device__ __forceinline__ Site unpack(u64 packed) {
    constexpr u32 MASK = (1u << FIELD) - 1;
    return {static_cast<i32>(packed >> 2 * FIELD), static_cast<i32>(packed >> FIELD & MASK), static_cast<i32>(packed & MASK)};
}

// What the lanes of a brick share: the slots of the bricks around it, the digest's mix of its corner, the bricks that its newborns reach.
struct __align__(16) Common {
    u32 slots[32];                                 // in fours, of which 27 are read
    u64 start;
    u32 reached;
};

// From a brick to one beside it: in `columns`, in z, and in the number of a list.
struct __align__(16) Step {
    i32 column, z;
    u64 packed;
};

// How many bricks a step of -1, 0 or 1 words from word w goes along an axis on which a brick has 2^log words, one or two.
__device__ __forceinline__ i32 bricks_passed(i32 w, i32 step, u32 log) { return log == 0 || step == 0 ? step : step < 0 ? w - 1 : w; }

// A cell near a brick: the neighbour that it lies in, its word and its bit.
struct Place {
    u32 brick, word, bit;
};

// A growth, by value: how its bricks lie, its rule, and what each generation n reads and writes.
//
// Walls are those of the domain, or none.  Six numbers each: the factors of x, y and z in the distance from it; that of the corner of
// all bricks, in bricks; the distance of a brick from which on none of its cells is near; the distance of a cell that is not.
struct BrickGrowth {
    const i32* columns;
    const i32* wall_axes;
    const u64* wall_masks;                         // the cells of a brick near a wall, then those not beyond it, by wall and distance
    const i32* wall_first;                         // of the touches of each class
    const i32* wall_touches;                       // each in x, y, z, and 1 or 2 times
    const u32* orbits;                             // how many cells one of each class stands for
    const u32* reach;                              // the bricks that a newborn at each place touches
    const u64* mixed;                              // the digest's linear mix of each place, ...
    const i32* offsets;                            // (x + 8) << 16 | (y + 8) << 8 | z + 8
    u64 mix_x;                                     // ... that of x, y and z, and of the corner of all bricks
    u64 mix_y;
    u64 mix_z;
    u64 mix_0;
    u64* touched;
    u64* newborn;                                  // two planes, and a row of zeros
    u32* slots;
    u32* incoming;
    u64* lists;
    u32* counts;                                   // of each list: from its front, from its end
    u32* clock;                                    // the last generation that is done
    u64* reports;                                  // of each generation
    u64 bricks;
    u32 capacity;
    u32 owned;
    i32 across_y;                                  // columns from one x to the next
    u32 flags;
    u32 wall_span;                                 // distances in wall_masks
    u32 order;                                     // how many cells one far from walls stands for
    u32 offset_count;

    // A build for one rule has its flags and its offsets as constants, which say the same.
#ifdef OFFSETS
    __device__ __forceinline__ bool is(u32 flag) const { return (FLAGS & flag) != 0; }
    __device__ __forceinline__ i32 of_wall(u32 wall, u32 k) const {
        constexpr i32 compiled[] = {WALLS};
        return compiled[6 * wall + k];
    }
#else
    __device__ __forceinline__ bool is(u32 flag) const { return (flags & flag) != 0; }
    __device__ __forceinline__ i32 of_wall(u32 wall, u32 k) const { return wall_axes[6 * wall + k]; }
#endif
    // Binary logarithms: of a brick's sites along x and z, of a word's along x, y, and of its bits along z.
    __device__ __forceinline__ u32 log_brick() const { return is(SPATIAL) ? 3 : 4; }
    __device__ __forceinline__ u32 log_brick_y() const { return is(SPATIAL) ? 3 : 0; }
    __device__ __forceinline__ u32 log_x() const { return is(SPATIAL) ? 2 : 3; }
    __device__ __forceinline__ u32 log_y() const { return is(SPATIAL) ? 2 : 0; }
    __device__ __forceinline__ u32 log_z() const { return is(SPATIAL) ? 2 : 3; }
    // The words of a brick along y and z; along x there are two.
    __device__ __forceinline__ u32 log_words_y() const { return is(SPATIAL) ? 1 : 0; }
    __device__ __forceinline__ u32 log_words_z() const { return is(PACKED) ? 0 : 1; }
    __device__ __forceinline__ u32 log_words() const { return 1 + log_words_y() + log_words_z(); }
    __device__ __forceinline__ u32 words() const { return 1u << log_words(); }

    __device__ __forceinline__ u32 word_at(i32 x, i32 y, i32 z) const {
        return (static_cast<u32>(x & 1) << log_words_y() | static_cast<u32>(y & ((1 << log_words_y()) - 1))) << log_words_z() |
               static_cast<u32>(z & ((1 << log_words_z()) - 1));
    }
    // Where a word is in its brick, in words.
    __device__ __forceinline__ Site of_word(u32 word) const {
        return {static_cast<i32>(word >> (log_words_y() + log_words_z())),
                static_cast<i32>(word >> log_words_z() & ((1u << log_words_y()) - 1)),
                static_cast<i32>(word & ((1u << log_words_z()) - 1))};
    }
    // The site of a bit of a word, counted from the corner of the brick.
    __device__ __forceinline__ Site site(u32 word, u32 bit) const {
        const Site w = of_word(word);
        const i32 x = w.x << log_x() | static_cast<i32>(bit >> (log_y() + log_z()));
        const i32 y = w.y << log_y() | static_cast<i32>(bit >> log_z() & ((1u << log_y()) - 1));
        const i32 k = static_cast<i32>(bit & ((1u << log_z()) - 1));
        return {x, y, is(PACKED) ? 2 * k + ((x + y) & 1) : w.z << log_z() | k};
    }
    // The same of a site that is less than a brick away from the brick.
    __device__ __forceinline__ Place place(i32 x, i32 y, i32 z) const {
        const u32 brick = static_cast<u32>(9 * ((x >> log_brick()) + 1) + 3 * ((y >> log_brick_y()) + 1) + (z >> log_brick()) + 1);
        const i32 k = is(PACKED) ? (z & 7) >> 1 : z;
        const u32 bit = (static_cast<u32>(x & ((1 << log_x()) - 1)) << log_y() | static_cast<u32>(y & ((1 << log_y()) - 1))) << log_z() |
                        static_cast<u32>(k & ((1 << log_z()) - 1));
        return {brick, word_at(x >> log_x(), y >> log_y(), k >> log_z()), bit};
    }
    // Where in `columns` a brick's column is, and the brick's number there, which it has or NOWHERE; bricks beside the outermost columns
    // have none.
    __device__ __forceinline__ const i32* column_of(const Site& brick) const {
        const u32 at = 3u * static_cast<u32>((brick.x + 1) * across_y + brick.y + 1);  // of 2^28 columns at the most
        return columns + at;
    }
    __device__ __forceinline__ static u32 numbered(const i32* column, i32 z) { return static_cast<u32>(*column) + static_cast<u32>(z); }
    __device__ __forceinline__ static u32 number(const i32* column, i32 z) {
        const i32 least = column[1], beyond = column[2];
        return numbered(column, z) | (z >= least && z < beyond ? 0 : NOWHERE);
    }
    // The steps to the bricks around one, by their directions.  All threads of a block must call it.
    __device__ __forceinline__ void lay_steps(Step* steps) const {
        if (threadIdx.x < NEIGHBOURS) {
            const Site by = neighbour({0, 0, 0}, threadIdx.x);
            steps[threadIdx.x] = {3 * (by.x * across_y + by.y), by.z,
                                  (static_cast<u64>(by.x) << 2 * FIELD) + (static_cast<u64>(by.y) << FIELD) + static_cast<u64>(by.z)};
        }
        __syncthreads();
    }

    __device__ __forceinline__ i32 along(u32 wall, const Site& site) const {
        return of_wall(wall, 0) * site.x + of_wall(wall, 1) * site.y + of_wall(wall, 2) * site.z;
    }
    __device__ __forceinline__ i32 apart(u32 wall, const Site& brick) const { return of_wall(wall, 3) + along(wall, brick); }
    // Whether a brick has cells near a wall, or would have them if it were so many bricks nearer.
    __device__ __forceinline__ bool beside(const Site& brick, i32 nearer = 0) const {
        return is(WALLED) && (apart(0, brick) < of_wall(0, 4) + nearer || apart(1, brick) < of_wall(1, 4) + nearer ||
                              apart(2, brick) < of_wall(2, 4) + nearer);
    }
    // The cells of a word that are near a wall, and those that are not; none that are beyond one.
    __device__ __forceinline__ void cells(const Site& brick, u32 word, u64& near, u64& far) const {
        near = 0, far = ~0ull;
        if (beside(brick)) {
#pragma unroll
            for (u32 wall = 0; wall < 3; ++wall) {
                const i32 distance = apart(wall, brick), last = of_wall(wall, 4);
                const u32 row = wall * wall_span + static_cast<u32>(distance < last ? distance : last);
                near |= wall_masks[words() * row + word];
                far &= wall_masks[words() * (row + 3 * wall_span) + word];
            }
            near &= far;
            far &= ~near;
        }
    }
    __device__ __forceinline__ u32 kind(const Site& brick, const Site& site) const {
        i32 kind = 0;
#pragma unroll
        for (u32 wall = 0; wall < 3; ++wall) {
            const i32 distance = apart(wall, brick) * (1 << log_brick()) + along(wall, site), last = of_wall(wall, 5);
            kind = kind * (last + 1) + (distance < last ? distance : last);
        }
        return static_cast<u32>(kind);
    }

    __device__ __forceinline__ u64* newborn_of(u32 n) const { return newborn + words() * static_cast<u64>(capacity) * (n & 1); }
    __device__ __forceinline__ u32* slots_of(u32 n) const { return slots + bricks * (n & 1); }
    __device__ __forceinline__ u32* incoming_of(u32 n) const { return incoming + static_cast<u64>(owned) * (n & 1); }
    __device__ __forceinline__ u64* list_of(u32 n) const { return lists + static_cast<u64>(capacity) * (n & 1); }
    // A count beyond the capacity is what tells the host that the list overflowed.
    __device__ __forceinline__ u32 front_of(u32 n) const { return counts[2ull * n] < capacity ? counts[2ull * n] : capacity; }
    __device__ __forceinline__ u32 count_of(u32 n) const {
        const u32 front = front_of(n), back = counts[2ull * n + 1];
        return back < capacity - front ? front + back : capacity;
    }
    // Where the i-th brick of a list stands of which so many are in front.
    __device__ __forceinline__ u32 position(u32 front, u32 i) const { return i < front ? i : capacity - 1 - (i - front); }

    // Set bits, on which the lanes of a brick agree, are dealt to them in turn: a lane's own is the lowest of those left, then of those
    // left when it has taken that.
    __device__ __forceinline__ u32 dealt(u32 bits, u32 word) const {
        if ((word & 1) != 0) bits = without<1>(bits);
        if ((word & 2) != 0) bits = without<2>(bits);
        return (word & 4) != 0 ? without<4>(bits) : bits;
    }
    __device__ __forceinline__ u32 taken(u32 bits) const { return words() == 4 ? without<4>(bits) : without<8>(bits); }

    // Enter into list n the owned neighbours of a brick that newborns of its reach, a bit each.  The lanes of a brick must agree on them,
    // and all lanes of the warp must call it, with the block's steps and the warp's room.  A call appends to the front of the list once.
    __device__ __forceinline__ void enter(u32 n, u32 lane, const Site& brick, u32 reached, const Step* steps, u64* room) const {
        const bool close = beside(brick, 2);       // a step takes it two bricks nearer to a wall at the most
        const i32* const column = column_of(brick);
        u32 entered = 0;
#pragma unroll 1
        for (u32 left = dealt(reached, lane & (words() - 1)); __any_sync(FULL_WARP, left != 0); left = taken(left)) {
            const u32 k = left != 0 ? lowest(left) : NEIGHBOURS / 2;
            const Step step = steps[k];
            const u32 listed = number(column + step.column, brick.z + step.z);
            const bool won = left != 0 && listed < owned && atomicOr(incoming_of(n) + listed, 1u << (NEIGHBOURS - 1 - k)) == 0;
            const u64 other = pack(brick) + step.packed;
            const bool walled = close && beside(unpack(other));
            const u32 winners = __ballot_sync(FULL_WARP, won && !walled);
            if (won && !walled) room[entered + static_cast<u32>(__popc(winners & ((1u << lane) - 1)))] = other;
            if (won && walled) {
                const u32 back = atomicAdd(counts + 2ull * n + 1, 1u);
                if (back < capacity) list_of(n)[capacity - 1 - back] = other;
            }
            entered += static_cast<u32>(__popc(winners));
        }
        if (entered != 0) {
            u32 front = 0;
            if (lane == 0) front = atomicAdd(counts + 2ull * n, entered);
            front = __shfl_sync(FULL_WARP, front, 0);
            __syncwarp();
#pragma unroll 1
            for (u32 k = lane; k < entered; k += 32)
                if (front + k < capacity) list_of(n)[front + k] = room[k];
            __syncwarp();
        }
    }
};

// The bits of one word where a mask is set, and of another elsewhere.
__device__ __forceinline__ u64 pick(u64 mask, u64 set, u64 clear) {
    constexpr u32 PICK = 0xca;
    const u32 low = lop3<PICK>(static_cast<u32>(mask), static_cast<u32>(set), static_cast<u32>(clear));
    const u32 high = lop3<PICK>(static_cast<u32>(mask >> 32), static_cast<u32>(set >> 32), static_cast<u32>(clear >> 32));
    return static_cast<u64>(high) << 32 | low;
}

// The bits of a word moved by `by` along blocks of `block` bits: bit i is bit i + by of its block, or of the block beyond it.
__device__ __forceinline__ u64 moved(u64 own, u64 beyond, i32 by, u32 block) {
    const u32 shift = static_cast<u32>(by < 0 ? -by : by);
    if (shift == 0) return own;
    if (shift == block) return beyond;
    const u64 blocks = block == 64 ? 1ull : ~0ull / ((1ull << block) - 1);
    const u64 low = blocks * ((1ull << shift) - 1), high = low << (block - shift);
    return by < 0 ? pick(low, beyond >> (block - shift), own << shift) : pick(high, beyond << (block - shift), own >> shift);
}

// The newborns that are `offset` before each cell of a word; around(k) is the word in direction k.
template <class Around>
__device__ __forceinline__ u64 touchers(const BrickGrowth& g, Around around, i32 offset) {
    const i32 x = 8 - (offset >> 16), y = 8 - (offset >> 8 & 0xff), z = 8 - (offset & 0xff);
    const i32 side_x = x < 0 ? -1 : x > 0, side_y = y < 0 ? -1 : y > 0, side_z = z < 0 ? -1 : z > 0;
    const u32 step_x = 1u << (g.log_y() + g.log_z()), step_y = 1u << g.log_z();
    u64 rows[2];
#pragma unroll
    for (i32 above = 0; above < 2; ++above) {
        const i32 at = 13 + above * side_z;
        const u64 own = moved(around(at), around(at + 9 * side_x), x * static_cast<i32>(step_x), 64);
        const u64 beyond = moved(around(at + 3 * side_y), around(at + 9 * side_x + 3 * side_y), x * static_cast<i32>(step_x), 64);
        rows[above] = moved(own, beyond, y * static_cast<i32>(step_y), step_x);
    }
    if (!g.is(PACKED)) return moved(rows[0], rows[1], z, step_y);
    // The bits of rows of one parity have sites of the other at an odd distance.
    const u64 even = moved(rows[0], rows[1], (z - (z & 1)) / 2, step_y);
    return (z & 1) == 0 ? even : pick(EVEN, even, moved(rows[0], rows[1], (z + 1) / 2, step_y));
}

// The neighbours that newborns of a word reach, a bit each.
__device__ __forceinline__ u32 reached_by(const BrickGrowth& g, u32 word, u64 born, u64 near) {
    u32 reached = (born & near) != 0 ? ALL : 0;
    for (u64 left = born & ~near; left != 0; left &= left - 1) reached |= g.reach[word << 6 | lowest(left)];
    return reached;
}

// Over the lanes of a brick.
__device__ __forceinline__ u32 any_of_brick(const BrickGrowth& g, u32 bits) {
    for (u32 distance = 1; distance < g.words(); distance *= 2) bits |= __shfl_xor_sync(FULL_WARP, bits, static_cast<int>(distance));
    return bits;
}

}  // namespace

// Grow generation n = clock[0] + 1 + step from the one before: add its births, orbit by orbit, to reports[3n], their mixes to
// reports[3n + 1], and to reports[3n + 2] those that lie in the section, for each coordinate, a bit of section_axes, that is
// section_level.  NEEDED has a bit for each of the words around one that the offsets need.
extern "C" __global__ void __launch_bounds__(128, RESIDENT)
exactly_one_grow(const BrickGrowth g, u32 step, u32 section_axes, i32 section_level) {
    const u32 generation = *g.clock + 1 + step, lane = threadIdx.x & 31u, word = lane & (g.words() - 1);
    __shared__ u64 rooms[THREADS / 32][ROOM];
    __shared__ Common commons[THREADS / 4];
    __shared__ Step steps[NEIGHBOURS];
    g.lay_steps(steps);
    u64* const room = rooms[threadIdx.x >> 5];
    u16* const queue = reinterpret_cast<u16*>(room);
    Common& own = commons[threadIdx.x >> g.log_words()];
    Common* const of_warp = commons + ((threadIdx.x & ~31u) >> g.log_words());
    const u32 none = g.capacity * (1 + (generation & 1u));  // the row of zeros, from the old plane on
    const Site own_word = g.of_word(word);
    const u64* old_newborn = g.newborn_of(generation - 1);
    KEEP(old_newborn);
    const u32* const old_slots = g.slots_of(generation - 1);
    const u32 listed = g.count_of(generation), front = g.front_of(generation);
    const u64 turn = global_threads() >> g.log_words();
    u64 count = 0, sum = 0, far_count = 0, far_sum = 0, in_section = 0;

    for (u64 first = (global_thread() & ~31ull) >> g.log_words(); first < listed; first += turn) {
        const u64 i = first + (lane >> g.log_words());
        const bool some = i < listed;
        const u32 at = some ? g.position(front, static_cast<u32>(i)) : 0;
        const Site brick = some ? unpack(g.list_of(generation)[at]) : Site{0, 0, 0};
        const i32* const column = g.column_of(brick);
        const u32 number = some ? g.numbered(column, brick.z) : 0;
        u32* const own_incoming = g.incoming_of(generation) + number;
        const u32 known = some ? *own_incoming : 0;
        const u64 at_word = static_cast<u64>(number) << g.log_words() | word;
        const u64 closed = some ? g.touched[at_word] : ~0ull;

#pragma unroll
        for (u32 k = 0; k < 8; k += g.words())
            reinterpret_cast<ulonglong2*>(own.slots)[k | word] = {none | static_cast<u64>(none) << 32, none | static_cast<u64>(none) << 32};
        if (word == 0) {
            own.start = g.mix_0 + (static_cast<u64>(brick.x) << g.log_brick()) * g.mix_x +
                        (static_cast<u64>(brick.y) << g.log_brick_y()) * g.mix_y + (static_cast<u64>(brick.z) << g.log_brick()) * g.mix_z;
            own.reached = 0;
        }
        __syncwarp();
#pragma unroll 1
        for (u32 left = g.dealt(known, word); left != 0; left = g.taken(left))
            own.slots[lowest(left)] = old_slots[g.numbered(column + steps[lowest(left)].column, brick.z + steps[lowest(left)].z)];
        __syncwarp();
        const auto newborns_of = [&](u32 k, u32 w) {
            const u64* of_words = old_newborn + w;
            KEEP(of_words);                        // or it takes two more instructions to add it to each slot
            return of_words[static_cast<u64>(own.slots[k]) << g.log_words()];
        };
        const auto load = [&](i32 k) {
            const i32 x = k / 9 - 1, y = k / 3 % 3 - 1, z = k % 3 - 1;
            const i32 beside = 13 + 9 * bricks_passed(own_word.x, x, 1) + 3 * bricks_passed(own_word.y, y, g.log_words_y()) +
                               bricks_passed(own_word.z, z, g.log_words_z());
            return newborns_of(static_cast<u32>(beside), word ^ g.word_at(x, y, z));
        };
        u64 once = 0, twice = 0;
        const auto touch = [&](u64 toucher) {
            twice |= once & toucher;
            once |= toucher;
        };
#ifdef OFFSETS
        u64 around[NEIGHBOURS];
#pragma unroll
        for (i32 k = 0; k < static_cast<i32>(NEIGHBOURS); ++k) around[k] = (NEEDED >> k & 1) != 0 ? load(k) : 0;
        constexpr i32 compiled[] = {OFFSETS};
#pragma unroll
        for (const i32 offset : compiled) touch(touchers(g, [&](i32 k) { return around[k]; }, offset));
#else
        for (u32 o = 0; o < g.offset_count; ++o) touch(touchers(g, load, g.offsets[o]));
#endif
        u64 near, far;
        g.cells(brick, word, near, far);
        once &= far;
        for (u64 left = near & ~closed; left != 0; left &= left - 1) {
            const u32 bit = lowest(left);
            const Site site = g.site(word, bit);
            const u32 kind = g.kind(brick, site);
            i32 times = 0;
            for (i32 t = g.wall_first[kind]; t < g.wall_first[kind + 1]; ++t) {
                const i32* const touch_of = g.wall_touches + 4ll * t;
                const Place place = g.place(site.x + touch_of[0], site.y + touch_of[1], site.z + touch_of[2]);
                if ((newborns_of(place.brick, place.word) >> place.bit & 1u) != 0) times += touch_of[3];
            }
            if (times != 0) once |= 1ull << bit;
            if (times > 1) twice |= 1ull << bit;
        }
        const u64 born = once & ~twice & ~closed;
        if ((once & ~closed) != 0) g.touched[at_word] = closed | once;
        if (some) {
            g.newborn_of(generation)[static_cast<u64>(at) << g.log_words() | word] = born;
            if (word == 0) {
                g.slots_of(generation)[number] = at;
                *own_incoming = 0;
            }
        }

        // Births near a wall, in a growth with a section, or so many that they have no room in the queue are their own lane's.
        u32 before = static_cast<u32>(__popcll(born & ~near)), births = before;
#pragma unroll
        for (u32 distance = 1; distance < 32; distance *= 2) {
            const u32 other = __shfl_up_sync(FULL_WARP, before, distance);
            if (lane >= distance) before += other;
        }
        const u32 queued = __shfl_sync(FULL_WARP, before, 31);
        const bool in_queue = section_axes == 0 && queued <= QUEUE;
        for (u64 left = in_queue ? born & near : born; left != 0; left &= left - 1) {
            const u32 bit = lowest(left);
            const Site site = g.site(word, bit);
            const bool walled = (near >> bit & 1u) != 0;
            const u32 size = walled ? g.orbits[g.kind(brick, site)] : g.order;
            count += size;
            sum += size * mix64(own.start + g.mixed[word << 6 | bit]);
            atomicOr(&own.reached, walled ? ALL : g.reach[word << 6 | bit]);
            const u32 times = ((section_axes & 1u) != 0 && (brick.x << g.log_brick()) + site.x == section_level) +
                              ((section_axes & 2u) != 0 && (brick.y << g.log_brick_y()) + site.y == section_level) +
                              ((section_axes & 4u) != 0 && (brick.z << g.log_brick()) + site.z == section_level);
            in_section += static_cast<u64>(size * times);
        }
        if (in_queue) {
            far_count += births;
            u16* to = queue + before - births;
            const u32 place = lane << 6;
            for (u32 left = static_cast<u32>(born & ~near); left != 0; left = without<1>(left))
                *to++ = static_cast<u16>(place | lowest(left));
            for (u32 left = static_cast<u32>((born & ~near) >> 32); left != 0; left = without<1>(left))
                *to++ = static_cast<u16>(place | 32u | lowest(left));
            __syncwarp();
#pragma unroll 1
            for (u32 k = lane; k < queued; k += 32) {
                const u32 place = queue[k] & ((64u << g.log_words()) - 1), of = static_cast<u32>(queue[k]) >> (6 + g.log_words());
                far_sum += mix64(of_warp[of].start + g.mixed[place]);
                atomicOr(&of_warp[of].reached, g.reach[place]);
            }
        }
        __syncwarp();
        g.enter(generation + 1, lane, brick, own.reached, steps, room);
    }
    add_sums(g.reports + 3ull * generation, count + far_count * g.order, sum + far_sum * g.order, in_section);
}

// The last launch of a batch: the clock tells the last generation that is done.
extern "C" __global__ void __launch_bounds__(32) exactly_one_tick(const BrickGrowth g, u32 generations) {
    if (global_thread() == 0) *g.clock += generations;
}

// Begin with `generation`, whose list and newborns the host has laid, the seeds or those of a saved state: touch them, tell their
// slots, and make list `generation` + 1.
extern "C" __global__ void __launch_bounds__(128, 8)
exactly_one_lay(const BrickGrowth g, u32 generation) {
    __shared__ u64 rooms[THREADS / 32][ROOM];
    __shared__ Step steps[NEIGHBOURS];
    g.lay_steps(steps);
    const u32 lane = threadIdx.x & 31u, word = lane & (g.words() - 1), listed = g.count_of(generation);
    const u64 turn = global_threads() >> g.log_words();
    for (u64 first = (global_thread() & ~31ull) >> g.log_words(); first < listed; first += turn) {
        const u64 i = first + (lane >> g.log_words());
        const bool some = i < listed;
        const Site brick = some ? unpack(g.list_of(generation)[i]) : Site{0, 0, 0};
        const u64 born = some ? g.newborn_of(generation)[i << g.log_words() | word] : 0;
        if (some) {
            const u32 number = g.numbered(g.column_of(brick), brick.z);
            g.touched[static_cast<u64>(number) << g.log_words() | word] |= born;
            if (word == 0) g.slots_of(generation)[number] = static_cast<u32>(i);
        }
        u64 near, far;
        g.cells(brick, word, near, far);
        g.enter(generation + 1, lane, brick, any_of_brick(g, reached_by(g, word, born, near)), steps, rooms[threadIdx.x >> 5]);
    }
}

// Send the newborns of `generation` that touch other ranks' slabs: owners[1 + i] is the owner of slab i, and beyond the first and the
// last it is this rank; faces has the places of a brick whose newborns touch the slab below, and that above.  What one rank sends to
// another is of each brick its place in a list, and its words.  Without `writes` the bricks for rank r are only counted, in counted[r];
// with it they are written from starts[r] on, and counted down.  counted[ranks] is the length of the list.
extern "C" __global__ void __launch_bounds__(128, 8)
exactly_one_send(const BrickGrowth g, u32 generation, const u64* __restrict__ faces, const i32* __restrict__ owners, i32 rank, u32 ranks,
                 const u64* __restrict__ starts, u32* counted, u64* __restrict__ parts, u32 writes) {
    const u32 lane = threadIdx.x & 31u, word = lane & (g.words() - 1), listed = g.count_of(generation), front = g.front_of(generation);
    if (global_thread() == 0) counted[ranks] = listed;
    const u64* const list = g.list_of(generation);
    const u64* const born_now = g.newborn_of(generation);
    const u64 turn = global_threads() >> g.log_words();
    for (u64 first = (global_thread() & ~31ull) >> g.log_words(); first < listed; first += turn) {
        const u64 i = first + (lane >> g.log_words());
        const bool some = i < listed;
        const u32 at = some ? g.position(front, static_cast<u32>(i)) : 0;
        const u64 packed = some ? list[at] : 0;
        const i32 slab = unpack(packed).x, below = owners[slab], above = owners[slab + 2];
        const u64 born = some ? born_now[static_cast<u64>(at) << g.log_words() | word] : 0;
        u64 sent[2] = {below != rank ? born & faces[word] : 0, above != rank ? born & faces[g.words() + word] : 0};
        if (below == above) {
            sent[0] |= sent[1];
            sent[1] = 0;
        }
        for (u32 side = 0; side < 2; ++side) {
            const bool any = any_of_brick(g, sent[side] != 0) != 0;
            const i32 to = side == 0 ? below : above;
            u32 entry = 0;
            if (any && word == 0) entry = atomicAdd(counted + to, writes != 0 ? ~0u : 1u) - 1;
            entry = __shfl_sync(FULL_WARP, entry, static_cast<int>(lane - word));
            if (!any || writes == 0) continue;
            u64* const part = parts + starts[to] + static_cast<u64>(entry) * (1 + g.words());
            if (word == 0) part[0] = packed;
            part[1 + word] = sent[side];
        }
    }
}

// Put the newborns of `generation` in `arrived` bricks of other ranks, which fit, behind the front of the list, and what they reach into
// the next.
extern "C" __global__ void __launch_bounds__(128, 8)
exactly_one_receive(const BrickGrowth g, u32 generation, u32 arrived, const u64* __restrict__ parts) {
    const u32 lane = threadIdx.x & 31u, word = lane & (g.words() - 1);
    __shared__ u64 rooms[THREADS / 32][ROOM];
    __shared__ Step steps[NEIGHBOURS];
    g.lay_steps(steps);
    const u32 front = g.front_of(generation);
    const u64 turn = global_threads() >> g.log_words();
    for (u64 first = (global_thread() & ~31ull) >> g.log_words(); first < arrived; first += turn) {
        const u64 i = first + (lane >> g.log_words());
        const bool some = i < arrived;
        const u64* const part = parts + i * (1 + g.words());
        const Site brick = some ? unpack(part[0]) : Site{0, 0, 0};
        const u64 born = some ? part[1 + word] : 0;
        if (some) {
            const u32 at = front + static_cast<u32>(i);
            g.newborn_of(generation)[static_cast<u64>(at) << g.log_words() | word] = born;
            if (word == 0) g.slots_of(generation)[g.numbered(g.column_of(brick), brick.z)] = at;
        }
        u64 near, far;
        g.cells(brick, word, near, far);
        g.enter(generation + 1, lane, brick, any_of_brick(g, reached_by(g, word, born, near)), steps, rooms[threadIdx.x >> 5]);
    }
}
