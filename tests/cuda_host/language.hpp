// The language CUDA adds to C++: qualifiers, vector types, and the variables every thread has.
#pragma once

#include <cstddef>
#include <cstdint>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __launch_bounds__(...)  // read from the source text by the builder, and enforced at launch
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))

#if defined(__SANITIZE_ADDRESS__)
#define __shared__ static        // ASan puts red zones around static storage, but none around thread-local storage
#else
#define __shared__ thread_local  // gathers all shared variables in one segment, which can be found and poisoned
#endif
#define DYNAMIC_SHARED(T, name) T* const name = reinterpret_cast<T*>(::cuda_host::dynamic_shared())
#define LOAD_RELAXED(result, address) ((result) = __atomic_load_n(address, __ATOMIC_RELAXED))
#define STORE_RELAXED(address, value) __atomic_store_n(address, static_cast<unsigned char>(value), __ATOMIC_RELAXED)
#define KEEP(pointer) ((void)(pointer))
#define LOP3(result, x, y, z, table) ((result) = ::cuda_host::look_up(x, y, z, table))

namespace cuda_host {

// The PTX instruction lop3: bit i of the result is bit 4 x_i + 2 y_i + z_i of the table.
inline unsigned look_up(unsigned x, unsigned y, unsigned z, unsigned table) {
    unsigned result = 0;
    for (unsigned entry = 0; entry < 8; ++entry)
        if (table >> entry & 1) result |= (entry & 4 ? x : ~x) & (entry & 2 ? y : ~y) & (entry & 1 ? z : ~z);
    return result;
}

}  // namespace cuda_host

struct uint3 {
    unsigned x, y, z;
};
struct ulonglong2 {
    unsigned long long x, y;
} __attribute__((aligned(16)));
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

// Written by the scheduler whenever another thread takes over. Every library has its own, hence static.
static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;
