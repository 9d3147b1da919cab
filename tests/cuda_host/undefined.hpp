// Handlers for UBSan's checks, in place of libubsan's: undefined behaviour in a kernel ends the launch with one
// sentence instead of the process, so the check can run in every ordinary test run.
//
// The compiler calls __ubsan_handle_CHECK_abort(data, operands...). Of the data, only the place in the source comes
// first in all checks; the few that say more are read further. The handlers are hidden: they serve this library
// alone.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "scheduler.hpp"

namespace cuda_host {

struct UndefinedAt {
    const char* file;
    uint32_t line;
    uint32_t column;
};

struct UndefinedType {
    uint16_t kind;
    uint16_t info;
    char name[1];
};

struct IndexCheck {
    UndefinedAt at;
    const UndefinedType* array;
    const UndefinedType* index;
};

struct PointerCheck {
    UndefinedAt at;
    const UndefinedType* type;
    unsigned char log_alignment;
    unsigned char access;
};

[[noreturn]] CUDA_HOST_UNSEEN inline void undefined(const UndefinedAt& at, const char* what, const char* detail = "") {
    if (scheduler.in_kernel()) scheduler.refuse("%s:%u:%u: %s%s", at.file, at.line, at.column, what, detail);
    fprintf(stderr, "%s:%u:%u: %s%s, outside any kernel\n", at.file, at.line, at.column, what, detail);
    abort();
}

// The handlers take the compiler's names by asm label: as C++ names those are built in, with other parameters.
#define CUDA_HOST_HANDLER(check, ...)                                                                            \
    [[noreturn]] __attribute__((visibility("hidden"), used)) void undefined_##check(__VA_ARGS__) __asm__(        \
        "__ubsan_handle_" #check);                                                                               \
    CUDA_HOST_UNSEEN void undefined_##check(__VA_ARGS__)
#define CUDA_HOST_UNDEFINED(check, what) \
    CUDA_HOST_HANDLER(check, const UndefinedAt* at) { undefined(*at, what); }

CUDA_HOST_UNDEFINED(add_overflow_abort, "signed addition overflows")
CUDA_HOST_UNDEFINED(sub_overflow_abort, "signed subtraction overflows")
CUDA_HOST_UNDEFINED(mul_overflow_abort, "signed multiplication overflows")
CUDA_HOST_UNDEFINED(negate_overflow_abort, "negation overflows")
CUDA_HOST_UNDEFINED(divrem_overflow_abort, "division by zero, or its quotient overflows")
CUDA_HOST_UNDEFINED(shift_out_of_bounds_abort, "shift by a negative count, or by the width or more, or of a sign bit")
CUDA_HOST_UNDEFINED(vla_bound_not_positive_abort, "array of no elements")
CUDA_HOST_UNDEFINED(load_invalid_value_abort, "a bool or enum that holds no value of its type")
CUDA_HOST_UNDEFINED(float_cast_overflow_abort, "float does not fit the integer type")
CUDA_HOST_UNDEFINED(pointer_overflow_abort, "pointer arithmetic overflows")
CUDA_HOST_UNDEFINED(nonnull_arg_abort, "null for an argument that must not be")
CUDA_HOST_UNDEFINED(nonnull_return_v1_abort, "null returned where it must not be")
CUDA_HOST_UNDEFINED(invalid_builtin_abort, "zero passed to a builtin that is undefined there")
CUDA_HOST_UNDEFINED(builtin_unreachable, "reached what is marked unreachable")
CUDA_HOST_UNDEFINED(missing_return, "left a function without the value it returns")

CUDA_HOST_HANDLER(out_of_bounds_abort, const IndexCheck* check, uintptr_t index) {
    char detail[128];
    const bool is_signed = (check->index->info & 1) != 0;
    snprintf(detail, sizeof detail, is_signed ? "%lld of %s" : "%llu of %s", static_cast<long long>(index),
             check->array->name);
    undefined(check->at, "out of bounds: index ", detail);
}

CUDA_HOST_HANDLER(type_mismatch_v1_abort, const PointerCheck* check, uintptr_t address) {
    const uintptr_t alignment = uintptr_t{1} << check->log_alignment;
    const char* what = "out of bounds: too little room for ";
    if (address == 0) what = "null pointer to ";
    else if ((address & (alignment - 1)) != 0) what = "misaligned address for ";
    undefined(check->at, what, check->type->name);
}

}  // namespace cuda_host
