// What the library shows to Python: its kernels, their signatures read from the C++ types, and launching one.
#pragma once

#include <cstddef>
#include <cstdio>
#include <type_traits>
#include <utility>

#include "scheduler.hpp"

namespace cuda_host {

// One parameter in the kernel table's notation: NumPy's kind and size, '*' before it for a pointer, 'c' for const.
template <class Parameter>
int describe(char* text, size_t room) {
    using Target = std::remove_cv_t<std::remove_pointer_t<Parameter>>;
    constexpr bool is_pointer = std::is_pointer_v<Parameter>;
    constexpr bool is_const = is_pointer && std::is_const_v<std::remove_pointer_t<Parameter>>;
    constexpr char kind = std::is_same_v<Target, bool>       ? 'b'
                          : std::is_floating_point_v<Target> ? 'f'
                          : std::is_unsigned_v<Target>       ? 'u'
                          : std::is_integral_v<Target>       ? 'i'
                                                             : 'V';
    return snprintf(text, room, "%s%s%c%zu", is_pointer ? "*" : "", is_const ? "c" : "", kind, sizeof(Target));
}

template <class... Parameters, size_t... Place>
void call(void (*kernel)(Parameters...), [[maybe_unused]] void** arguments, std::index_sequence<Place...>) {
    kernel(*static_cast<Parameters*>(arguments[Place])...);
}

template <auto kernel>
struct Entry;
template <class... Parameters, void (*kernel)(Parameters...)>
struct Entry<kernel> {
    static void run(void** arguments) { call(kernel, arguments, std::index_sequence_for<Parameters...>{}); }
    static const char* signature() {  // "*cu8,i4"
        static char text[16 * sizeof...(Parameters) + 1];
        size_t used = 0;
        ((used += static_cast<size_t>(describe<Parameters>(text + used, sizeof text - used)), text[used++] = ','), ...);
        if (used > 0) text[used - 1] = '\0';
        return text;
    }
};

struct KernelEntry {
    const char* name;
    unsigned launch_bound;  // of __launch_bounds__, or max_threads
    const char* (*signature)();
    void (*run)(void** arguments);
};

static char launch_refusal[256];

// Whether the hardware would take the launch; the limits are those of every architecture since sm_75.
inline bool check_launch(const KernelEntry& kernel, const unsigned* grid, const unsigned* block,
                         size_t dynamic_shared) {
    launch_refusal[0] = '\0';
    const uint64_t threads = uint64_t{block[0]} * block[1] * block[2];
    const auto refuse = [](auto... values) { snprintf(launch_refusal, sizeof launch_refusal, values...); };
    if (threads == 0 || block[0] > 1024 || block[1] > 1024 || block[2] > 64 || threads > max_threads)
        refuse("a block of %u x %u x %u threads cannot be launched: 1 to 1024 in all, at most 64 along z", block[0],
               block[1], block[2]);
    else if (threads > kernel.launch_bound)
        refuse("a block of %u threads exceeds the kernel's __launch_bounds__(%u)", static_cast<unsigned>(threads),
               kernel.launch_bound);
    else if (uint64_t{grid[0]} * grid[1] * grid[2] == 0 || grid[0] > 0x7fffffffu || grid[1] > 65535 || grid[2] > 65535)
        refuse("a grid of %u x %u x %u blocks cannot be launched: at most 2^31-1, 65535, 65535", grid[0], grid[1],
               grid[2]);
    else if (dynamic_shared > max_dynamic_shared)
        refuse("%zu bytes of dynamic shared memory exceed the %zu any device has", dynamic_shared, max_dynamic_shared);
    return launch_refusal[0] == '\0';
}

// What went wrong, or null.
inline const char* launch(const KernelEntry& kernel, const unsigned* grid, const unsigned* block, size_t dynamic_shared,
                          void** arguments, Order order, unsigned seed, uint64_t first_block, uint64_t blocks) {
    if (!check_launch(kernel, grid, block, dynamic_shared)) return launch_refusal;
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {block[0], block[1], block[2]};
    const Launch launch{kernel.run, arguments, dynamic_shared, order, seed, first_block, blocks};
    return scheduler.run(launch) ? nullptr : scheduler.error();
}

}  // namespace cuda_host

// The builder lists the kernels: CUDA_HOST_KERNELS_BEGIN CUDA_HOST_KERNEL(name, launch bound)... CUDA_HOST_KERNELS_END
#define CUDA_HOST_EXPORT extern "C" __attribute__((visibility("default")))
#define CUDA_HOST_KERNELS_BEGIN static const cuda_host::KernelEntry cuda_host_kernels[] = {
#define CUDA_HOST_KERNEL(name, launch_bound) \
    {#name, launch_bound, &cuda_host::Entry<name>::signature, &cuda_host::Entry<name>::run},
#define CUDA_HOST_KERNELS_END                                                                                        \
    };                                                                                                               \
    CUDA_HOST_EXPORT int cuda_host_count() { return sizeof cuda_host_kernels / sizeof cuda_host_kernels[0]; }        \
    CUDA_HOST_EXPORT const char* cuda_host_name(int k) { return cuda_host_kernels[k].name; }                         \
    CUDA_HOST_EXPORT const char* cuda_host_signature(int k) { return cuda_host_kernels[k].signature(); }             \
    CUDA_HOST_EXPORT const char* cuda_host_launch(int k, const unsigned* grid, const unsigned* block,                \
                                                  size_t dynamic_shared, void** arguments, int order,                \
                                                  unsigned seed, uint64_t first_block, uint64_t blocks) {            \
        return cuda_host::launch(cuda_host_kernels[k], grid, block, dynamic_shared, arguments,                       \
                                 static_cast<cuda_host::Order>(order), seed, first_block, blocks);                   \
    }
