// Counts of P-positions: values over a range, and their lengths and residues, which store none of them.
//
// Blocks.  2^m consecutive indices share their high digits, and then share a row: value[h, l] = sum_c rows[h, c] * table[c, l]
// (gpu_nim/counting/digit_matrices.py).  The dimension c is 1 for D_2 and D_3, 2 for D_4 and D_5, 3 for D_6 and D_7.  Arithmetic is
// modulo 2^64 or 2^128, a ring: what wraps on the way does no harm where the value itself is known to fit.
//
// DIMENSION is the table's dimension where the file is compiled for it: a thread keeps its column in registers, as many as it
// needs.  0 stands for any dimension, the launch's: the column is read again for every few rows.
//
// Layout.  table is [dimension][2^m], rows [blocks][dimension], values [2^m] a block, one block after the other; a wide number is
// its low and its high 64 bits, side by side.  An item of work is one column l and a run of rows: a thread keeps the column in
// registers, all lanes of a warp read the same row (one broadcast), and 32 lanes write 512 bytes side by side.  Where values take
// 64 bits a column is two neighbouring l's, so that every store has 16 bytes.
//
// Bytes.  A value costs its own write and dimension / (rows an item) reads of a table that stays in L2: the write is the floor.
// Lengths and residues write nothing, and cost some 30 integer operations a value.
//
// Rows.  A row, too, is linear in the row of a block 2^t times as long: rows[h 2^t + j] = coarse[h] * steps[j], one d x d matrix
// for each string j of t digits, the product of theirs.  So the host makes one row for 2^t blocks.
#include "common.cuh"

#ifndef DIMENSION
#define DIMENSION 0
#endif

