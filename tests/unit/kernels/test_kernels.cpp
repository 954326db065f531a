// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "reference.hpp"

#include <memory>
#include <stdexcept>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tide::test {
namespace {

const Dtype floats[] = {Dtype::bf16, Dtype::fp16, Dtype::fp32, Dtype::fp64};

// Each test runs once for every instruction set that this processor has.
class Kernels : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!force_isa(GetParam())) GTEST_SKIP() << "this processor has no " << name(GetParam());
    ASSERT_EQ(isa(), GetParam());
  }
};
INSTANTIATE_TEST_SUITE_P(Isa, Kernels, testing::Values(Isa::plain, Isa::avx2, Isa::avx512),
                         [](const auto& info) { return name(info.param); });

struct Shape {
  Dtype in, acc, out;
  std::vector<int> groups;
  bool base = false;
  const Arithmetic* final = nullptr;
  bool stream = false;
  size_t skew = 0;        // elements between a page's edge and the data
  bool at_end = true;     // the data ends (or begins) at a faulting page
  bool in_place = false;  // dst is row 0
};

// Memory for the largest case, reused: mapping it anew for each length would take most of the time.
class Bench {
 public:
  Bench(int rows, size_t elems) : elems_(elems), base_(elems * 8), dst_(elems * 8 + 4096) {
    for (int r = 0; r < rows; ++r) rows_.push_back(std::make_unique<Guarded>(elems * 8));
  }

  ::testing::AssertionResult check(const Shape& shape, size_t elems, std::mt19937_64& rng) {
    auto place = [&](Guarded& area, Dtype type) {
      size_t skew = shape.skew * bytes_of(type);
      return shape.at_end ? area.last(elems * bytes_of(type) + skew) : area.first() + skew;
    };
    std::vector<const void*> rows;
    int count = 0;
    for (int n : shape.groups) count += n;
    for (int r = 0; r < count; ++r) {
      char* p = place(*rows_[static_cast<size_t>(r)], shape.in);
      fill(p, shape.in, elems, rng);
      rows.push_back(p);
    }
    char* base = place(base_, shape.acc);
    fill(base, shape.acc, elems, rng);
    char* dst =
        shape.in_place ? static_cast<char*>(const_cast<void*>(rows[0])) : place(dst_, shape.out);
    if (!shape.in_place) fill(dst, shape.out, elems, rng);
    size_t bytes = elems * bytes_of(shape.out);
    // Where no page guards the other side, bytes of a known value do.
    char* beside = shape.in_place ? nullptr : shape.at_end ? dst - 64 : dst + bytes;
    if (beside) std::memset(beside, 0x5a, 64);
    SumRows s{rows.data(), shape.groups.data(), static_cast<int>(shape.groups.size()),
              shape.in,    shape.acc,           shape.base ? base : nullptr,
              dst,         shape.out,           shape.final,
              elems,       shape.stream};
    std::vector<double> want(elems);
    for (size_t i = 0; i < elems; ++i) want[i] = reference_sum(s, i, value_at(dst, shape.out, i));
    sum(s);
    fence();
    for (size_t i = 0; i < elems; ++i) {
      double got = value_at(dst, shape.out, i);
      if (!same_value(got, want[i]))
        return ::testing::AssertionFailure()
               << "element " << i << " of " << elems << ": " << std::hexfloat << got
               << " instead of " << want[i] << " (in " << int(shape.in) << " acc " << int(shape.acc)
               << " out " << int(shape.out) << ", " << shape.groups.size() << " groups, " << count
               << " rows)";
    }
    for (int k = 0; beside && k < 64; ++k)
      if (beside[k] != 0x5a)
        return ::testing::AssertionFailure() << "wrote beside dst, " << elems << " elements";
    return ::testing::AssertionSuccess();
  }

 private:
  size_t elems_;
  std::vector<std::unique_ptr<Guarded>> rows_;
  Guarded base_, dst_;
};

const Arithmetic finals[] = {{false, 1, 1.0, false},   {true, 3, 1.0, false},
                             {true, 7, 0.1, true},     {false, 4, 1.0, true},
                             {false, 1, -0.37, false}, {true, 8, 0x1p-130, true}};

template <class Visit>
void for_each_dtypes(Visit visit) {
  for (Dtype in : floats)
    for (Dtype acc : {Dtype::fp32, Dtype::fp64})
      for (Dtype out : floats)
        if (in != Dtype::fp64 || acc == Dtype::fp64) visit(in, acc, out);
}

