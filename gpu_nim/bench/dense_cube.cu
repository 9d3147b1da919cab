// One thread a cell of a dense box, a byte a cell, a launch a generation: what one writes first, and the yardstick of the kernels that
// keep to the cells where something happens.
//
// A cell x is born when it is dead, inside, and exactly one of the cells x - offset is alive: cells.offsets bytes read a generation, almost
// all of them from cache, and 3 cells bytes moved.  Outside of `inside` lies a margin as wide as the longest offset, so that no neighbour
// of a cell inside is beyond the box.
#include "common.cuh"

constexpr u32 THREADS = 256;

// alive, next, inside: a byte for each of `cells` cells, 0 or 1; jumps: each offset as a distance in memory.
extern "C" __global__ void __launch_bounds__(THREADS)
dense_grow(const u8* __restrict__ alive, u8* __restrict__ next, const u8* __restrict__ inside, u64 cells,
           const i64* __restrict__ jumps, u32 offsets) {
    const u64 cell = global_thread();
    if (cell >= cells) return;
    u32 touches = 0;
    if (inside[cell] && !alive[cell])
        for (u32 j = 0; j < offsets; ++j) touches += alive[static_cast<i64>(cell) - jumps[j]];
    next[cell] = alive[cell] | static_cast<u8>(touches == 1);
}
