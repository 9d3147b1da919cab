// The scheduler: runs a grid block by block, and a block's threads fiber by fiber from one wait to the next.
//
// A pass resumes every thread that can run, in the order asked for. Each runs until it waits or ends. Then the warps
// whose collectives are complete, and the block if all its threads are at the barrier, are released for the next
// pass. A pass that neither ran nor released anything is a deadlock; very many passes in which threads only spin are
// a livelock.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fiber.hpp"
#include "language.hpp"
#include "sanitizer.hpp"
#include "shared_memory.hpp"

namespace cuda_host {

constexpr unsigned max_threads = 1024;
constexpr unsigned warp_lanes = 32;
constexpr unsigned max_warps = max_threads / warp_lanes;
constexpr unsigned full_mask = 0xffffffffu;
constexpr unsigned max_idle_passes = 20000;

enum class Operation : uint8_t {
    none,
    barrier,
    warp_barrier,
    shuffle, shuffle_up, shuffle_down, shuffle_xor,
    ballot, any,
};

inline const char* name_of(Operation operation) {
    static const char* const names[] = {
        "nothing",
        "__syncthreads",
        "__syncwarp",
        "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync",
        "__ballot_sync", "__any_sync",
    };
    return names[static_cast<int>(operation)];
}

// Where in the kernel's source an intrinsic was called: the default argument `Site at = here()` is evaluated at the
// call.
struct Site {
    const char* file = nullptr;
    int line = 0;
};
constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }

enum class Status : uint8_t { fresh, ready, at_barrier, in_collective, finished };

struct Thread {
    Status status = Status::fresh;
    Operation operation = Operation::none;  // what it waits for, with its operands
    Site site;
    unsigned mask = 0;
    unsigned argument = 0;
    int width = 0;
    uint64_t value = 0;
    uint64_t result = 0;
    uint3 index{};
    Context context{};
    char* stack = nullptr;
    StackRecord record;
};

enum class Order : int { forward = 0, reverse = 1, shuffle = 2 };

struct Launch {
    void (*kernel)(void** arguments);
    void** arguments;
    size_t dynamic_shared;
    Order order;
    unsigned seed;
    uint64_t first_block, blocks;  // which alone run
};

// xorshift64: the same shuffles on every machine.
class Shuffler {
  public:
    explicit Shuffler(unsigned seed) : state_(0x9E3779B97F4A7C15ull * (uint64_t{seed} + 1)) {}
    template <class T>
    CUDA_HOST_UNSEEN void shuffle(T* items, size_t count) {
        for (size_t k = count; k > 1; --k) {
            const size_t other = next() % k;
            const T kept = items[k - 1];
            items[k - 1] = items[other];
            items[other] = kept;
        }
    }

  private:
    CUDA_HOST_UNSEEN uint64_t next() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_;
    }
    uint64_t state_;
};

// The stacks of fibers, and for each thread of the largest block, of even and of odd blocks, what TSan takes it for. TSan keeps in each
// of its threads a clock for each other one, so a wait costs as much as there are threads: all libraries use the same.
struct FiberPool {
    StackPool stacks;
    void* tsan_threads[2 * max_threads] = {};
};
CUDA_HOST_SHARED inline FiberPool fibers;

class Scheduler {
  public:
    // Runs the whole grid; false where it failed, and error() says why.
    bool run(const Launch& launch);
    const char* error() const { return error_; }
    char* dynamic_shared() { return shared_.dynamic(); }

    // Called from kernels, on a fiber.
    void wait_at_barrier(Site site);
    uint64_t wait_in_collective(Operation operation, unsigned mask, uint64_t value, unsigned argument, int width,
                                Site site);
    void yield();
    void fence();
    [[noreturn]] __attribute__((format(printf, 2, 3))) void refuse(const char* format, ...);
    bool in_kernel() const { return current_ != nullptr; }

  private:
    __attribute__((format(printf, 2, 3))) void fail(const char* format, ...);
    void record_failure(const char* format, va_list values);
    void run_block(unsigned set);
    void start(Thread& thread, unsigned set);
    void resume(Thread& thread, unsigned set);
    void return_to_scheduler(bool ends);
    void abandon_threads();
    void begin_tsan_threads(unsigned sets);
    void end_tsan_threads(unsigned sets);
    void release_barrier();
    bool release_warp(unsigned warp);
    bool check_collective(const Thread* lanes, unsigned lane, unsigned lanes_present, unsigned warp,
                          unsigned& taking_part);
    void complete_collective(Thread* lanes, unsigned lane, unsigned taking_part);
    void report_deadlock();
    void report_livelock();
    static void fiber_main();
    unsigned number_of(const Thread& thread) const { return static_cast<unsigned>(&thread - threads_); }

