// What every kernel file includes: short names of numbers, dynamic shared memory, three-input logic, the global index, sums
// over a warp and over a block, and the digest's mix.
//
// The same text is compiled by NVRTC for sm_75 and newer and, in the tests, by a host compiler that runs one fiber for
// each CUDA thread. Two conventions make that possible: dynamic shared memory is declared with DYNAMIC_SHARED(T, name), and
// instructions of PTX are written as macros here, LOP3, LOAD_RELAXED, STORE_RELAXED and KEEP, in whose place the host compiler has its own.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
typedef double f64;

// T* name: the block's dynamic shared memory, aligned to 16 bytes. Two names in one kernel name the same bytes.
#ifndef DYNAMIC_SHARED
#define DYNAMIC_SHARED(T, name)                                          \
    extern __shared__ __align__(16) unsigned char name##_bytes[];        \
    T* const name = reinterpret_cast<T*>(name##_bytes)
#endif

constexpr u32 FULL_WARP = 0xffffffffu;

// LOP3(result, x, y, z, table): bit i of the result is bit 4 x_i + 2 y_i + z_i of the table, in one instruction.  The compiler
// finds it for two operations, and not for the four of EXACTLY_ONE.
#ifndef LOP3
#define LOP3(result, x, y, z, table) asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(result) : "r"(x), "r"(y), "r"(z), "n"(table))
#endif

constexpr u32 EXACTLY_ONE = 0x16;                  // the table of: one bit of three is set

template <u32 table>
__device__ __forceinline__ u32 lop3(u32 x, u32 y, u32 z) {
    u32 result;
    LOP3(result, x, y, z, table);
    return result;
}

// LOAD_RELAXED(result, address): 64 bits that other threads may write at the same time, by an atomic.
#ifndef LOAD_RELAXED
#define LOAD_RELAXED(result, address) asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(result) : "l"(address) : "memory")
#endif

__device__ __forceinline__ u64 load_relaxed(const u64* address) {
    u64 result;
    LOAD_RELAXED(result, address);
    return result;
}

// STORE_RELAXED(address, value): a byte in which other threads may store the same value at the same time.
#ifndef STORE_RELAXED
#define STORE_RELAXED(address, value) asm volatile("st.relaxed.gpu.u8 [%0], %1;" ::"l"(address), "r"(value) : "memory")
#endif

__device__ __forceinline__ void store_relaxed(u8* address, u32 value) { STORE_RELAXED(address, value); }

// KEEP(pointer): to global memory, which the compiler keeps in a register and does not make again from its parts where it is used.
#ifndef KEEP
#define KEEP(pointer)        \
    asm("" : "+l"(pointer)); \
    __builtin_assume(__isGlobal(pointer))
#endif

// The index of this thread in a one-dimensional grid, and the number of its threads (the step of a grid-stride loop).
__device__ __forceinline__ u64 global_thread() { return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ __forceinline__ u64 global_threads() { return static_cast<u64>(gridDim.x) * blockDim.x; }

// The sum of `value` over the 32 lanes, modulo 2^64, in every lane. All lanes of the warp must call it.
__device__ __forceinline__ u64 warp_sum(u64 value) {
    for (int distance = 16; distance > 0; distance >>= 1) value += __shfl_xor_sync(FULL_WARP, value, distance);
    return value;
}

// Add the sum of each value over a one-dimensional block of any multiple of 32 threads to totals[0], totals[1] ..., modulo
// 2^64.  All threads of the block must call it, once.  One barrier for all of them.
template <class... Values>
__device__ __forceinline__ void add_sums(u64* totals, Values... values) {
    constexpr u32 COUNT = sizeof...(Values);
    __shared__ u64 of_warp[COUNT][32];
    const u32 lane = threadIdx.x & 31u, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    const u64 mine[COUNT] = {warp_sum(values)...};
#pragma unroll
    for (u32 k = 0; k < COUNT; ++k)
        if (lane == k) of_warp[k][warp] = mine[k];
    __syncthreads();
    // A warp for each sum in turn, or the first for all.
    for (u32 k = warp; k < COUNT; k += warps) {
        const u64 total = warp_sum(lane < warps ? of_warp[k][lane] : 0ull);
        if (lane == 0 && total != 0) atomicAdd(&totals[k], total);
    }
}

// The splitmix64 finalizer (Steele, Lea, Flood 2014; constants of Stafford's mix 13): the mix of the digest.
__device__ __forceinline__ u64 mix64(u64 h) {
    h ^= h >> 30;
    h *= 0xbf58476d1ce4e5b9ull;
    h ^= h >> 27;
    h *= 0x94d049bb133111ebull;
    h ^= h >> 31;
    return h;
}
