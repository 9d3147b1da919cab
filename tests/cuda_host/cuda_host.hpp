// CUDA C++ kernels on the CPU: the emulator the tests run the project's own .cu files in. No GPU, no CUDA toolkit.
//
// A kernel file is compiled by a host compiler behind this header, unchanged. What makes that possible, and what it
// finds:
//
//   * One fiber a CUDA thread (fiber.hpp). A fiber runs until it meets a barrier or a warp collective, and there
//     hands the processor to the scheduler (scheduler.hpp), which runs the block's other threads and then releases
//     those that wait. Blocks run one after another. A kernel without barriers runs each thread to its end on one
//     stack.
//   * Orders. Threads of a block and blocks of a grid run forward, in reverse, or shuffled by a seed. A result that
//     depends on the order (a missing barrier, blocks that build on one another) differs between runs.
//   * Rules are enforced, not assumed (scheduler.hpp, collectives.hpp). Divergent barriers, collectives whose lanes
//     disagree on operation or mask, masks that leave out their caller or name an absent lane, shuffles from a lane
//     that takes no part, deadlocks, and launches the hardware refuses all end the launch with one sentence.
//   * Shared memory is poisoned before each block, so a kernel that reads what nothing wrote gets garbage, and dynamic
//     shared memory has guard bytes on both sides (shared_memory.hpp).
//   * UBSan, with handlers of our own (undefined.hpp): overflow, shifts, indices and misaligned addresses end the
//     launch with one sentence too, in the middle of an ordinary test run.
//   * ASan knows of every fiber's stack and of the size of every shared array. TSan (sanitizer.hpp) takes fibers for
//     threads and is told which barriers and fences order memory, and nothing else: the host's sequential schedule
//     does not hide a race.
//
// What it is not: blocks of one grid never run at the same time, so there is no grid-wide synchronisation; atomics and
// memory are sequentially consistent; textures, and operations on doubles but those that trace.cu uses, are absent. It is stricter than the hardware in two
// places: a barrier must find all threads of its block alive and on the same line, and no collective but __syncwarp may
// name a lane that has exited. (PTX allows both; neither survives a change of the kernel.)
//
// Kernels follow two conventions: dynamic shared memory is declared with DYNAMIC_SHARED(T, name), and what is written in PTX is a
// macro of common.cuh that language.hpp defines before it.
#pragma once

#include "language.hpp"
#include "sanitizer.hpp"
#include "fiber.hpp"
#include "shared_memory.hpp"
#include "scheduler.hpp"
#include "collectives.hpp"
#include "undefined.hpp"
#include "intrinsics.hpp"
#include "abi.hpp"