    // What orders memory inside one block. There are two sets, used in turn, so that neighbouring blocks share none.
    struct BlockOrder {
        BarrierTokens barrier;
        BarrierTokens warp_barrier[max_warps];
    };

    const Launch* launch_ = nullptr;
    Thread threads_[max_threads];
    unsigned sequence_[max_threads];
    unsigned thread_count_ = 0;
    unsigned alive_ = 0;
    unsigned at_barrier_ = 0;
    unsigned in_collective_[max_warps];
    bool yielded_ = false;  // the last thread that ran left by yield()
    Thread* current_ = nullptr;
    Context own_context_{};
    StackRecord own_record_;
    SharedMemory shared_;
    BlockOrder order_[2];
    unsigned set_ = 0;
    Token start_, end_, fence_;
    bool failed_ = false;
    char error_[512] = {};
};

static Scheduler scheduler;  // one a library

inline char* dynamic_shared() { return scheduler.dynamic_shared(); }

// ---------------------------------------------------------------- failures

CUDA_HOST_UNSEEN inline void Scheduler::record_failure(const char* format, va_list values) {
    if (failed_) return;  // the first is the cause
    failed_ = true;
    const int used = snprintf(error_, sizeof error_, "block (%u, %u, %u): ", blockIdx.x, blockIdx.y, blockIdx.z);
    vsnprintf(error_ + used, sizeof error_ - static_cast<size_t>(used), format, values);
}

CUDA_HOST_UNSEEN inline void Scheduler::fail(const char* format, ...) {
    va_list values;
    va_start(values, format);
    record_failure(format, values);
    va_end(values);
}

// Ends the launch from inside a kernel.
[[noreturn]] CUDA_HOST_UNSEEN inline void Scheduler::refuse(const char* format, ...) {
    va_list values;
    va_start(values, format);
    record_failure(format, values);
    va_end(values);
    current_->status = Status::finished;
    return_to_scheduler(true);
    abort();
}

// ---------------------------------------------------------------- fibers

CUDA_HOST_UNSEEN inline void Scheduler::fiber_main() {
    Scheduler& self = scheduler;
    confirm_switch(self.current_->record, self.own_record_);
    self.launch_->kernel(self.launch_->arguments);
    self.current_->status = Status::finished;
    self.return_to_scheduler(true);
    abort();
}

CUDA_HOST_UNSEEN inline void Scheduler::return_to_scheduler(bool ends) {
    Thread& self = *current_;
    announce_switch(self.record, own_record_, ends);
    switch_context(self.context, own_context_);
    confirm_switch(self.record, own_record_);
}

CUDA_HOST_UNSEEN inline void Scheduler::start(Thread& thread, unsigned set) {
    const unsigned owner = set * max_threads + number_of(thread);
    thread.stack = fibers.stacks.take(owner);
    thread.record.bottom = thread.stack;
    thread.record.size = StackPool::stack_bytes;
    forget_stack_contents(thread.record);
    thread.record.thread = fibers.tsan_threads[owner];
    prepare_context(thread.context, thread.stack, StackPool::stack_bytes, fiber_main);
    thread.status = Status::ready;
}

CUDA_HOST_UNSEEN inline void Scheduler::resume(Thread& thread, unsigned set) {
    if (thread.status == Status::fresh) start(thread, set);
    current_ = &thread;
    threadIdx = thread.index;
    announce_switch(own_record_, thread.record, false);
    switch_context(own_context_, thread.context);
    StackRecord left;
    confirm_switch(own_record_, left);
    current_ = nullptr;
    if (thread.status == Status::finished) {
        fibers.stacks.give_back(thread.stack);
        thread.stack = nullptr;
        --alive_;
    }
}

// After a failure: the threads that still wait never run again.
CUDA_HOST_UNSEEN inline void Scheduler::abandon_threads() {
    for (unsigned t = 0; t < thread_count_; ++t) {
        if (threads_[t].stack == nullptr) continue;
        fibers.stacks.give_back(threads_[t].stack);
        threads_[t].stack = nullptr;
    }
    for (unsigned owner = 0; owner < 2 * max_threads; ++owner) {
        if (fibers.tsan_threads[owner] == nullptr) continue;
        destroy_tsan_thread(fibers.tsan_threads[owner]);
        fibers.tsan_threads[owner] = nullptr;
        fibers.stacks.forget(owner);
    }
}