TEST_P(Kernels, SumsEveryLengthTo130) {
  Bench bench(9, 256);
  std::mt19937_64 rng(1);
  const std::vector<int> groups[] = {{1},    {2},       {3},          {5},   {8},
                                     {2, 2}, {1, 1, 1}, {3, 0, 1, 4}, {0, 2}};
  size_t turn = 0;
  for_each_dtypes([&](Dtype in, Dtype acc, Dtype out) {
    for (size_t elems = 0; elems <= 130; ++elems, ++turn) {
      Shape s{in,
              acc,
              out,
              groups[turn % std::size(groups)],
              turn % 3 == 0,
              nullptr,
              turn % 2 == 0,
              turn % 5,
              turn % 7 > 2};
      if (turn % 4) s.final = &finals[turn / 4 % std::size(finals)];
      ASSERT_TRUE(bench.check(s, elems, rng));
    }
  });
}

TEST_P(Kernels, SumsEveryShapeDtypeAndArithmetic) {
  Bench bench(9, 512);
  std::mt19937_64 rng(2);
  const std::vector<int> groups[] = {{1}, {2}, {3},    {4},       {5},          {6},   {7},
                                     {8}, {9}, {2, 2}, {1, 1, 1}, {3, 0, 1, 4}, {0, 2}};
  for_each_dtypes([&](Dtype in, Dtype acc, Dtype out) {
    for (auto& g : groups)
      for (bool base : {false, true})
        for (size_t f = 0; f <= std::size(finals); ++f)
          ASSERT_TRUE(bench.check(
              {in, acc, out, g, base, f ? &finals[f - 1] : nullptr, f % 2 == 0, f % 4}, 331, rng));
  });
}

TEST_P(Kernels, SumsLargeAtAnyElementAlignment) {
  constexpr size_t elems = 20011;
  Bench bench(8, elems + 64);
  std::mt19937_64 rng(3);
  for (size_t skew = 0; skew < 33; skew += skew < 3 ? 1 : 5)
    for (bool stream : {false, true}) {
      Arithmetic average{true, 2, 1.0, false};
      ASSERT_TRUE(bench.check(
          {Dtype::bf16, Dtype::fp32, Dtype::fp32, {2}, false, &average, stream, skew}, elems, rng));
      ASSERT_TRUE(bench.check(
          {Dtype::bf16, Dtype::fp32, Dtype::bf16, {2, 2}, true, &finals[2], stream, skew, false},
          elems, rng));
      ASSERT_TRUE(bench.check(
          {Dtype::fp32, Dtype::fp64, Dtype::fp64, {3}, true, nullptr, stream, skew}, elems, rng));
    }
}

TEST_P(Kernels, SumsManyRowsInBlocks) {
  Bench bench(45, 5000);
  std::mt19937_64 rng(4);
  const std::vector<int> groups[] = {{17},           {40}, {8, 9}, {0, 20}, {1, 16, 0, 20, 0},
                                     {9, 9, 9, 9, 9}};
  for (auto& g : groups)
    for (bool base : {false, true})
      for (size_t elems : {0, 1, 2047, 2048, 2049, 4500}) {
        ASSERT_TRUE(bench.check({Dtype::bf16, Dtype::fp32, Dtype::fp32, g, base, nullptr, true},
                                elems, rng));
        ASSERT_TRUE(bench.check(
            {Dtype::fp16, Dtype::fp64, Dtype::bf16, g, base, &finals[2], false, 3, false}, elems,
            rng));
      }
}

TEST_P(Kernels, SumsOntoARow) {
  Bench bench(3, 1024);
  std::mt19937_64 rng(5);
  for (size_t elems : {1, 31, 64, 130, 777})
    for (bool stream : {false, true})
      for (Dtype type : floats) {
        Dtype acc = type == Dtype::fp64 ? Dtype::fp64 : Dtype::fp32;
        ASSERT_TRUE(bench.check({type, acc, type, {3}, false, &finals[1], stream, 0, true, true},
                                elems, rng));
        ASSERT_TRUE(bench.check({type, acc, type, {1, 2}, true, &finals[2], stream, 1, true, true},
                                elems, rng));
      }
}

