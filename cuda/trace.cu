// Rays through sets of cells that tell of any cell the largest empty cube round it: a thread a ray; and cubes along
// cones in them, by which corners are darkened: a thread a place, all of whose cones it looks along.
//
// A ray is in cell c at distance t. Coordinates against which it moves are complemented, c -> -1 - c: aligned cubes stay aligned cubes,
// and all rays go up. With h the level of the empty cube round c, the last cell before its far sides is f = c | (2^h - 1), and side k is
// met at
//
//     t_k = ((f_k + 1 - E_k) - e_k) / d_k,
//
// where E, e is the start, a cell and a fraction. The ray goes on at the least t_k in cell f_k + 1 on that axis, and on the others in
// E + floor(e + t d), held between c and f.
//
// Invariant.  A coordinate never goes down and one goes up in each step, so a ray ends. A ray switches to coarser cubes, up to
// the level at which it is as wide as they are, only inside an empty one, so that it enters the next through a face.
//
// The result is that of gpu_nim/backends/numpy/trace.py to the last bit: double precision, rounded after each operation, none of them
// fused, in the same order.
//
// Layout.  Coordinates of n rays or places are three rows of n: neighbouring threads read neighbouring words.
//
// Bytes.  A ray is 73 bytes in and 34 out, and in between nothing for Nim; for bricks one word of 8 bytes a step and stage that it
// asks; for a tree 4 bytes a level that it descends, and then a word. A place is 49 bytes in and one a cone out.
#include "common.cuh"

namespace {

constexpr u32 THREADS = 128;
constexpr u32 START = 3;                           // the face of a ray that starts inside
constexpr i64 TOP = 62;                            // no cube is larger

// floor(log2(value)) of a positive double, and something far below 0 for 0.
__device__ __forceinline__ i64 exponent(f64 value) { return (__double_as_longlong(value) >> 52) - 1023; }

__device__ __forceinline__ i64 highest_bit(i64 value) { return 63 - __clzll(value); }

// The P-positions of Nim of generation first to last where p a + q b + r c <= 0.
struct Nim {
    i64 side_a;
    i64 side_b;
    i64 side_c;
    i64 first;
    i64 last;
    i64 p;
    i64 q;
    i64 r;
    i64 weight;                                    // the sum of the sizes of p, q and r

    static constexpr i64 corner_a = 0, corner_b = 0, corner_c = 0;

    // The level of the largest empty cube round a cell, -1 for a cell of the set.
    __device__ __forceinline__ i64 open(i64 a, i64 b, i64 c) const {
        const i64 born = a | b | c;
        i64 wrong = a ^ b ^ c;
        if (born > last) wrong |= born ^ last;
        if (born < first) wrong |= born ^ first;
        i64 level = highest_bit(wrong);
        if (weight != 0) {
            const i64 slack = p * a + q * b + r * c - 1;
            if (slack >= 0) level = max(level, highest_bit(slack / weight + 1));
        }
        return level;
    }

    // Whether the inequality fails in all of the cube of a level round a cell: at its corner with the least sum.
    __device__ __forceinline__ bool excluded(i64 a, i64 b, i64 c, i64 level) const {
        if (weight == 0) return false;
        const i64 side = (1ll << min(level, TOP)) - 1;
        return p * corner(a, p, side) + q * corner(b, q, side) + r * corner(c, r, side) > 0;
    }

    __device__ __forceinline__ static i64 corner(i64 x, i64 n, i64 side) { return n < 0 ? x | side : x & ~side; }
};

// A pyramid of bricks of 4 x 4 x 4 bits: see `BrickScene` in gpu_nim/model/tracing.py.
struct Bricks {
    const u64* words;
    const u64* starts;                             // where each stage begins
    u32 stages;
    i64 side_a;
    i64 side_b;
    i64 side_c;
    i64 corner_a;
    i64 corner_b;
    i64 corner_c;

    __device__ __forceinline__ i64 open(i64 a, i64 b, i64 c) const {
        i64 high = (side_b + 3) / 4, deep = (side_c + 3) / 4;
        for (u32 stage = 0; stage < stages; ++stage) {
            const u64 word = words[starts[stage] + static_cast<u64>(((a >> 2) * high + (b >> 2)) * deep + (c >> 2))];
            const u32 bit = static_cast<u32>((a & 3) << 4 | (b & 3) << 2 | (c & 3));
            if (word != 0) {
                if (stage == 0 && (word >> bit & 1) != 0) return -1;
                return 2 * stage + ((word >> (bit & 0x2au) & 0x330033u) == 0);
            }
            a >>= 2, b >>= 2, c >>= 2;
            high = (high + 3) / 4, deep = (deep + 3) / 4;
        }
        return static_cast<i64>(2 * stages);
    }