// What the host did before the launch happens before all that its threads do, and that before what the host does next. TSan is told so
// for each of its threads once, not for each block that it runs.
CUDA_HOST_UNSEEN inline void Scheduler::begin_tsan_threads(unsigned sets) {
    start_.release();
    for (unsigned set = 0; set < sets; ++set)
        for (unsigned t = 0; t < thread_count_; ++t) {
            void*& thread = fibers.tsan_threads[set * max_threads + t];
            if (thread == nullptr) thread = new_tsan_thread();
            become_tsan_thread(thread);
            start_.acquire();
        }
    become_tsan_thread(own_record_.thread);
}

CUDA_HOST_UNSEEN inline void Scheduler::end_tsan_threads(unsigned sets) {
    for (unsigned set = 0; set < sets; ++set)
        for (unsigned t = 0; t < thread_count_; ++t) {
            become_tsan_thread(fibers.tsan_threads[set * max_threads + t]);
            end_.release();
        }
    become_tsan_thread(own_record_.thread);
    end_.acquire();
}

// ---------------------------------------------------------------- waiting, seen from the kernel

CUDA_HOST_UNSEEN inline void Scheduler::wait_at_barrier(Site site) {
    Thread& self = *current_;
    self.operation = Operation::barrier;
    self.site = site;
    self.status = Status::at_barrier;
    ++at_barrier_;
    BarrierTokens& tokens = order_[set_].barrier;
    const unsigned phase = tokens.arrive();
    return_to_scheduler(false);
    tokens.leave(phase);
}

CUDA_HOST_UNSEEN inline uint64_t Scheduler::wait_in_collective(Operation operation, unsigned mask, uint64_t value,
                                                               unsigned argument, int width, Site site) {
    Thread& self = *current_;
    const unsigned lane = number_of(self) % warp_lanes, warp = number_of(self) / warp_lanes;
    if ((mask >> lane & 1) == 0)
        refuse("%s:%d: lane %u calls %s with the mask 0x%08x, which leaves it out", site.file, site.line, lane,
               name_of(operation), mask);
    self.operation = operation;
    self.mask = mask;
    self.value = value;
    self.argument = argument;
    self.width = width;
    self.site = site;
    self.status = Status::in_collective;
    ++in_collective_[warp];
    if (operation != Operation::warp_barrier) {  // shuffles and votes order no memory
        return_to_scheduler(false);
        return self.result;
    }
    BarrierTokens& tokens = order_[set_].warp_barrier[warp];
    const unsigned phase = tokens.arrive();
    return_to_scheduler(false);
    tokens.leave(phase);
    return 0;
}

// Lets the block's other threads run: a thread that spins on a lock would otherwise never see it freed.
CUDA_HOST_UNSEEN inline void Scheduler::yield() {
    yielded_ = true;
    return_to_scheduler(false);
}

CUDA_HOST_UNSEEN inline void Scheduler::fence() {
    fence_.acquire();
    fence_.release();
}

// ---------------------------------------------------------------- running a block, and a grid

CUDA_HOST_UNSEEN inline void Scheduler::release_barrier() {
    const Thread* first = nullptr;
    for (unsigned t = 0; t < thread_count_; ++t) {
        const Thread& thread = threads_[t];
        if (thread.status != Status::at_barrier) continue;
        if (first == nullptr) first = &thread;
        const bool same_file =
            thread.site.file == first->site.file || strcmp(thread.site.file, first->site.file) == 0;
        if (thread.operation != first->operation || thread.site.line != first->site.line || !same_file)
            return fail("divergent barrier: thread %u is at %s (%s:%d), thread %u at %s (%s:%d)", number_of(*first),
                        name_of(first->operation), first->site.file, first->site.line, t, name_of(thread.operation),
                        thread.site.file, thread.site.line);
    }
    if (alive_ != thread_count_)
        return fail("%s:%d: %u of %u threads exited before this %s", first->site.file, first->site.line,
                    thread_count_ - alive_, thread_count_, name_of(first->operation));
    for (unsigned t = 0; t < thread_count_; ++t) {
        Thread& thread = threads_[t];
        thread.status = Status::ready;
    }
    at_barrier_ = 0;
    order_[set_].barrier.complete();
}

