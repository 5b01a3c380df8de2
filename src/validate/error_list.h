#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::validate {

class EditableEvent;

// Appends the JSON pointer of the node at that index.
void AppendPointer(const EditableEvent& event, std::uint32_t node, std::string& out);

// One ajv error object while it is told; all texts are decoded, `params` is JSON.
struct ErrorText {
  std::string_view keyword;
  std::string_view data_path;
  std::string_view schema_path;
  std::string_view schema_path_end;  // appended to it
  std::string_view params;
  std::string_view message;
  std::uint32_t where = 0;  // node of the value that is wrong
};

// The errors of one event, in one buffer that is kept between events. Errors can be taken back, as
// ajv does when an alternative fits; while the list is muted they are only counted, and so are
// those beyond kMaxErrors.
class ErrorList {
 public:
  // Nobody reads more of one event, and an event of millions of wrong elements must not take
  // gigabytes.
  static constexpr std::size_t kMaxErrors = 10'000;

  void Clear();
  void Add(const ErrorText& error);
  // Errors told so far, muted ones included.
  std::size_t count() const { return records_.size() + muted_errors_; }

  struct Mark {
    std::size_t records;
    std::size_t muted_errors;
  };
  Mark mark() const { return {records_.size(), muted_errors_}; }
  // Takes back what was told since.
  void ResetTo(Mark mark);
  // Says of which property's name the errors told since are.
  void SetPropertyName(Mark since, std::string_view name);

  void Mute() { ++muted_; }
  void Unmute() { --muted_; }

  void AppendJson(std::string& out) const;
  void AppendText(std::string& out) const;

  std::size_t size() const { return records_.size(); }
  std::uint32_t where(std::size_t i) const { return records_[i].where; }
  std::string_view message(std::size_t i) const { return Text(records_[i].message); }

 private:
  struct Piece {
    std::size_t at = 0;
    std::size_t size = 0;
  };
  struct Record {
    std::string_view keyword;  // a constant
    Piece data_path;
    Piece schema_path;
    Piece params;
    Piece message;
    Piece property_name;
    bool has_property_name = false;
    std::uint32_t where = 0;
  };
  Piece Keep(std::string_view text);
  std::string_view Text(Piece piece) const { return {text_.data() + piece.at, piece.size}; }

  std::string text_;
  std::vector<Record> records_;
  std::size_t muted_errors_ = 0;
  int muted_ = 0;
};

}  // namespace sluice::validate