namespace {

constexpr u32 THREADS = 256;

// ---------------------------------------------------------------- numbers

struct __align__(16) Wide {                        // an integer modulo 2^128
    u64 low, high;
};
struct __align__(16) Pair {                        // two neighbouring values
    u64 first, second;
};

// Tables and rows are never written while they are read, which the compiler cannot see from a pointer in a struct.
__device__ __forceinline__ u64 load(const u64* from) { return __ldg(from); }
__device__ __forceinline__ Wide load(const Wide* from) {
    const ulonglong2 both = __ldg(reinterpret_cast<const ulonglong2*>(from));
    return Wide{both.x, both.y};
}
__device__ __forceinline__ Pair load(const Pair* from) {
    const ulonglong2 both = __ldg(reinterpret_cast<const ulonglong2*>(from));
    return Pair{both.x, both.y};
}

__device__ __forceinline__ void add(u64& sum, u64 value) { sum += value; }
__device__ __forceinline__ void add(Wide& sum, Wide value) {
    sum.low += value.low;
    sum.high += value.high + (sum.low < value.low);
}

__device__ __forceinline__ void add_product(u64& sum, u64 row, u64 column) { sum += row * column; }
__device__ __forceinline__ void add_product(Pair& sum, u64 row, Pair column) {
    sum.first += row * column.first;
    sum.second += row * column.second;
}
__device__ __forceinline__ void add_product(Wide& sum, Wide row, Wide column) {
    const u64 high = __umul64hi(row.low, column.low) + row.low * column.high + row.high * column.low;
    add(sum, Wide{row.low * column.low, high});
}

// How many binary digits a has.
__device__ __forceinline__ u32 length(u64 a) { return 64u - static_cast<u32>(__clzll(static_cast<i64>(a))); }
__device__ __forceinline__ u32 length(Wide a) { return a.high != 0 ? 64u + length(a.high) : length(a.low); }

// Add digit i to base 2^32 of each thread's value to sums[i], which 2^32 of them cannot wrap.
constexpr u64 HALF = 0xffffffffull;
__device__ __forceinline__ void add_digits(u64* sums, u64 a) { add_sums(sums, a & HALF, a >> 32); }
__device__ __forceinline__ void add_digits(u64* sums, Wide a) {
    add_sums(sums, a.low & HALF, a.low >> 32, a.high & HALF, a.high >> 32);
}

// ---------------------------------------------------------------- rows times columns

// The values to go through: `count` of them from number `first` of the blocks on, first < 2^bits.  A Value may be a Pair; then all
// these numbers count pairs.
template <class Value, class Row>
struct Product {
    const Value* table;
    const Row* rows;
    u32 dimension, bits;
    u64 first, count;
    u32 run;                                       // rows an item
};

// The rows [begin, end) in which an item of column q lies within the range.
template <class Value, class Row>
__device__ __forceinline__ void rows_of(const Product<Value, Row>& product, u64 q, u64 run, u32& begin, u32& end) {
    const u64 from = run * product.run, stop = product.first + product.count;
    const u64 in_range = q < stop ? ((stop - 1 - q) >> product.bits) + 1 : 0;
    begin = static_cast<u32>(max(from, static_cast<u64>(q < product.first)));
    end = static_cast<u32>(min(from + product.run, in_range));
}

// Go through all values, each item's in the order of their rows: visitor.begin(q), visitor.visit(row, value) ...  TOGETHER rows are
// under way together.  A column of a dimension that is compiled in is read once for an item, of any other for every TOGETHER rows.
template <u32 TOGETHER, class Value, class Row, class Visitor>
__device__ __forceinline__ void sweep(const Product<Value, Row>& product, Visitor& visitor) {
    const u64 columns = 1ull << product.bits;
    const u64 runs = ((product.first + product.count - 1) >> product.bits) / product.run + 1;
    for (u64 item = global_thread(); item < runs << product.bits; item += global_threads()) {
        const u64 q = item & (columns - 1);
        u32 row, end;
        rows_of(product, q, item >> product.bits, row, end);
        if (row >= end) continue;
        visitor.begin(q);
#if DIMENSION > 0
        Value kept[DIMENSION];
#pragma unroll
        for (u32 c = 0; c < DIMENSION; ++c) kept[c] = load(product.table + c * columns + q);
#pragma unroll TOGETHER
        for (; row < end; ++row) {
            Value value{};
#pragma unroll
            for (u32 c = 0; c < DIMENSION; ++c) add_product(value, load(product.rows + static_cast<u64>(row) * DIMENSION + c), kept[c]);
            visitor.visit(row, value);
        }
#else
        for (; row < end; row += TOGETHER) {
            const Value* column = product.table + q;
            Value value[TOGETHER] = {};
            for (u32 c = 0; c < product.dimension; ++c, column += columns) {
                const Value here = load(column);
#pragma unroll
                for (u32 i = 0; i < TOGETHER; ++i) {
                    const u64 one = min(row + i, end - 1);
                    add_product(value[i], load(product.rows + one * product.dimension + c), here);
                }
            }
#pragma unroll
            for (u32 i = 0; i < TOGETHER; ++i)
                if (row + i < end) visitor.visit(row + i, value[i]);
        }
#endif
    }
}

// ---------------------------------------------------------------- histograms in shared memory

// `bins` counters in `copies` copies, a power of two: lane l of a warp adds to copy l modulo `copies`, which lies in bank l.  No
// counter may pass 2^32 between clear() and flush().
struct Histogram {
    u32* counters;
    u32 bins, copies;

    __device__ __forceinline__ void clear() const {
        for (u32 i = threadIdx.x; i < bins * copies; i += blockDim.x) counters[i] = 0;
        __syncthreads();
    }
    __device__ __forceinline__ void count(u32 bin) const {
        atomicAdd(&counters[bin * copies + (threadIdx.x & (copies - 1))], 1u);
    }
    __device__ __forceinline__ void flush(u64* __restrict__ totals) const {
        __syncthreads();
        for (u32 bin = threadIdx.x; bin < bins; bin += blockDim.x) {
            u64 total = 0;
            // Lanes begin at different copies: different banks.
            for (u32 copy = 0; copy < copies; ++copy) total += counters[bin * copies + ((copy + bin) & (copies - 1))];
            if (total != 0) atomicAdd(&totals[bin], total);
        }
    }
};

// ---------------------------------------------------------------- what becomes of the values

template <class Value>
struct Store {
    Value* out;                                    // takes value `first`
    u32 bits;
    u64 first, offset;

