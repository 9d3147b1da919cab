// Every integer intrinsic, warp collective and atomic the emulator offers, for tests that compare them with Python.
#include "common.cuh"

// out[k * n + i]: the k-th intrinsic of a[i], b[i].
extern "C" __global__ void integer_intrinsics(const u64* __restrict__ a, const u64* __restrict__ b, u64* out, u32 n) {
    const u32 i = static_cast<u32>(global_thread());
    if (i >= n) return;
    const u64 x = __ldg(a + i), y = b[i];
    const u32 low = static_cast<u32>(x), high = static_cast<u32>(y), shift = high & 63u;
    const u64 results[] = {
        static_cast<u64>(__popc(low)),
        static_cast<u64>(__popcll(x)),
        static_cast<u64>(__clz(static_cast<i32>(low))),
        static_cast<u64>(__clzll(static_cast<i64>(x))),
        static_cast<u64>(__ffs(static_cast<i32>(low))),
        static_cast<u64>(__ffsll(static_cast<i64>(x))),
        __brev(low),
        __brevll(x),
        __funnelshift_l(low, high, shift),
        __funnelshift_lc(low, high, shift),
        __funnelshift_r(low, high, shift),
        __funnelshift_rc(low, high, shift),
        __umulhi(low, high),
        __umul64hi(x, y),
        __byte_perm(low, high, 0x6420u),
        min(x, y),
        max(x, y),
        static_cast<u64>((static_cast<unsigned __int128>(x) * y + x) >> 32),
        mix64(x),
        lop3<EXACTLY_ONE>(low, high, static_cast<u32>(x >> 32)),
        lop3<0xca>(low, high, static_cast<u32>(x >> 32)),
    };
    for (u32 k = 0; k < sizeof results / sizeof results[0]; ++k) out[static_cast<u64>(k) * n + i] = results[k];
}

// out[32 * k + lane]: the k-th collective over the 32 values of a.
extern "C" __global__ void warp_collectives(const u64* __restrict__ a, u64* out) {
    const u32 lane = threadIdx.x;
    const u64 x = a[lane];
    const u32 low = static_cast<u32>(x);
    const u64 results[] = {
        __shfl_sync(FULL_WARP, x, 37),
        __shfl_sync(FULL_WARP, x, static_cast<i32>(lane) + 3, 8),
        __shfl_up_sync(FULL_WARP, x, 5),
        __shfl_down_sync(FULL_WARP, x, 3, 16),
        __shfl_xor_sync(FULL_WARP, x, 9),
        __ballot_sync(FULL_WARP, (x & 1) != 0),
        static_cast<u64>(__any_sync(FULL_WARP, lane == 7)),
        static_cast<u64>(__all_sync(FULL_WARP, lane < 31)),
        __match_any_sync(FULL_WARP, low & 3u),
        warp_sum(x),
    };
    for (u32 k = 0; k < sizeof results / sizeof results[0]; ++k) out[32 * k + lane] = results[k];
}

// Folds n values into out[0..9], one atomic each; out[10] counts votes at the block barrier.
extern "C" __global__ void atomics(const u64* __restrict__ a, u64* out, u32* cas, u32 n) {
    const u64 i = global_thread();
    const bool inside = i < n;
    if (inside) {
        const u64 x = a[i];
        atomicAdd(out + 0, x);
        atomicAnd(out + 1, x);
        atomicOr(out + 2, x);
        atomicXor(out + 3, x);
        atomicMin(out + 4, x);
        atomicMax(out + 5, x);
        atomicMin(reinterpret_cast<i64*>(out) + 6, static_cast<i64>(x));
        atomicMax(reinterpret_cast<i64*>(out) + 7, static_cast<i64>(x));
        atomicAdd(reinterpret_cast<u32*>(out + 8), static_cast<u32>(x));
        u64 seen = out[9], expected;
        do {
            expected = seen;
            seen = atomicCAS(out + 9, expected, expected * 3 + 1);
        } while (seen != expected);
        atomicInc(cas, 6u);
        atomicSub(cas + 1, 1u);
    }
    const i32 votes = __syncthreads_count(inside && (a[i] & 1) != 0);
    const i32 all = __syncthreads_and(!inside || a[i] != 0);
    const i32 any = __syncthreads_or(inside && a[i] == 0);
    if (threadIdx.x == 0) atomicAdd(out + 10, static_cast<u64>(votes + 1000 * (all != 0) + 100000 * (any != 0)));
}
