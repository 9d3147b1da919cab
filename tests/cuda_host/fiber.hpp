// Fibers: a saved context, a stack with a guard page, and the switch between two of them.
//
// On x86-64 a switch saves the six registers that the ABI gives to the callee and changes the stack pointer, about 3
// ns; elsewhere it is ucontext, which makes a system call each time.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "sanitizer.hpp"

#if !defined(__x86_64__) || defined(CUDA_HOST_UCONTEXT)
#include <ucontext.h>
#define CUDA_HOST_USES_UCONTEXT 1
#endif

namespace cuda_host {

#if defined(CUDA_HOST_USES_UCONTEXT)

struct Context {
    ucontext_t saved;
};

CUDA_HOST_UNSEEN inline void switch_context(Context& from, Context& to) { swapcontext(&from.saved, &to.saved); }

CUDA_HOST_UNSEEN inline void prepare_context(Context& context, char* stack, size_t bytes, void (*entry)()) {
    getcontext(&context.saved);
    context.saved.uc_stack.ss_sp = stack;
    context.saved.uc_stack.ss_size = bytes;
    context.saved.uc_link = nullptr;
    makecontext(&context.saved, entry, 0);
}

#else

struct Context {
    void* stack_pointer;
};

extern "C" void cuda_host_switch_stack(void** save_stack_pointer_here, void* new_stack_pointer);
__asm__(R"(
    .text
    .globl cuda_host_switch_stack
    .hidden cuda_host_switch_stack
    .type cuda_host_switch_stack, @function
cuda_host_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size cuda_host_switch_stack, . - cuda_host_switch_stack
)");

CUDA_HOST_UNSEEN inline void switch_context(Context& from, Context& to) {
    cuda_host_switch_stack(&from.stack_pointer, to.stack_pointer);
}

// Lays out the frame that cuda_host_switch_stack expects: six registers, then where to return to, which is the entry.
CUDA_HOST_UNSEEN inline void prepare_context(Context& context, char* stack, size_t bytes, void (*entry)()) {
    void** top = reinterpret_cast<void**>((reinterpret_cast<uintptr_t>(stack) + bytes) & ~uintptr_t{15});
    *--top = nullptr;  // the entry's own return address: it never returns
    *--top = reinterpret_cast<void*>(entry);
    for (int callee_saved = 0; callee_saved < 6; ++callee_saved) *--top = nullptr;
    context.stack_pointer = top;
}

#endif

// Stacks are handed out last in, first out, so that threads which never wait all run on the same warm one. Not under
// TSan: to it a stack that is handed on is memory that two threads write, so there each owner keeps the stack it once
// got.
class StackPool {
  public:
    static constexpr size_t stack_bytes = 256 * 1024;
    static constexpr size_t guard_bytes = 4096;
    static constexpr unsigned capacity = 2048;  // two for each thread of the largest block

#if defined(__SANITIZE_THREAD__)
    CUDA_HOST_UNSEEN char* take(unsigned owner) {
        if (stacks_[owner] == nullptr) stacks_[owner] = map();
        return stacks_[owner];
    }
    void give_back(char*) {}
    CUDA_HOST_UNSEEN void forget(unsigned owner) {
        if (stacks_[owner] != nullptr) munmap(stacks_[owner] - guard_bytes, guard_bytes + stack_bytes);
        stacks_[owner] = nullptr;
    }
#else
    char* take(unsigned) { return free_ > 0 ? stacks_[--free_] : map(); }
    void give_back(char* stack) { stacks_[free_++] = stack; }
    void forget(unsigned) {}
#endif

  private:
    CUDA_HOST_UNSEEN static char* map() {
        void* memory = mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED || mprotect(memory, guard_bytes, PROT_NONE) != 0) {
            perror("cuda_host: no memory for another stack");
            abort();
        }
        return static_cast<char*>(memory) + guard_bytes;
    }

    char* stacks_[capacity] = {};
    [[maybe_unused]] unsigned free_ = 0;
};

}  // namespace cuda_host