    __device__ __forceinline__ void begin(u64 q) { offset = q - first; }
    __device__ __forceinline__ void visit(u32 row, Value value) { out[(static_cast<u64>(row) << bits) + offset] = value; }
};

template <class Value>
struct Lengths {
    Histogram histogram;
    Value sum;

    __device__ __forceinline__ void begin(u64) {}
    __device__ __forceinline__ void visit(u32, Value value) {
        add(sum, value);
        histogram.count(length(value));
    }
};

template <class Value>
__device__ __forceinline__ void lengths(const Product<Value, Value>& product, u32 copies, u64* __restrict__ sums,
                                        u64* __restrict__ counts) {
    DYNAMIC_SHARED(u32, counters);
    Lengths<Value> visitor{{counters, 8 * sizeof(Value) + 1, copies}, Value{}};
    visitor.histogram.clear();
    sweep<2>(product, visitor);
    visitor.histogram.flush(counts);
    add_digits(sums, visitor.sum);
}

// Remainders modulo m without a division: with inverse = floor((2^64 - 1) / m), floor(a inverse / 2^64) is the quotient or one
// less.
struct Modulus {
    u32 m;
    u64 inverse;
    u32 word;                                      // 2^64 modulo m

    __device__ __forceinline__ u32 of(u64 a) const {
        const u64 rest = a - __umul64hi(a, inverse) * m;
        return static_cast<u32>(rest >= m ? rest - m : rest);
    }
    __device__ __forceinline__ u32 of(Wide a) const { return of(static_cast<u64>(of(a.high)) * word + of(a.low)); }
};

template <class Value>
struct Residues {
    Modulus modulus;
    Histogram histogram;                           // of no copies where it would not fit
    u64* __restrict__ counts;

    __device__ __forceinline__ void begin(u64) {}
    __device__ __forceinline__ void visit(u32, Value value) {
        const u32 residue = modulus.of(value);
        if (histogram.copies != 0) histogram.count(residue);
        else atomicAdd(&counts[residue], 1ull);
    }
};

template <class Value>
__device__ __forceinline__ void residues(const Product<Value, Value>& product, const Modulus& modulus, u32 copies,
                                         u64* __restrict__ counts) {
    DYNAMIC_SHARED(u32, counters);
    Residues<Value> visitor{modulus, {counters, modulus.m, copies}, counts};
    if (copies != 0) visitor.histogram.clear();
    sweep<2>(product, visitor);
    if (copies != 0) visitor.histogram.flush(counts);
}

// rows[r] = coarse[(first + r) >> t] times steps[(first + r) modulo 2^t], an entry a thread.
template <class Number>
__device__ __forceinline__ void expand(const Number* coarse, const Number* steps, u32 any_dimension, u32 t, u64 first, u64 size,
                                       Number* __restrict__ rows) {
    const u32 dimension = DIMENSION > 0 ? DIMENSION : any_dimension;
    for (u64 entry = global_thread(); entry < size * dimension; entry += global_threads()) {
        const u64 row = first + entry / dimension, i = entry % dimension;
        const Number* from = coarse + (row >> t) * dimension;
        const Number* step = steps + (row & ((1ull << t) - 1)) * dimension * dimension + i;
        Number sum{};
        for (u32 c = 0; c < dimension; ++c) add_product(sum, load(from + c), load(step + static_cast<u64>(c) * dimension));
        rows[entry] = sum;
    }
}

}  // namespace

