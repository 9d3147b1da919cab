#include "common.cuh"
extern "C" __global__ void __launch_bounds__(64) good(const u32* __restrict__ x, u64* __restrict__ out, u32 n) {
    DYNAMIC_SHARED(u64, copy);
    const u64 i = global_thread();
    copy[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    const u64 sum = block_sum(copy[blockDim.x - 1 - threadIdx.x]);
    if (threadIdx.x == 0) atomicAdd(out, sum);
}
