// The intrinsics: barriers, warp collectives, fences, integer instructions, doubles, atomics.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "collectives.hpp"
#include "scheduler.hpp"

namespace cuda_host {

template <class T>
inline uint64_t to_bits(T value) {
    static_assert(std::is_arithmetic_v<T>, "warp intrinsics take numbers of at most 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class T>
inline T from_bits(uint64_t bits) {
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

template <class T>
inline T shuffle(Operation operation, unsigned mask, T value, unsigned argument, int width, Site at) {
    if (width < 1 || width > warpSize || (width & (width - 1)) != 0)
        scheduler.refuse("%s:%d: %s with width %d, which is no power of two up to 32", at.file, at.line,
                         name_of(operation), width);
    return from_bits<T>(scheduler.wait_in_collective(operation, mask, to_bits(value), argument, width, at));
}

inline unsigned vote(Operation operation, unsigned mask, uint64_t value, Site at) {
    return static_cast<unsigned>(scheduler.wait_in_collective(operation, mask, value, 0, warpSize, at));
}

// A read-modify-write for which the host has no single instruction.
template <class T, class Update>
inline T atomic_update(T* address, Update update) {
    T old = __atomic_load_n(address, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(address, &old, update(old), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return old;
}

// Locks are taken with atomicCAS and atomicExch: every now and then such a call lets other threads run.
inline void let_others_run() {
    static unsigned calls;
    if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % 1024 == 0) scheduler.yield();
}

}  // namespace cuda_host

#define CUDA_HOST_SITE cuda_host::Site at = cuda_host::here()

// ---------------------------------------------------------------- barriers and fences

inline void __syncthreads(CUDA_HOST_SITE) {
    cuda_host::scheduler.wait_at_barrier(at);
}
inline void __syncwarp(unsigned mask = cuda_host::full_mask, CUDA_HOST_SITE) {
    cuda_host::scheduler.wait_in_collective(cuda_host::Operation::warp_barrier, mask, 0, 0, warpSize, at);
}
inline void __threadfence() { cuda_host::scheduler.fence(); }
inline void __threadfence_block() { cuda_host::scheduler.fence(); }
inline void __nanosleep(unsigned) { cuda_host::scheduler.yield(); }

// ---------------------------------------------------------------- warp collectives

template <class T>
inline T __shfl_sync(unsigned mask, T value, int lane, int width = warpSize, CUDA_HOST_SITE) {
    return cuda_host::shuffle(cuda_host::Operation::shuffle, mask, value, static_cast<unsigned>(lane), width, at);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = warpSize, CUDA_HOST_SITE) {
    return cuda_host::shuffle(cuda_host::Operation::shuffle_up, mask, value, distance, width, at);
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = warpSize, CUDA_HOST_SITE) {
    return cuda_host::shuffle(cuda_host::Operation::shuffle_down, mask, value, distance, width, at);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = warpSize, CUDA_HOST_SITE) {
    return cuda_host::shuffle(cuda_host::Operation::shuffle_xor, mask, value, static_cast<unsigned>(lanes), width, at);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, CUDA_HOST_SITE) {
    return cuda_host::vote(cuda_host::Operation::ballot, mask, predicate != 0, at);
}
inline int __any_sync(unsigned mask, int predicate, CUDA_HOST_SITE) {
    return static_cast<int>(cuda_host::vote(cuda_host::Operation::any, mask, predicate != 0, at));
}
inline unsigned __activemask() = delete;  // says nothing about which lanes will meet: name them

// ---------------------------------------------------------------- integer instructions

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((uint64_t{high} << 32 | low) << (shift & 31) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}

// ---------------------------------------------------------------- doubles, each operation rounded to nearest

// Not inlined, so that the compiler cannot fuse them: it may fuse what a kernel writes as a * b + c, as NVRTC does.
[[gnu::noinline]] inline double __dadd_rn(double a, double b) { return a + b; }
[[gnu::noinline]] inline double __dsub_rn(double a, double b) { return a - b; }
[[gnu::noinline]] inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __ll2double_rn(long long a) { return static_cast<double>(a); }
inline long long __double2ll_rd(double a) { return static_cast<long long>(std::floor(a)); }
inline long long __double2ll_rz(double a) { return static_cast<long long>(a); }
inline long long __double_as_longlong(double a) { return static_cast<long long>(cuda_host::to_bits(a)); }
inline double __longlong_as_double(long long a) { return cuda_host::from_bits<double>(static_cast<uint64_t>(a)); }
using std::fabs;

template <class T>
inline T __ldg(const T* address) {
    return *address;
}

#define CUDA_HOST_MIN_MAX(T)                             \
    inline T min(T a, T b) { return b < a ? b : a; }     \
    inline T max(T a, T b) { return a < b ? b : a; }
CUDA_HOST_MIN_MAX(int)
CUDA_HOST_MIN_MAX(unsigned)
CUDA_HOST_MIN_MAX(long)
CUDA_HOST_MIN_MAX(unsigned long)
CUDA_HOST_MIN_MAX(long long)
CUDA_HOST_MIN_MAX(unsigned long long)

// ---------------------------------------------------------------- atomics, relaxed as on the device

#define CUDA_HOST_ATOMIC_ARITHMETIC(T)                                                                            \
    inline T atomicAdd(T* address, T value) { return __atomic_fetch_add(address, value, __ATOMIC_RELAXED); }      \
    inline T atomicExch(T* address, T value) {                                                                    \
        cuda_host::let_others_run();                                                                              \
        return __atomic_exchange_n(address, value, __ATOMIC_RELAXED);                                             \
    }                                                                                                             \
    inline T atomicCAS(T* address, T expected, T value) {                                                         \
        cuda_host::let_others_run();                                                                              \
        __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);        \
        return expected;                                                                                          \
    }
#define CUDA_HOST_ATOMIC_ORDER(T)                                                                                 \
    inline T atomicOr(T* address, T value) { return __atomic_fetch_or(address, value, __ATOMIC_RELAXED); }        \
    inline T atomicMin(T* address, T value) {                                                                     \
        return cuda_host::atomic_update(address, [=](T old) { return value < old ? value : old; });               \
    }
CUDA_HOST_ATOMIC_ARITHMETIC(int)
CUDA_HOST_ATOMIC_ARITHMETIC(unsigned)
CUDA_HOST_ATOMIC_ARITHMETIC(unsigned long long)
CUDA_HOST_ATOMIC_ORDER(int)
CUDA_HOST_ATOMIC_ORDER(unsigned)
CUDA_HOST_ATOMIC_ORDER(long long)
CUDA_HOST_ATOMIC_ORDER(unsigned long long)
