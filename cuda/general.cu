// The general engine, for any rule in one to eight dimensions: a hash table of touched cells, of which a step reads the newborns.
//
// Rule.  A dead cell is born when the number of alive cells that touch it is in the births set.  Alive cells never go away, so
// that number only grows, and only by newborns: a generation adds one touch along every offset of every newborn, and then tests
// just the dead cells whose number has changed.  A cell that was not born may be born later.
//
// Layout.  A cell's key is a mixed radix over the box of the whole growth, so an offset is one number to add to it.  The table
// is open addressing with linear probing, size a power of two, a key of 64 bits and a word of 32 bits a slot:
//
//     bits 0 to 14   touches up to the last generation
//     bit 15         closed: alive, or never to be born
//     bits 16 to 31  touches in this generation (of a closed cell: anything)
//
// The first touch of a generation finds the upper half 0 and lists the slot, so each changed cell is listed once, without a mark
// of its own and without sorting.  Deciding folds the upper half into the lower.
//
// Invariant.  Between generations the table holds every cell that was ever touched, each once, the upper half of each open word
// is 0, and at least a quarter of the slots is empty, so that probing ends.
//
// Universe.  The host asks the rule which newborns lie in it, and makes the keys of the others EMPTY: those are passed over.
//
// Bytes.  A touch is one random read of 8 bytes and one atomic on 4, each in a sector of 32; a slot takes 12 bytes.  With m
// offsets a birth costs m touches: 768 bytes of sectors for twelve.
#include "common.cuh"

namespace {

constexpr u64 EMPTY = ~0ull;
constexpr u32 CLOSED = 1u << 15, TOTAL = CLOSED - 1, ONE_NOW = 1u << 16;
constexpr u32 MAX_DIMENSION = 8;

// The slot of `key`, which enters the table if it is not there yet.
__device__ __forceinline__ u64 locate(u64* __restrict__ keys, u32 bits, u64 key, bool& entered) {
    const u64 mask = (1ull << bits) - 1;
    // Fibonacci hashing: the top bits of key times 2^64 / golden ratio spread neighbouring keys evenly.
    u64 slot = key * 0x9e3779b97f4a7c15ull >> (64 - bits);
    while (true) {
        // Most keys are there already, and a slot that has one keeps it: what is read is that key or no longer true.
        u64 found = load_relaxed(&keys[slot]);
        entered = found == EMPTY;
        if (entered) {
            found = atomicCAS(&keys[slot], EMPTY, key);
            entered = found == EMPTY;
        }
        if (entered || found == key) return slot;
        slot = (slot + 1) & mask;
    }
}

}  // namespace

// Touch newborn + jump for every newborn and jump, where allowed[jump number * count + newborn number] is not 0 or `all` is.
// counters[0] counts what is listed in `changed`, counters[1] keys that are new to the table.
extern "C" __global__ void __launch_bounds__(256, 4)
general_touch(const u64* __restrict__ newborns, u64 count, const i64* __restrict__ jumps, u32 jump_count,
              const u8* __restrict__ allowed, u32 all, u64* __restrict__ keys, u32* __restrict__ touches, u32 bits,
              u64* __restrict__ changed, u64* __restrict__ counters) {
    // From pair to pair a thread goes on by the same number of jumps and of newborns, so that it divides once.
    const u64 further = global_threads() / count, along = global_threads() % count;
    u64 jump = global_thread() / count, i = global_thread() % count;
    const auto go_on = [&] {
        jump += further;
        i += along;
        if (i >= count) {
            i -= count;
            ++jump;
        }
    };
    for (; jump < jump_count; go_on()) {
        if (all == 0 && allowed[jump * count + i] == 0) continue;
        const u64 newborn = newborns[i];
        if (newborn == EMPTY) continue;
        bool entered;
        const u64 key = newborn + static_cast<u64>(jumps[jump]);
        const u64 slot = locate(keys, bits, key, entered);
        const u32 before = atomicAdd(&touches[slot], ONE_NOW);
        if (before < ONE_NOW && (before & CLOSED) == 0) changed[atomicAdd(&counters[0], 1ull)] = slot;
        if (entered) atomicAdd(&counters[1], 1ull);
    }
}

