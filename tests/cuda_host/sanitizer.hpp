// What ASan and TSan have to be told about fibers. Without a sanitizer everything here is empty.
//
// ASan keeps the bounds of the current stack; it is told of each change of stack.
//
// TSan takes each fiber for a thread. It is told of each switch with "no_sync", so that one fiber running after
// another on the host orders nothing. What does order memory on the device (a launch, a barrier, a fence) is modelled
// by a Token: what happened before a release is visible after an acquire. Two accesses that remain unordered are
// reported, whatever the schedule was. Blocks are unordered too: neighbours run on different TSan threads, and shared
// memory, which they reuse, is renewed in between. Functions of the emulator itself are not instrumented.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
extern "C" void __tsan_java_free(unsigned long begin, unsigned long bytes);
extern "C" void __tsan_java_alloc(unsigned long begin, unsigned long bytes);
#define CUDA_HOST_UNSEEN __attribute__((no_sanitize("thread")))
// An inline variable that all libraries of the process share. (Everything else is hidden and each library's own.)
#define CUDA_HOST_SHARED __attribute__((visibility("default")))
#else
#define CUDA_HOST_UNSEEN
#define CUDA_HOST_SHARED
#endif

namespace cuda_host {

// An object of the happens-before relation.
class Token {
  public:
#if defined(__SANITIZE_THREAD__)
    CUDA_HOST_UNSEEN void release() { __tsan_release(this); }
    CUDA_HOST_UNSEEN void acquire() { __tsan_acquire(this); }
#else
    void release() {}
    void acquire() {}
#endif
  private:
    char address_ = 0;
};

// A barrier seen by TSan: all that went before it in any participant happens before all that follows it in any other.
// The phases take two tokens in turn: with one, a thread slow to wake would acquire what others release at the next
// phase.
class BarrierTokens {
  public:
    CUDA_HOST_UNSEEN unsigned arrive() {
        tokens_[phase_].release();
        return phase_;
    }
    CUDA_HOST_UNSEEN void leave(unsigned phase) { tokens_[phase].acquire(); }
    CUDA_HOST_UNSEEN void complete() { phase_ ^= 1; }

  private:
    Token tokens_[2];
    unsigned phase_ = 0;
};

// What the sanitizers know of one stack: its bounds and ASan's fake frames, and TSan's idea of the thread on it.
struct StackRecord {
    const void* bottom = nullptr;
    size_t size = 0;
    void* fake_frames = nullptr;
    void* thread = nullptr;
};

// TSan takes what follows for the thread's, and for ordered by nothing after what went before.
CUDA_HOST_UNSEEN inline void become_tsan_thread([[maybe_unused]] void* thread) {
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(thread, __tsan_switch_to_fiber_no_sync);
#endif
}

// Call just before leaving `from` for `to`. A stack that `ends` is never returned to.
CUDA_HOST_UNSEEN inline void announce_switch([[maybe_unused]] StackRecord& from, [[maybe_unused]] const StackRecord& to,
                                             [[maybe_unused]] bool ends) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(ends ? nullptr : &from.fake_frames, to.bottom, to.size);
#endif
    become_tsan_thread(to.thread);
}

// Call first thing on `here`; `left` gets the bounds of the stack that was left.
CUDA_HOST_UNSEEN inline void confirm_switch([[maybe_unused]] const StackRecord& here,
                                            [[maybe_unused]] StackRecord& left) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(here.fake_frames, &left.bottom, &left.size);
#endif
}

CUDA_HOST_UNSEEN inline void forget_stack_contents([[maybe_unused]] StackRecord& record) {
    record.fake_frames = nullptr;
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(record.bottom, record.size);
#endif
}

// Makes TSan take the memory for new: nothing accessed it yet. (The hooks for Java's heap are the only ones that say
// so to the byte.)
CUDA_HOST_UNSEEN inline void renew_memory([[maybe_unused]] char* begin, [[maybe_unused]] size_t bytes) {
#if defined(__SANITIZE_THREAD__)
    if (bytes == 0) return;
    const auto address = reinterpret_cast<unsigned long>(begin);
    const unsigned long whole_words = (bytes + 7) & ~7ul;
    __tsan_java_free(address, whole_words);
    __tsan_java_alloc(address, whole_words);
#endif
}

CUDA_HOST_UNSEEN inline void* current_tsan_thread() {
#if defined(__SANITIZE_THREAD__)
    return __tsan_get_current_fiber();
#else
    return nullptr;
#endif
}

// Costs TSan about half a millisecond: made once for each thread of a block and kept.
CUDA_HOST_UNSEEN inline void* new_tsan_thread() {
#if defined(__SANITIZE_THREAD__)
    return __tsan_create_fiber(0);
#else
    return nullptr;
#endif
}

CUDA_HOST_UNSEEN inline void destroy_tsan_thread([[maybe_unused]] void* thread) {
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(thread);
#endif
}

}  // namespace cuda_host