TEST_P(Kernels, SumOfNothingIsMinusZeroOrBase) {
  float dst[3] = {1, 1, 1}, base[3] = {5, -0.0f, 7};
  sum({nullptr, nullptr, 0, Dtype::bf16, Dtype::fp32, nullptr, dst, Dtype::fp32, nullptr, 3,
       false});
  for (float v : dst) EXPECT_EQ(std::bit_cast<uint32_t>(v), 0x80000000u);
  sum({nullptr, nullptr, 0, Dtype::bf16, Dtype::fp32, base, dst, Dtype::fp32, nullptr, 3, false});
  EXPECT_EQ(std::memcmp(dst, base, sizeof dst), 0);
}

// Case V12: four ranks of the smallest subnormal, then of -0.
TEST_P(Kernels, KeepsSubnormalsAndMinusZero) {
  for (int ranks : {1, 2, 4})
    for (size_t elems : {1, 77}) {
      for (auto [bits, want] :
           {std::pair<uint16_t, uint32_t>{0x0001, ranks * 0x10000u}, {0x8000, 0x80000000u}}) {
        std::vector<uint16_t> row(elems, bits);
        std::vector<const void*> rows(static_cast<size_t>(ranks), row.data());
        std::vector<uint32_t> dst(elems, 0xffffffff);
        sum({rows.data(), &ranks, 1, Dtype::bf16, Dtype::fp32, nullptr, dst.data(), Dtype::fp32,
             nullptr, elems, false});
        for (uint32_t v : dst) ASSERT_EQ(v, want);
      }
    }
}

TEST_P(Kernels, ConvertsEvery16BitPattern) {
  constexpr size_t elems = 65536;
  std::vector<uint16_t> all(elems);
  for (size_t i = 0; i < elems; ++i) all[i] = static_cast<uint16_t>(i);
  std::vector<double> got(elems), plain(elems);
  for (Dtype from : {Dtype::bf16, Dtype::fp16})
    for (Dtype to : floats) {
      convert(got.data(), to, all.data(), from, elems);
      if (from == to) {
        ASSERT_EQ(std::memcmp(got.data(), all.data(), elems * 2), 0) << "bits, NaN payloads too";
      }
      for (size_t i = 0; i < elems; ++i)
        ASSERT_TRUE(
            same_value(value_at(got.data(), to, i), rounded(value_at(all.data(), from, i), to)))
            << std::hex << i;
      force_isa(Isa::plain);
      convert(plain.data(), to, all.data(), from, elems);
      force_isa(GetParam());
      ASSERT_EQ(std::memcmp(got.data(), plain.data(), elems * bytes_of(to)), 0)
          << "NaNs differ from the plain loop's";
    }
}

TEST_P(Kernels, ConvertRoundsOnce) {
  constexpr size_t elems = 60000;
  Guarded from_area(elems * 8), to_area(elems * 8);
  std::vector<char> plain(elems * 8);
  std::mt19937_64 rng(6);
  for (Dtype from : floats)
    for (Dtype to : floats)
      for (size_t n = elems; n > 0; n /= 7) {
        char *src = from_area.last(n * bytes_of(from)), *dst = to_area.last(n * bytes_of(to));
        fill(src, from, n, rng);
        convert(dst, to, src, from, n, n % 2);
        fence();
        for (size_t i = 0; i < n; ++i)
          ASSERT_TRUE(same_value(value_at(dst, to, i), rounded(value_at(src, from, i), to)))
              << std::hexfloat << value_at(src, from, i) << " became " << value_at(dst, to, i);
        force_isa(Isa::plain);
        convert(plain.data(), to, src, from, n);
        force_isa(GetParam());
        ASSERT_EQ(std::memcmp(dst, plain.data(), n * bytes_of(to)), 0)
            << "NaNs differ from the plain loop's";
      }
}

