// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "dtypes.hpp"
#include "param_list.hpp"

namespace perf {
namespace {

constexpr const char* line_form = "a line is: name rows row_elems [block_rows] [dtype]";
// Byte counts of all ranks together must stay far from the end of 64 bits.
constexpr MPI_Count most_elems = std::numeric_limits<MPI_Count>::max() / 1024;

MPI_Count parse_count(const std::string& where, const char* field, const std::string& word) {
  long long value = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc{} || stop != end || value < 0)
    throw std::invalid_argument(
        fmt::format("{}: {} '{}' is not a whole number >= 0; {}", where, field, word, line_form));
  return value;
}

Param parse_line(const std::string& where, const std::vector<std::string>& words, int dtype) {
  if (words.size() < 3 || words.size() > 5)
    throw std::invalid_argument(
        fmt::format("{}: {} words instead of 3 to 5; {}", where, words.size(), line_form));
  Param p{words[0], 0, 0, 0, dtype};
  p.rows = parse_count(where, "rows", words[1]);
  p.row_elems = parse_count(where, "row_elems", words[2]);
  std::size_t next = 3;
  const bool has_block = words.size() == 5 || (words.size() == 4 && !dtype_from_name(words[3]) &&
                                               words[3].find_first_of("0123456789-") == 0);
  if (has_block) p.block_rows = parse_count(where, "block_rows", words[next++]);
  if (next < words.size()) {
    p.dtype = dtype_from_name(words[next]);
    if (p.dtype == 0)
      throw std::invalid_argument(fmt::format(
          "{}: dtype '{}' is unknown; use bf16, fp16, fp32, fp64 or uint8", where, words[next]));
  }
  if (p.row_elems > 0 && p.rows > most_elems / p.row_elems)
    throw std::invalid_argument(
        fmt::format("{}: rows * row_elems = {} * {} is too large", where, p.rows, p.row_elems));
  return p;
}

std::string read_text(const std::string& file, std::string& text) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    return fmt::format("'{}' is a directory; --list takes a file with a parameter a line", file);
  std::ifstream in(file, std::ios::binary);
  if (!in) return fmt::format("cannot read the list '{}' on rank 0; check --list", file);
  text.assign(std::istreambuf_iterator<char>(in), {});
  if (text.size() > 1u << 30) return fmt::format("the list '{}' is larger than 1 GiB", file);
  return "";
}

void broadcast(MPI_Comm comm, std::string& text) {
  auto bytes = static_cast<int>(text.size());
  MPI_Bcast(&bytes, 1, MPI_INT, 0, comm);
  text.resize(static_cast<std::size_t>(bytes));
  MPI_Bcast(text.data(), bytes, MPI_CHAR, 0, comm);
}

}  // namespace

ParamList parse_list(const std::string& file, const std::string& text, int dtype) {
  ParamList list{file, "from a file", "", 1, {}};
  std::istringstream lines(text);
  std::string line;
  MPI_Count elems = 0;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream in(line.substr(0, line.find('#')));
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    if (words.empty()) continue;
    const std::string where = fmt::format("{}:{}", file, number);
    list.params.push_back(parse_line(where, words, dtype));
    elems += list.params.back().elems();
    if (elems > most_elems)
      throw std::invalid_argument(
          fmt::format("{}: the list's elements are too many; shorten the list", where));
  }
  if (list.params.empty())
    throw std::invalid_argument(fmt::format("{}: no parameter in it; {}", file, line_form));
  return list;
}

std::string read_on_root(MPI_Comm comm, const std::string& file) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::string text, problem;
  if (rank == 0) problem = read_text(file, text);
  broadcast(comm, problem);
  if (!problem.empty()) throw std::invalid_argument(problem);
  broadcast(comm, text);
  return text;
}

}  // namespace perf
