// Planted bugs, one a kernel, and correct kernels that look suspicious: what tests/cuda/test_cuda_host.py holds the
// emulator to. All take (x, out, n) with x of n elements, and are launched with 4 blocks of 64 threads and 64 u64 of
// dynamic shared memory. Each bug is marked.
#include "common.cuh"

#define KERNEL(name) \
    extern "C" __global__ void name([[maybe_unused]] const u32* __restrict__ x, u64* out, [[maybe_unused]] u32 n)

__device__ __forceinline__ u64 element(const u32* x, u32 n) { return global_thread() < n ? x[global_thread()] : 0; }

// The sum of `value` over the block, in every thread.  Two barriers; the second lets it be called again at once.
__device__ __forceinline__ u64 block_sum(u64 value) {
    __shared__ u64 of_warp[32];
    const u32 lane = threadIdx.x & 31u, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    value = warp_sum(value);
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();
    const u64 total = warp_sum(lane < warps ? of_warp[lane] : 0ull);
    __syncthreads();
    return total;
}

// ---------------------------------------------------------------- correct

KERNEL(good_tree_sum) {
    __shared__ u64 sum[64];
    sum[threadIdx.x] = element(x, n);
    __syncthreads();
    for (u32 width = 32; width > 0; width >>= 1) {
        if (threadIdx.x < width) sum[threadIdx.x] += sum[threadIdx.x + width];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, sum[0]);
}

KERNEL(good_block_sum) {
    DYNAMIC_SHARED(u64, mirrored);
    mirrored[threadIdx.x] = element(x, n);
    __syncthreads();
    const u64 once = block_sum(mirrored[63 - threadIdx.x]), twice = block_sum(2 * mirrored[threadIdx.x]);
    if (threadIdx.x == 0) atomicAdd(out, twice - once);
}

KERNEL(good_add_sums) {
    DYNAMIC_SHARED(u64, sums);
    if (threadIdx.x < 2) sums[threadIdx.x] = 0;
    __syncthreads();
    add_sums(sums, element(x, n), 2 * element(x, n));
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, sums[1] - sums[0]);
}

constexpr int BOUND = 64;

extern "C" __global__ void __launch_bounds__(BOUND) good_bounded(const u32* __restrict__ x, u64* out, u32 n) {
    const u64 sum = warp_sum(element(x, n));
    if ((threadIdx.x & 31u) == 0) atomicAdd(out, sum);
}

// Half a warp at a time, each half under its own mask.
KERNEL(good_half_warps) {
    const u32 lane = threadIdx.x & 31u;
    u64 sum = element(x, n);
    if (lane < 16) {
        for (int d = 8; d > 0; d >>= 1) sum += __shfl_xor_sync(0x0000ffffu, sum, d, 16);
    } else {
        for (int d = 8; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffff0000u, sum, d, 16);
    }
    if ((lane & 15u) == 0) atomicAdd(out, sum);
}

// Lane 0 publishes to its warp through shared memory, ordered by __syncwarp alone.
KERNEL(good_syncwarp) {
    __shared__ u64 of_warp[2][32];
    const u32 lane = threadIdx.x & 31u, warp = threadIdx.x >> 5;
    of_warp[warp][lane] = element(x, n);
    __syncwarp();
    u64 sum = 0;
    if (lane == 0)
        for (u32 k = 0; k < 32; ++k) sum += of_warp[warp][k];
    __syncwarp();
    if (lane == 0) atomicAdd(out, sum);
}

KERNEL(good_lock) {
    __shared__ u32 lock;
    __shared__ u64 sum;
    if (threadIdx.x == 0) lock = 0, sum = 0;
    __syncthreads();
    while (atomicCAS(&lock, 0u, 1u) != 0) {
    }
    __threadfence_block();
    sum += element(x, n);
    __threadfence_block();
    atomicExch(&lock, 0u);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, sum);
}

// The last block to finish adds up what all have left in out[1..4]: ordered by fences around an atomic ticket.
KERNEL(good_last_block) {
    const u64 sum = block_sum(element(x, n));
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        out[1 + blockIdx.x] = sum;
        __threadfence();
        is_last = atomicAdd(&out[5], 1ull) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0)
        for (u32 b = 0; b < gridDim.x; ++b) out[0] += out[1 + b];
}

// ---------------------------------------------------------------- races