    __device__ __forceinline__ bool excluded(i64, i64, i64, i64) const { return false; }
};

// A tree of halves in which equal blocks are stored once: see `TreeScene` in gpu_nim/model/tracing.py. The rows of all levels are in
// one array, eight halves each, whose numbers are those of rows but in the first level, where they are of leaves.
struct Tree {
    const u64* leaves;
    const i32* rows;
    u32 root;
    u32 level;
    i64 side_a;
    i64 side_b;
    i64 side_c;
    i64 corner_a;
    i64 corner_b;
    i64 corner_c;

    __device__ __forceinline__ i64 open(i64 a, i64 b, i64 c) const {
        u64 block = root;
        for (u32 bit = level - 1; bit > 1; --bit) {
            const u32 half = static_cast<u32>((a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1));
            block = static_cast<u64>(rows[8 * block + half]);
            if (block == 0) return bit;
        }
        const u64 word = leaves[block];
        const u32 bit = static_cast<u32>((a & 3) << 4 | (b & 3) << 2 | (c & 3));
        return (word >> bit & 1) != 0 ? -1 : (word >> (bit & 0x2au) & 0x330033u) == 0;
    }

    __device__ __forceinline__ bool excluded(i64, i64, i64, i64) const { return false; }
};

// Where rays start and where what they hit is written: rows of `count`.
struct Batch {
    const i64* cells;
    const f64* fractions;
    const f64* directions;
    const u8* levels;
    u32 count;
    u64 spread;                                    // the bits of a double
    f64* distances;
    i64* hit_cells;
    u8* hit_levels;
    u8* faces;
};

template <class Scene>
__device__ __forceinline__ void trace(const Scene& scene, const Batch& batch) {
    const u64 ray = global_thread();
    if (ray >= batch.count) return;
    const i64 corner[3] = {scene.corner_a, scene.corner_b, scene.corner_c}, side[3] = {scene.side_a, scene.side_b, scene.side_c};
    i64 cell[3], start[3], flip[3], end[3];
    f64 e[3], d[3], inverse[3], t = 0, leave = 0;
    i64 low[3];
    u32 face = 0;
    bool inside = true;
#pragma unroll
    for (u32 k = 0; k < 3; ++k) {
        const u64 at = k * static_cast<u64>(batch.count) + ray;
        const f64 direction = batch.directions[at], fraction = batch.fractions[at];
        flip[k] = direction < 0 ? -1 : 0;
        start[k] = (batch.cells[at] - corner[k]) ^ flip[k];
        e[k] = direction < 0 ? __dsub_rn(1.0, fraction) : fraction;
        d[k] = fabs(direction);
        if (!(d[k] > 1e-200)) d[k] = 1e-200;
        inverse[k] = __ddiv_rn(1.0, d[k]);
        low[k] = -side[k] & flip[k];
        end[k] = low[k] + side[k];
        inside = inside && start[k] < end[k];
        const f64 entry = start[k] < low[k] ? __dmul_rn(__dsub_rn(__ll2double_rn(low[k] - start[k]), e[k]), inverse[k]) : 0.0;
        const f64 exit = __dmul_rn(__dsub_rn(__ll2double_rn(end[k] - start[k]), e[k]), inverse[k]);
        if (k == 0 || entry > t) t = entry, face = k;
        if (k == 0 || exit < leave) leave = exit;
    }
    if (!inside || !(t < leave)) return;
#pragma unroll
    for (u32 k = 0; k < 3; ++k) {
        const i64 moved = start[k] + __double2ll_rz(__dadd_rn(e[k], __dmul_rn(d[k], t)));
        cell[k] = t > 0 && face == k ? low[k] : min(max(moved, max(start[k], low[k])), end[k] - 1);
    }
    if (!(t > 0)) face = START;
    const f64 spread = __longlong_as_double(static_cast<i64>(batch.spread));
    i64 level = batch.levels[ray];
    while (true) {
        const i64 a = cell[0] ^ flip[0], b = cell[1] ^ flip[1], c = cell[2] ^ flip[2];
        i64 free = scene.open(a, b, c);
        const i64 wanted = exponent(__dmul_rn(t, spread)), coarse = max(level, wanted);
        if (scene.excluded(a, b, c, level)) free = max(free, level);
        if (scene.excluded(a, b, c, coarse)) free = max(free, coarse);
        if (free < level) {
            const u64 row = batch.count;
            batch.distances[ray] = t;
            batch.hit_cells[ray] = a + corner[0];
            batch.hit_cells[row + ray] = b + corner[1];
            batch.hit_cells[2 * row + ray] = c + corner[2];
            batch.hit_levels[ray] = static_cast<u8>(level);
            batch.faces[ray] = static_cast<u8>(face);
            return;
        }
        level = max(level, min(wanted, free));
        const i64 mask = (1ll << free) - 1;
        f64 exits[3];
#pragma unroll
        for (u32 k = 0; k < 3; ++k)
            exits[k] = __dmul_rn(__dsub_rn(__ll2double_rn((cell[k] | mask) + 1 - start[k]), e[k]), inverse[k]);
        t = exits[0] < exits[1] ? exits[0] : exits[1];
        t = t < exits[2] ? t : exits[2];
        face = exits[0] == t ? 0u : exits[1] == t ? 1u : 2u;
        bool out = false;
#pragma unroll
        for (u32 k = 0; k < 3; ++k) {
            const i64 far = cell[k] | mask, moved = start[k] + __double2ll_rz(__dadd_rn(e[k], __dmul_rn(d[k], t)));
            cell[k] = face == k ? far + 1 : min(max(moved, cell[k]), far);
            out = out || cell[k] >= end[k];
        }
        if (out) return;
    }
}

// Places, the steps of cones (a row of three each), a box whose cells count as empty, and where counts are written: a row a cone.
struct Looks {
    const i64* cells;
    const f64* fractions;
    const u8* levels;
    u32 count;
    const f64* steps;
    u32 cones;
    u32 cubes;
    u32 farthest;
    i64 hole_a;
    i64 hole_b;
    i64 hole_c;
    i64 stop_a;
    i64 stop_b;
    i64 stop_c;
    u8* blocked;
};

// How many cubes along each cone from a place are in the box and not known to be empty.
template <class Scene>
__device__ __forceinline__ void look(const Scene& scene, const Looks& looks) {
    const u64 place = global_thread();
    if (place >= looks.count) return;
    const i64 corner[3] = {scene.corner_a, scene.corner_b, scene.corner_c}, side[3] = {scene.side_a, scene.side_b, scene.side_c};
    const i64 first[3] = {looks.hole_a, looks.hole_b, looks.hole_c}, stop[3] = {looks.stop_a, looks.stop_b, looks.stop_c};
    i64 cell[3];
    f64 fraction[3];
#pragma unroll
    for (u32 k = 0; k < 3; ++k) {
        const u64 at = k * static_cast<u64>(looks.count) + place;
        cell[k] = looks.cells[at] - corner[k], fraction[k] = looks.fractions[at];
    }
    for (u32 cone = 0; cone < looks.cones; ++cone) {
        u32 found = 0;
        for (u32 further = 0; further < looks.cubes; ++further) {
            const i64 level = looks.levels[place] + further;
            const f64 width = __longlong_as_double((min(level, static_cast<i64>(looks.farthest)) + 1023) << 52);
            i64 at[3];
            bool inside = true, removed = true;
#pragma unroll
            for (u32 k = 0; k < 3; ++k) {
                at[k] = cell[k] + __double2ll_rd(__dadd_rn(fraction[k], __dmul_rn(looks.steps[3 * cone + k], width)));
                inside = inside && at[k] >= 0 && at[k] < side[k];
                removed = removed && at[k] + corner[k] >= first[k] && at[k] + corner[k] < stop[k];
            }
            if (inside && !removed) found += scene.open(at[0], at[1], at[2]) < level;
        }
        looks.blocked[cone * static_cast<u64>(looks.count) + place] = static_cast<u8>(found);
    }
}

}  // namespace

// Trace rays through a scene. What misses is not written.
extern "C" __global__ void __launch_bounds__(THREADS, 4) trace_nim(const Batch batch, const Nim scene) { trace(scene, batch); }
extern "C" __global__ void __launch_bounds__(THREADS, 4) trace_bricks(const Batch batch, const Bricks scene) { trace(scene, batch); }
extern "C" __global__ void __launch_bounds__(THREADS, 4) trace_tree(const Batch batch, const Tree scene) { trace(scene, batch); }

// Look along cones in a scene (`Cones`).
extern "C" __global__ void __launch_bounds__(THREADS, 4) look_nim(const Looks looks, const Nim scene) { look(scene, looks); }
extern "C" __global__ void __launch_bounds__(THREADS, 4) look_bricks(const Looks looks, const Bricks scene) { look(scene, looks); }
extern "C" __global__ void __launch_bounds__(THREADS, 4) look_tree(const Looks looks, const Tree scene) { look(scene, looks); }