// Decide the counters[0] cells listed in `changed`: born[t] is 1 where t touches give birth.  The keys of those born go to
// `newborns`, in any order, and counters[2] counts them.
extern "C" __global__ void __launch_bounds__(256, 4)
general_decide(const u64* __restrict__ changed, const u8* __restrict__ born, const u64* __restrict__ keys,
               u32* __restrict__ touches, u64* __restrict__ newborns, u64* __restrict__ counters) {
    const u64 count = counters[0];
    for (u64 i = global_thread(); i < count; i += global_threads()) {
        const u64 slot = changed[i];
        const u32 total = (touches[slot] & TOTAL) + (touches[slot] >> 16);
        const bool alive = born[total] != 0;
        touches[slot] = alive ? CLOSED : total;
        if (alive) newborns[atomicAdd(&counters[2], 1ull)] = keys[slot];
    }
}

// Enter `count` distinct keys with their touches; empty slots of another table among them are passed over.
extern "C" __global__ void __launch_bounds__(256, 4)
general_enter(const u64* __restrict__ from_keys, const u32* __restrict__ from_touches, u64 count, u64* __restrict__ keys,
              u32* __restrict__ touches, u32 bits) {
    for (u64 i = global_thread(); i < count; i += global_threads()) {
        if (from_keys[i] == EMPTY) continue;
        bool entered;
        touches[locate(keys, bits, from_keys[i], entered)] = from_touches[i] & (TOTAL | CLOSED);
    }
}

// Add the number of newborns to reports[3 at], the mixes of their representatives to reports[3 at + 1], and to reports[3 at + 2] how
// many have coordinate `axis` equal to `level` (none where axis is 8).  box = {origin, strides}, eight each; the coefficients beyond the dimension are 0.
extern "C" __global__ void __launch_bounds__(256, 2)
general_survey(const u64* __restrict__ newborns, u64 count, const i64* __restrict__ box, u32 dimension, u32 sorted, u32 unsign,
               const u64* __restrict__ coefficients, u32 axis, i64 level, u64* __restrict__ reports, u32 at) {
    u64 births = 0, sum = 0, in_section = 0;
    for (u64 i = global_thread(); i < count; i += global_threads()) {
        u64 rest = newborns[i];
        if (rest == EMPTY) continue;
        ++births;
        i64 x[MAX_DIMENSION];
#pragma unroll
        for (u32 d = 0; d < MAX_DIMENSION; ++d) {
            x[d] = -0x7fffffffffffffffll;                // below every coordinate: sorted to the end
            if (d < dimension) {
                const u64 stride = static_cast<u64>(box[MAX_DIMENSION + d]);
                const u64 quotient = stride == 1 ? rest : rest / stride;
                rest -= quotient * stride;
                const i64 coordinate = static_cast<i64>(quotient) + box[d];
                // No `&&`: the compiler would make it x[axis], and keep x in memory.
                in_section += static_cast<u32>(d == axis) & static_cast<u32>(coordinate == level);
                x[d] = unsign != 0 && coordinate < 0 ? -coordinate : coordinate;
            }
        }
        if (sorted != 0) {
// Eight rounds of neighbours in turn sort eight numbers.
#pragma unroll
            for (u32 round = 0; round < MAX_DIMENSION; ++round) {
#pragma unroll
                for (u32 d = round & 1u; d + 1 < MAX_DIMENSION; d += 2) {
                    const i64 high = x[d] > x[d + 1] ? x[d] : x[d + 1];
                    x[d + 1] = x[d] > x[d + 1] ? x[d + 1] : x[d];
                    x[d] = high;
                }
            }
        }
        u64 linear = 0;
#pragma unroll
        for (u32 d = 0; d < MAX_DIMENSION; ++d) linear += coefficients[d] * static_cast<u64>(x[d]);
        sum += mix64(linear);
    }
    add_sums(reports + 3ull * at, births, sum, in_section);
}