CUDA_HOST_UNSEEN inline void Scheduler::report_deadlock() {
    for (unsigned t = 0; t < thread_count_; ++t) {
        const Thread& thread = threads_[t];
        if (thread.status != Status::at_barrier && thread.status != Status::in_collective) continue;
        return fail("deadlock: thread %u waits at %s (%s:%d); of %u threads %u exited and %u are at a block barrier", t,
                    name_of(thread.operation), thread.site.file, thread.site.line, thread_count_,
                    thread_count_ - alive_, at_barrier_);
    }
}

CUDA_HOST_UNSEEN inline void Scheduler::report_livelock() {
    for (unsigned t = 0; t < thread_count_; ++t)
        if (threads_[t].status == Status::ready)
            return fail("livelock: thread %u spins, and of %u threads %u exited and %u are at a block barrier", t,
                        thread_count_, thread_count_ - alive_, at_barrier_);
}

CUDA_HOST_UNSEEN inline void Scheduler::run_block(unsigned set) {
    shared_.poison();
    set_ = set;
    alive_ = thread_count_;
    at_barrier_ = 0;
    const unsigned warps = (thread_count_ + warp_lanes - 1) / warp_lanes;
    for (unsigned w = 0; w < warps; ++w) in_collective_[w] = 0;
    for (unsigned t = 0; t < thread_count_; ++t) threads_[t].status = Status::fresh;
    unsigned idle_passes = 0;
    while (alive_ > 0 && !failed_) {
        bool progress = false, spinning = false;
        for (unsigned k = 0; k < thread_count_ && !failed_; ++k) {
            Thread& thread = threads_[sequence_[k]];
            if (thread.status != Status::ready && thread.status != Status::fresh) continue;
            yielded_ = false;
            resume(thread, set);
            if (yielded_) spinning = true;
            else progress = true;
        }
        for (unsigned w = 0; w < warps && !failed_; ++w)
            if (in_collective_[w] > 0) progress |= release_warp(w);
        if (at_barrier_ > 0 && at_barrier_ == alive_ && !failed_) {
            release_barrier();
            progress = true;
        }
        if (progress) idle_passes = 0;
        else if (failed_) break;
        else if (!spinning) report_deadlock();
        else if (++idle_passes == max_idle_passes) report_livelock();
    }
    if (!failed_ && !shared_.guards_are_intact())
        fail("wrote outside its dynamic shared memory of %zu bytes", launch_->dynamic_shared);
}

CUDA_HOST_UNSEEN inline bool Scheduler::run(const Launch& launch) {
    launch_ = &launch;
    failed_ = false;
    thread_count_ = blockDim.x * blockDim.y * blockDim.z;
    shared_.allocate(launch.dynamic_shared);
    own_record_.thread = current_tsan_thread();
    for (unsigned t = 0; t < thread_count_; ++t) {
        threads_[t].index = {t % blockDim.x, t / blockDim.x % blockDim.y, t / (blockDim.x * blockDim.y)};
        sequence_[t] = launch.order == Order::reverse ? thread_count_ - 1 - t : t;
    }

    Shuffler shuffler(launch.seed);
    const uint64_t blocks = launch.blocks;
    uint64_t* block_sequence = nullptr;
    if (launch.order == Order::shuffle) {
        block_sequence = static_cast<uint64_t*>(malloc(blocks * sizeof *block_sequence));
        for (uint64_t b = 0; b < blocks; ++b) block_sequence[b] = b;
        shuffler.shuffle(block_sequence, blocks);
    }
    const unsigned sets = blocks > 1 ? 2 : 1;
    begin_tsan_threads(sets);
    for (uint64_t k = 0; k < blocks && !failed_; ++k) {
        uint64_t block = k;
        if (launch.order == Order::reverse) block = blocks - 1 - k;
        if (launch.order == Order::shuffle) {
            block = block_sequence[k];
            shuffler.shuffle(sequence_, thread_count_);
        }
        block += launch.first_block;
        blockIdx = {static_cast<unsigned>(block % gridDim.x), static_cast<unsigned>(block / gridDim.x % gridDim.y),
                    static_cast<unsigned>(block / (uint64_t{gridDim.x} * gridDim.y))};
        run_block(static_cast<unsigned>(k & 1));
    }
    end_tsan_threads(sets);
    free(block_sequence);
    if (failed_) abandon_threads();
    shared_.release();
    return !failed_;
}

}  // namespace cuda_host