TEST_P(Kernels, CopiesExactlyTheBytes) {
  constexpr size_t largest = 300001;
  Guarded src_area(largest), a(largest + 4096), b(largest + 4096), c(largest + 4096);
  std::mt19937_64 rng(7);
  for (size_t k = 0; k < largest; ++k) src_area.last(largest)[k] = static_cast<char>(rng());
  std::vector<size_t> lengths = {1000,  4095,  4096,  4097,   4351,   4352,   4353,
                                 65535, 65536, 65537, 131072, 200003, largest};
  for (size_t n = 0; n <= 130; ++n) lengths.push_back(n);
  for (size_t n : lengths)
    for (bool stream : {false, true})
      for (size_t skew : {0, 2, 6, 33}) {
        const char* src = src_area.last(n);
        void* to[] = {a.last(n), b.last(n + skew), c.first() + skew};
        auto unchanged = [&](void* p) {  // the bytes just before, where there are some
          char before[32];
          std::memset(before, 0x5a, 32);
          return p == to[2] || std::memcmp(static_cast<char*>(p) - 32, before, 32) == 0;
        };
        for (void* p : to) std::memset(p, 0, n);
        for (int k = 0; k < 2; ++k) std::memset(static_cast<char*>(to[k]) - 32, 0x5a, 32);
        copy_to_all(to, 3, src, n, stream);
        fence();
        for (void* p : to)
          ASSERT_TRUE(std::memcmp(p, src, n) == 0 && unchanged(p))
              << n << " bytes to all, skew " << skew;
        std::memset(to[1], 0, n);
        copy(to[1], src, n, stream);
        fence();
        ASSERT_TRUE(std::memcmp(to[1], src, n) == 0 && unchanged(to[1]))
            << n << " bytes, skew " << skew;
      }
}

#if defined(__x86_64__)
TEST_P(Kernels, WorksInAnyFloatModeAndRestoresIt) {
  constexpr unsigned flush = 0x8000, zero_inputs = 0x0040, round_down = 0x2000,
                     unmasked = 0x1f80 & ~0x0800u;
  for (unsigned mode :
       {0x1f80 | flush | zero_inputs, 0x1f80 | round_down, unmasked | flush, 0x1f80u | 0x11u}) {
    std::vector<uint16_t> row(77, 0x0001);
    const void* rows[] = {row.data(), row.data(), row.data()};
    int three = 3;
    std::vector<uint16_t> dst(77), converted(77);
    std::vector<float> from(77, 0x1.03p-127f), wide(77),
        small(77);  // 64.75 of bf16's smallest step
    Arithmetic scaled{false, 1, 0x1.8p-1, false};
    unsigned before = _mm_getcsr();
    _mm_setcsr(mode);
    sum({rows, &three, 1, Dtype::bf16, Dtype::fp32, nullptr, wide.data(), Dtype::fp32, nullptr, 77,
         true});
    unsigned after_sum = _mm_getcsr();
    sum({rows, &three, 1, Dtype::bf16, Dtype::fp32, nullptr, dst.data(), Dtype::bf16, &scaled, 77,
         false});
    convert(small.data(), Dtype::fp32, row.data(), Dtype::fp16, 77);
    convert(converted.data(), Dtype::bf16, from.data(), Dtype::fp32, 77);
    unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(after_sum, mode);
    EXPECT_EQ(after, mode);
    for (float v : wide) ASSERT_EQ(std::bit_cast<uint32_t>(v), 0x00030000u);
    for (uint16_t v : dst) ASSERT_EQ(v, 2);  // 3 * 0.75 = 2.25
    for (uint16_t v : converted) ASSERT_EQ(v, 0x0041);
    for (float v : small) ASSERT_EQ(v, 0x1p-24f);
  }
}
#endif

TEST_P(Kernels, RefusesWhatHasNoArithmetic) {
  float dst[1] = {};
  const void* rows[] = {dst};
  int one = 1;
  EXPECT_THROW(
      sum({rows, &one, 1, Dtype::fp64, Dtype::fp32, nullptr, dst, Dtype::fp32, nullptr, 1, false}),
      std::logic_error);
  EXPECT_THROW(
      sum({rows, &one, 1, Dtype::uint8, Dtype::fp32, nullptr, dst, Dtype::fp32, nullptr, 1, false}),
      std::logic_error);
  EXPECT_THROW(convert(dst, Dtype::fp32, dst, Dtype::uint8, 1), std::logic_error);
}

TEST(KernelChoice, NamesAndSizes) {
  EXPECT_STREQ(name(Isa::avx512), "avx512");
  EXPECT_TRUE(force_isa(Isa::plain));
  EXPECT_EQ(isa(), Isa::plain);
  size_t want[] = {2, 2, 4, 8};
  for (int k = 0; k < 4; ++k) EXPECT_EQ(bytes_of(floats[k]), want[k]);
  EXPECT_EQ(bytes_of(Dtype::uint8), 1u);
}

}  // namespace
}  // namespace tide::test