KERNEL(missing_barrier) {
    __shared__ u64 sum[64];
    sum[threadIdx.x] = element(x, n);
    // bug: no __syncthreads()
    for (u32 width = 32; width > 0; width >>= 1) {
        if (threadIdx.x < width) sum[threadIdx.x] += sum[threadIdx.x + width];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, sum[0]);
}

KERNEL(missing_barrier_in_loop) {
    __shared__ u64 sum[64];
    sum[threadIdx.x] = element(x, n);
    __syncthreads();
    for (u32 width = 32; width > 0; width >>= 1) {
        if (threadIdx.x < width) sum[threadIdx.x] += sum[threadIdx.x + width];
        // bug: no __syncthreads()
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, sum[0]);
}

KERNEL(reuse_without_barrier) {
    __shared__ u64 value;
    for (u32 k = 0; k < 64; ++k) {
        if (threadIdx.x == k) value = element(x, n);
        __syncthreads();
        if (threadIdx.x == 63 - k) atomicAdd(out, value);
        // bug: no __syncthreads() before the next round overwrites it
    }
}

KERNEL(vote_is_no_barrier) {
    __shared__ u64 value[64];
    value[threadIdx.x] = element(x, n);
    __ballot_sync(FULL_WARP, 1);  // bug: orders no memory; __syncwarp() would
    const u64 neighbour = value[threadIdx.x ^ 1u];
    __syncthreads();
    atomicAdd(out, neighbour);
}

KERNEL(all_write_one_cell) {
    if (n > 0) out[0] = x[threadIdx.x];  // bug: 64 threads, one cell
}

KERNEL(plain_add_between_blocks) {
    if (threadIdx.x != 0) return;
    for (u32 k = 0; k < 64; ++k) out[0] += x[blockIdx.x * 64 + k];  // bug: not atomic, and blocks are concurrent
}

KERNEL(depends_on_block_order) {
    const u64 sum = block_sum(element(x, n));
    if (threadIdx.x == 0) out[0] = 3 * out[0] + sum;  // bug: takes blocks to run in order
}

KERNEL(last_block_without_fence) {
    const u64 sum = block_sum(element(x, n));
    if (threadIdx.x != 0) return;
    out[1 + blockIdx.x] = sum;
    if (atomicAdd(&out[5], 1ull) != gridDim.x - 1) return;  // bug: no __threadfence() around the ticket
    for (u32 b = 0; b < gridDim.x; ++b) out[0] += out[1 + b];
}

// ---------------------------------------------------------------- memory

KERNEL(past_shared_array) {
    __shared__ u64 value[64];
    value[threadIdx.x + 1] = element(x, n);  // bug: one past the end
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, value[1]);
}

__device__ __noinline__ void store(u64* to, u32 index, u64 value) { to[index] = value; }

KERNEL(past_shared_array_by_pointer) {
    __shared__ u64 value[64];
    store(value, threadIdx.x + 1, element(x, n));  // bug: the same, where no array type is in sight
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, value[1]);
}

KERNEL(past_dynamic_shared) {
    DYNAMIC_SHARED(u64, value);
    value[threadIdx.x + 1] = element(x, n);  // bug: 64 elements were asked for
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, value[1]);
}

KERNEL(before_dynamic_shared) {
    DYNAMIC_SHARED(u64, value);
    (value + threadIdx.x)[-1] = element(x, n);  // bug: thread 0 writes in front of it
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, value[1]);
}

KERNEL(past_global_array) {
    if (global_thread() <= n) atomicAdd(out, x[global_thread()]);  // bug: < was meant
}

KERNEL(uninitialised_shared) {
    __shared__ u64 value[64];
    if (threadIdx.x < 63) value[threadIdx.x] = element(x, n);  // bug: the last one is never written
    __syncthreads();
    atomicAdd(out, value[threadIdx.x]);
}

KERNEL(uninitialised_dynamic_shared) {
    DYNAMIC_SHARED(u64, value);
    if (threadIdx.x < 63) value[threadIdx.x] = element(x, n);  // bug: the last one is never written
    __syncthreads();
    atomicAdd(out, value[threadIdx.x]);
}

KERNEL(shared_outlives_block) {
    __shared__ u64 sum;
    if (blockIdx.x == 0 && threadIdx.x == 0) sum = 0;  // bug: each block has its own
    __syncthreads();
    atomicAdd(&sum, element(x, n));
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, sum);
}