// rows = coarse rows times steps: see expand().  Rows first to first + size - 1 of those that `coarse` stands for.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
count_rows(const u64* __restrict__ coarse, const u64* __restrict__ steps, u32 dimension, u32 t, u64 first, u64 size,
           u64* __restrict__ rows) {
    expand(coarse, steps, dimension, t, first, size, rows);
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
count_rows_wide(const u64* __restrict__ coarse, const u64* __restrict__ steps, u32 dimension, u32 t, u64 first, u64 size,
                u64* __restrict__ rows) {
    expand(reinterpret_cast<const Wide*>(coarse), reinterpret_cast<const Wide*>(steps), dimension, t, first, size,
           reinterpret_cast<Wide*>(rows));
}

// out = pairs `first` to first + count - 1 of the blocks; bits = m - 1.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
count_fill(const u64* __restrict__ table, const u64* __restrict__ rows, u32 dimension, u32 bits, u64 first, u64 count, u32 run,
           u64* __restrict__ out) {
    const Product<Pair, u64> product{reinterpret_cast<const Pair*>(table), rows, dimension, bits, first, count, run};
    Store<Pair> store{reinterpret_cast<Pair*>(out), bits, first, 0};
    sweep<4>(product, store);
}

// out = values `first` to first + count - 1 of the blocks; bits = m.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
count_fill_wide(const u64* __restrict__ table, const u64* __restrict__ rows, u32 dimension, u32 bits, u64 first, u64 count, u32 run,
                u64* __restrict__ out) {
    const Product<Wide, Wide> product{reinterpret_cast<const Wide*>(table), reinterpret_cast<const Wide*>(rows),
                                      dimension, bits, first, count, run};
    Store<Wide> store{reinterpret_cast<Wide*>(out), bits, first, 0};
    sweep<4>(product, store);
}

// Of the values `first` to first + count - 1, fewer than 2^32 of them: add to counts[l] how many have l binary digits, and to sums[i]
// digit i to base 2^32 of what each thread's values add up to.
extern "C" __global__ void __launch_bounds__(THREADS, 3)
count_lengths(const u64* __restrict__ table, const u64* __restrict__ rows, u32 dimension, u32 bits, u64 first, u64 count, u32 run,
              u32 copies, u64* __restrict__ sums, u64* __restrict__ counts) {
    lengths(Product<u64, u64>{table, rows, dimension, bits, first, count, run}, copies, sums, counts);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
count_lengths_wide(const u64* __restrict__ table, const u64* __restrict__ rows, u32 dimension, u32 bits, u64 first, u64 count,
                   u32 run, u32 copies, u64* __restrict__ sums, u64* __restrict__ counts) {
    lengths(Product<Wide, Wide>{reinterpret_cast<const Wide*>(table), reinterpret_cast<const Wide*>(rows), dimension, bits, first,
                                count, run},
            copies, sums, counts);
}

// Add the values `first` to first + count - 1, fewer than 2^32 of them, to counts[value modulo `modulus`].
extern "C" __global__ void __launch_bounds__(THREADS, 3)
count_residues(const u64* __restrict__ table, const u64* __restrict__ rows, u32 dimension, u32 bits, u64 first, u64 count, u32 run,
               u32 modulus, u64 inverse, u32 word, u32 copies, u64* __restrict__ counts) {
    residues(Product<u64, u64>{table, rows, dimension, bits, first, count, run}, Modulus{modulus, inverse, word}, copies, counts);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
count_residues_wide(const u64* __restrict__ table, const u64* __restrict__ rows, u32 dimension, u32 bits, u64 first, u64 count,
                    u32 run, u32 modulus, u64 inverse, u32 word, u32 copies, u64* __restrict__ counts) {
    residues(Product<Wide, Wide>{reinterpret_cast<const Wide*>(table), reinterpret_cast<const Wide*>(rows), dimension, bits, first,
                                 count, run},
             Modulus{modulus, inverse, word}, copies, counts);
}
