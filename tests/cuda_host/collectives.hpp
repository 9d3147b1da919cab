// Warp collectives: a warp is released once every lane that a mask names has arrived with the same operation and mask.
//
// PTX (shfl.sync, vote.sync, match.sync, redux.sync): each thread waits until all non-exited threads named by the
// mask have executed the same instruction with the same mask. They may do so from different lines.
#pragma once

#include "scheduler.hpp"

namespace cuda_host {

// Whether the collective that `lane` waits in can complete, and with which lanes. Fails where it never could.
CUDA_HOST_UNSEEN inline bool Scheduler::check_collective(const Thread* lanes, unsigned lane, unsigned lanes_present,
                                                         unsigned warp, unsigned& taking_part) {
    const Thread& asking = lanes[lane];
    const char* const file = asking.site.file;
    const int line = asking.site.line;
    if (lanes_present < warp_lanes && asking.mask >> lanes_present != 0) {
        fail("%s:%d: the mask 0x%08x of %s names lanes beyond the %u of the last warp", file, line, asking.mask,
             name_of(asking.operation), lanes_present);
        return false;
    }
    bool complete = true;
    taking_part = 0;
    for (unsigned other = 0; other < lanes_present; ++other) {
        if ((asking.mask >> other & 1) == 0) continue;
        const Thread& named = lanes[other];
        if (named.status == Status::finished) {
            if (asking.operation == Operation::warp_barrier) continue;
            fail("%s:%d: the mask 0x%08x of %s names lane %u, which has exited", file, line, asking.mask,
                 name_of(asking.operation), other);
            return false;
        }
        if (named.status != Status::in_collective) {
            complete = false;
        } else if (named.operation != asking.operation || named.mask != asking.mask) {
            fail("divergent collective in warp %u: lane %u is in %s(0x%08x) at %s:%d, lane %u in %s(0x%08x) at %s:%d",
                 warp, lane, name_of(asking.operation), asking.mask, file, line, other, name_of(named.operation),
                 named.mask, named.site.file, named.site.line);
            return false;
        } else {
            taking_part |= 1u << other;
        }
    }
    return complete;
}

// The lane that a shuffle reads: its own where the source would lie outside its segment of `width` lanes.
inline unsigned shuffle_source(const Thread& thread, unsigned lane) {
    const unsigned width = static_cast<unsigned>(thread.width), first = lane / width * width;
    switch (thread.operation) {
        case Operation::shuffle: return first + thread.argument % width;
        case Operation::shuffle_up: return thread.argument > lane - first ? lane : lane - thread.argument;
        case Operation::shuffle_down: return thread.argument >= first + width - lane ? lane : lane + thread.argument;
        default: return (lane ^ thread.argument) >= first + width ? lane : lane ^ thread.argument;
    }
}

CUDA_HOST_UNSEEN inline void Scheduler::complete_collective(Thread* lanes, unsigned lane, unsigned taking_part) {
    const Operation operation = lanes[lane].operation;
    const auto takes_part = [=](unsigned k) { return (taking_part >> k & 1) != 0; };
    unsigned votes = 0;
    for (unsigned k = 0; k < warp_lanes; ++k) {
        if (!takes_part(k)) continue;
        if (lanes[k].value != 0) votes |= 1u << k;
    }
    for (unsigned k = 0; k < warp_lanes; ++k) {
        if (!takes_part(k)) continue;
        Thread& thread = lanes[k];
        switch (operation) {
            case Operation::warp_barrier: break;
            case Operation::shuffle:
            case Operation::shuffle_up:
            case Operation::shuffle_down:
            case Operation::shuffle_xor: {
                const unsigned source = shuffle_source(thread, k);
                if (!takes_part(source))
                    return fail("%s:%d: in %s(0x%08x) lane %u reads lane %u, which takes no part", thread.site.file,
                                thread.site.line, name_of(operation), thread.mask, k, source);
                thread.result = lanes[source].value;
                break;
            }
            case Operation::ballot: thread.result = votes; break;
            case Operation::any: thread.result = votes != 0; break;
            default: break;
        }
        thread.status = Status::ready;
    }
}

// Completes every collective of the warp that can be; lanes of one warp may be in several, under disjoint masks.
CUDA_HOST_UNSEEN inline bool Scheduler::release_warp(unsigned warp) {
    const unsigned first = warp * warp_lanes;
    const unsigned lanes_present = thread_count_ - first < warp_lanes ? thread_count_ - first : warp_lanes;
    Thread* const lanes = threads_ + first;
    bool released = false;
    for (unsigned lane = 0; lane < lanes_present; ++lane) {
        if (lanes[lane].status != Status::in_collective) continue;
        unsigned taking_part = 0;
        if (!check_collective(lanes, lane, lanes_present, warp, taking_part)) {
            if (failed_) return true;
            continue;
        }
        complete_collective(lanes, lane, taking_part);
        if (failed_) return true;
        in_collective_[warp] -= static_cast<unsigned>(__builtin_popcount(taking_part));
        if (lanes[lane].operation == Operation::warp_barrier) order_[set_].warp_barrier[warp].complete();
        released = true;
    }
    return released;
}

}  // namespace cuda_host
