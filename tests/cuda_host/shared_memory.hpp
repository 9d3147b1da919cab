// A block's shared memory: found, poisoned before each block, and guarded.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "sanitizer.hpp"

namespace cuda_host {

constexpr unsigned char poison_byte = 0xA5;  // repeated, it is no small integer, no valid index and no pointer
constexpr unsigned char guard_byte = 0x5C;
constexpr size_t max_dynamic_shared = 227 * 1024;  // the most that any architecture grants a block

CUDA_HOST_UNSEEN inline void poison_memory(char* begin, size_t bytes) {
    renew_memory(begin, bytes);
    memset(begin, poison_byte, bytes);
    renew_memory(begin, bytes);  // TSan has seen memset, which is no access of the kernel's
}

#if defined(__SANITIZE_ADDRESS__)

// ASan checks the bounds of shared arrays itself: static ones are plain static storage, the dynamic one is allocated to
// the byte. Static ones cannot be gathered and are left unpoisoned; the other flavours poison them.
class SharedMemory {
  public:
    void allocate(size_t dynamic_bytes) {
        bytes_ = dynamic_bytes;
        memory_ = static_cast<char*>(malloc(dynamic_bytes));
    }
    void release() { free(memory_); }
    char* dynamic() const { return memory_; }
    void poison() { memset(memory_, poison_byte, bytes_); }
    bool guards_are_intact() const { return true; }

  private:
    char* memory_ = nullptr;
    size_t bytes_ = 0;
};

#else

// Static __shared__ variables are thread-local here (language.hpp), so this library's thread-local segment is the
// block's static shared memory. Dynamic shared memory lies between two guards.
class SharedMemory {
  public:
    CUDA_HOST_UNSEEN void allocate(size_t dynamic_bytes) {
        find_static();  // anew: another host thread has another segment
        dynamic_bytes_ = dynamic_bytes;
        memset(arena_, guard_byte, guard);
        memset(dynamic() + dynamic_bytes, guard_byte, guard);
    }
    void release() {}
    CUDA_HOST_UNSEEN char* dynamic() { return arena_ + guard; }
    CUDA_HOST_UNSEEN void poison() {
        poison_memory(static_begin_, static_bytes_);
        poison_memory(dynamic(), dynamic_bytes_);
    }
    CUDA_HOST_UNSEEN bool guards_are_intact() {
        const char* behind = dynamic() + dynamic_bytes_;
        for (size_t k = 0; k < guard; ++k)
            if (arena_[k] != guard_byte || behind[k] != guard_byte) return false;
        return true;
    }

  private:
    static constexpr size_t guard = 128;

    CUDA_HOST_UNSEEN void find_static() {
        anchor_ = 0;  // the loader allocates the segment at its first use
        dl_iterate_phdr(
            [](dl_phdr_info* library, size_t, void* self) {
                size_t bytes = 0;
                for (int k = 0; k < library->dlpi_phnum; ++k)
                    if (library->dlpi_phdr[k].p_type == PT_TLS) bytes = library->dlpi_phdr[k].p_memsz;
                char* const begin = static_cast<char*>(library->dlpi_tls_data);
                char* const anchor = const_cast<char*>(&anchor_);
                if (begin == nullptr || anchor < begin || anchor >= begin + bytes) return 0;
                static_cast<SharedMemory*>(self)->static_begin_ = begin;
                static_cast<SharedMemory*>(self)->static_bytes_ = bytes;
                return 1;
            },
            this);
    }

    alignas(16) static inline thread_local volatile char anchor_;
    alignas(16) char arena_[guard + max_dynamic_shared + guard];
    size_t dynamic_bytes_ = 0;
    char* static_begin_ = nullptr;
    size_t static_bytes_ = 0;
};

#endif

}  // namespace cuda_host
