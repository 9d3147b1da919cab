// P-positions of Nim counted by trying tuples of piles one by one: by half their total, and by their largest pile.
//
// Bouton: the last pile of a P-position is the nim-sum of the others [NF, Corollary 5], so each tuple of k-1 piles gives
// one P-position.  A lane tries a tuple: 32 lanes share all piles but the last five bits of one, t.  With s and x the sum and the
// nim-sum of the rest, s + t + (x^t) = s - x + 2 (x|t), so that 32 half-totals lie in 32 consecutive places; so do the maxima, in
// an aligned stretch.  Five ballots on the lanes' places tell lane j how many lanes are at place j, and it adds that number to a
// histogram in shared memory: no two lanes meet, whatever the tuples.
#include "common.cuh"

namespace {

constexpr u32 THREADS = 256;

// Some piles: their sum, nim-sum and maximum.
struct Piles {
    u32 sum, nim, largest;

    __device__ __forceinline__ Piles with(u32 pile) const { return Piles{sum + pile, nim ^ pile, max(largest, pile)}; }
};

// What is counted of a tuple closed by its nim-sum.  `bin` is its place in the histogram; `base`, from lane 0's bin, the first of
// the 32 places in which a row of 32 tuples lies; `window`, from the piles without the low `bits` digits of b and t, the first of
// the (1 << bits) << SPREAD places in which a tile of 2^bits values of b and as many of t lies.
constexpr u32 SPREAD_OF_TOTALS = 1, SPREAD_OF_MAXIMA = 0;
struct HalfTotal {
    static constexpr u32 SPREAD = SPREAD_OF_TOTALS;
    static __device__ __forceinline__ u32 bin(Piles piles, u32 t) { return (piles.sum + t + (piles.nim ^ t)) >> 1; }
    static __device__ __forceinline__ u32 base(u32 of_lane_0) { return of_lane_0; }
    static __device__ __forceinline__ u32 window(Piles outer, u32 b, u32 t, u32 bits) {
        const u32 low = (1u << bits) - 1;
        return (outer.sum - (outer.nim & low) + b + t + ((outer.nim & ~low) ^ b ^ t)) >> 1;
    }
};
struct Largest {
    static constexpr u32 SPREAD = SPREAD_OF_MAXIMA;
    static __device__ __forceinline__ u32 bin(Piles piles, u32 t) { return max(max(piles.largest, t), piles.nim ^ t); }
    static __device__ __forceinline__ u32 base(u32 of_lane_0) { return of_lane_0 & ~31u; }
    static __device__ __forceinline__ u32 window(Piles outer, u32 b, u32 t, u32 bits) {
        return max(max(outer.largest, max(b, t)), outer.nim ^ b ^ t) >> bits << bits;
    }
};

// The tuples to try: `outer` piles of any value below `values`, but for the first, which is `outer_first` or more; then b from
// b_first to b_stop - 1 and t from 0 to t_stop - 1.  A unit of work is one choice of the outer piles and one tile of b and t.
struct Trial {
    u32 values, outer, outer_first, b_first, b_stop, t_stop, bits;
    u64 units;