KERNEL(misaligned) {
    const u64* pairs = reinterpret_cast<const u64*>(x + 1);  // bug: u64 at an address that is 4 modulo 8
    if (threadIdx.x < 4 && n > 8) atomicAdd(out, pairs[threadIdx.x]);
}

KERNEL(null_pointer) {
    const u32* missing = n > 0 ? nullptr : x;
    if (threadIdx.x == 0) atomicAdd(out, missing[0]);  // bug
}

// ---------------------------------------------------------------- arithmetic

KERNEL(shift_by_width) {
    const u32 count = threadIdx.x == 3 ? n / 8 : 1;  // bug: n is 256, and 32 is one too many
    atomicAdd(out, static_cast<u64>(x[threadIdx.x] << count));
}

KERNEL(signed_overflow) {
    const i32 huge = 0x7fffffff - static_cast<i32>(threadIdx.x);
    atomicAdd(out, static_cast<u64>(huge + static_cast<i32>(n / 8)));  // bug: index arithmetic in i32
}

KERNEL(division_by_zero) {
    atomicAdd(out, static_cast<u64>(x[threadIdx.x] / (n - 256 + threadIdx.x)));  // bug: thread 0, n is 256
}

// ---------------------------------------------------------------- barriers

KERNEL(barrier_for_some) {
    if (threadIdx.x < 32) {
        __syncthreads();  // bug: the other warp never comes
    } else {
        if (n == 0) out[0] = x[0];
    }
}

KERNEL(spins_forever) {
    if (threadIdx.x == 0) {
        __syncthreads();
        atomicExch(out, 1ull);
    } else {
        while (atomicAdd(out, 0ull) == 0) __nanosleep(100);  // bug: thread 0 waits for these before it says so
        __syncthreads();
    }
    if (n == 0) out[0] = x[0];
}

KERNEL(barrier_after_return) {
    if (global_thread() >= n - 3) return;  // bug: the last block's barrier is missing three threads
    __syncthreads();
    if (n == 0) out[0] = x[0];
}

KERNEL(two_barriers) {
    if (threadIdx.x < 32) {
        __syncthreads();  // bug: this barrier and the next are not one
    } else {
        __syncthreads();
    }
    if (n == 0) out[0] = x[0];
}

KERNEL(barrier_against_collective) {
    if (threadIdx.x % 32 == 0) {
        __syncthreads();  // bug: its lane is awaited below, and it waits for those who wait
    } else {
        __syncwarp();
    }
    if (n == 0) out[0] = x[0];
}

// ---------------------------------------------------------------- warp collectives

KERNEL(mask_without_caller) {
    const u32 votes = __ballot_sync(0x0000ffffu, x[threadIdx.x] & 1);  // bug: all 32 lanes call
    if (n == 0) out[0] = votes;
}

KERNEL(mask_names_absent_lanes) {
    if ((threadIdx.x & 31) >= 16) return;
    const u32 votes = __ballot_sync(FULL_WARP, x[threadIdx.x] & 1);  // bug: half of them have left
    if (n == 0) out[0] = votes;
}

KERNEL(masks_differ) {
    const u32 mask = (threadIdx.x & 1) != 0 ? FULL_WARP : 0x55555555u;  // bug: odd lanes name the even, not conversely
    const u32 votes = __ballot_sync(mask, x[threadIdx.x] & 1);
    __syncwarp();
    if (n == 0) out[0] = votes;
}

KERNEL(different_collectives) {
    u32 seen;
    if ((threadIdx.x & 31) < 16) {
        seen = __ballot_sync(FULL_WARP, x[threadIdx.x] & 1);
    } else {
        seen = static_cast<u32>(__any_sync(FULL_WARP, x[threadIdx.x] & 1));  // bug: a ballot waits for these lanes
    }
    if (n == 0) out[0] = seen;
}

KERNEL(shuffle_from_outside_mask) {
    if ((threadIdx.x & 31) >= 16) return;
    const u32 other = __shfl_xor_sync(0x0000ffffu, x[threadIdx.x], 16);  // bug: lanes 16 to 31 take no part
    if (n == 0) out[0] = other;
}

KERNEL(shuffle_width) {
    const u32 other = __shfl_down_sync(FULL_WARP, x[threadIdx.x], 1, 24);  // bug: widths are powers of two
    if (n == 0) out[0] = other;
}