    // Unit number `unit`: its outer piles, and the tile's corner.
    __device__ __forceinline__ Piles decode(u64 unit, u32& b, u32& t) const {
        const u32 across = ((t_stop - 1) >> bits) + 1, first = b_first >> bits, down = ((b_stop - 1) >> bits) - first + 1;
        t = static_cast<u32>(unit % across) << bits;
        unit /= across;
        b = (first + static_cast<u32>(unit % down)) << bits;
        unit /= down;
        Piles piles{0, 0, 0};
        for (u32 i = 1; i < outer; ++i, unit /= values) piles = piles.with(static_cast<u32>(unit % values));
        return outer > 0 ? piles.with(outer_first + static_cast<u32>(unit)) : piles;
    }
};

// Count by Kind.  The histogram in shared memory holds places [0, window) where `window` > 0, and otherwise just those of a tile:
// then it moves along, and is emptied into `counts` whenever it does, and after `most` tuples, before a counter could wrap.  counts
// has `values` entries, and places beyond are dropped: 32 counters behind the histogram take them, which costs less than a branch.
template <class Kind>
__device__ __forceinline__ void try_tuples(const Trial& trial, u32 window, u64 most, u64* __restrict__ counts) {
    DYNAMIC_SHARED(u32, histogram);
    const u32 lane = threadIdx.x & 31u, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    const u32 side = 1u << trial.bits, places = window > 0 ? window : side << Kind::SPREAD;
    u32 bit[5], flip[5];                           // flip[i] makes a ballot on bit[i] say who has what this lane has there
#pragma unroll
    for (u32 i = 0; i < 5; ++i) {
        // 2^i; as the compiler does not know that, it tests the bit in one instruction and shifts nothing.
        bit[i] = __shfl_sync(FULL_WARP, 1u << lane, static_cast<i32>(i));
        flip[i] = (lane & bit[i]) != 0 ? 0u : FULL_WARP;
    }
    const u32 beyond = places + lane;              // a counter of this lane's own for what lies outside the histogram

    u32 start = 0;                                 // the place of histogram[0]
    const auto flush = [&] {
        __syncthreads();
        for (u32 i = threadIdx.x; i < places; i += blockDim.x) {
            if (histogram[i] != 0 && start + i < trial.values) atomicAdd(&counts[start + i], static_cast<u64>(histogram[i]));
            histogram[i] = 0;
        }
        __syncthreads();
    };
    for (u32 i = threadIdx.x; i < places + 32; i += blockDim.x) histogram[i] = 0;
    __syncthreads();

    u64 tried = 0;
    for (u64 unit = blockIdx.x; unit < trial.units; unit += gridDim.x) {
        u32 tile_b, tile_t;
        const Piles outer = trial.decode(unit, tile_b, tile_t);
        const u32 wanted = window > 0 ? 0 : Kind::window(outer, tile_b, tile_t, trial.bits);
        if (wanted != start || tried >= most) {
            flush();
            start = wanted;
            tried = 0;
        }
        tried += static_cast<u64>(side) << trial.bits;
        const u32 b_stop = min(tile_b + side, trial.b_stop), t_stop = min(tile_t + side, trial.t_stop);
        for (u32 b = max(tile_b, trial.b_first) + warp; b < b_stop; b += warps) {
            const Piles piles = outer.with(b);
            // Try the tuples with t from `row` on, a lane each, of those lanes that are in `trying`.
            const auto try_row = [&](u32 row, u32 trying) {
                const u32 bin = Kind::bin(piles, row + lane);
                const u32 base = Kind::base(__shfl_sync(FULL_WARP, bin, 0));
                u32 alike = trying;
#pragma unroll
                for (u32 i = 0; i < 5; ++i) alike &= __ballot_sync(FULL_WARP, ((bin - base) & bit[i]) != 0) ^ flip[i];
                atomicAdd(&histogram[min(base + lane - start, beyond)], static_cast<u32>(__popc(alike)));
            };
            u32 row = tile_t;
#pragma unroll 4
            for (; row + 32 <= t_stop; row += 32) try_row(row, FULL_WARP);
            if (row < t_stop) try_row(row, (1u << (t_stop - row)) - 1);
        }
    }
    flush();
}

}  // namespace

// Count P-positions by half their total, counts[n] += 1 for each tuple of a Trial with total 2n: see try_tuples().
extern "C" __global__ void __launch_bounds__(THREADS)
count_totals(u32 values, u32 outer, u32 outer_first, u32 b_first, u32 b_stop, u32 t_stop, u32 bits, u64 units, u32 window,
             u64 most, u64* __restrict__ counts) {
    try_tuples<HalfTotal>(Trial{values, outer, outer_first, b_first, b_stop, t_stop, bits, units}, window, most, counts);
}

// The same by their largest pile.
extern "C" __global__ void __launch_bounds__(THREADS)
count_maxima(u32 values, u32 outer, u32 outer_first, u32 b_first, u32 b_stop, u32 t_stop, u32 bits, u64 units, u32 window,
             u64 most, u64* __restrict__ counts) {
    try_tuples<Largest>(Trial{values, outer, outer_first, b_first, b_stop, t_stop, bits, units}, window, most, counts);
}
