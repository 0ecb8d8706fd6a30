// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "gloo_ext/drop_in.h"
#include "gloo_ext/gloo_ubt.h"
#include "gloo_ext/policy.h"
#include "gloo_ext/process_state.h"
#include "gloo_ext/report_text.h"
#include "transport_ubt/config/setting_table.h"
#include "transport_ubt/config/settings.h"

namespace {

using gloo_ext::Choice;
using gloo_ext::ChosenContexts;
using gloo_ext::ProcessState;

static_assert(static_cast<int>(Choice::kExact) == GLOO_UBT_EXACT &&
                  static_cast<int>(Choice::kBounded) == GLOO_UBT_BOUNDED &&
                  static_cast<int>(Choice::kDefault) == GLOO_UBT_DEFAULT,
              "the two have the same numbers");

size_t give(const std::string& text, char* out, size_t bytes) {
  if (text.size() < bytes) {
    std::memcpy(out, text.c_str(), text.size() + 1);
  }
  return text.size() + 1;
}

std::string orNull(const std::optional<gloo_ext::BoundedOp>& op) {
  return op ? gloo_ext::opJson(*op) : "null";
}

std::string tokenOf(const void* token, size_t bytes) {
  return std::string(static_cast<const char*>(token), bytes);
}

// Returns the call's result, or `ifItThrows`: no exception may reach C code.
template <typename Result, typename Call>
Result contained(Result ifItThrows, const Call& call) noexcept {
  try {
    return call();
  } catch (...) {
    return ifItThrows;
  }
}

gloo_ext::Statistics& statistics() {
  return ProcessState::instance().recorder().statistics();
}

}  // namespace

#define GLOO_UBT_API extern "C" __attribute__((visibility("default")))

GLOO_UBT_API int gloo_ubt_api_version() {
  return GLOO_UBT_API_VERSION;
}

GLOO_UBT_API size_t gloo_ubt_stats(char* out, size_t bytes) {
  return contained(size_t{0}, [&] {
    return give(gloo_ext::totalsJson(statistics().totals()), out, bytes);
  });
}

GLOO_UBT_API size_t gloo_ubt_last(char* out, size_t bytes) {
  return contained(
      size_t{0}, [&] { return give(orNull(statistics().last()), out, bytes); });
}

GLOO_UBT_API int gloo_ubt_skipped() {
  return contained(0, [] { return statistics().skippedSince() ? 1 : 0; });
}

GLOO_UBT_API void gloo_ubt_track(const void* data) {
  contained(false, [data] {
    statistics().track(data);
    return true;
  });
}

GLOO_UBT_API size_t gloo_ubt_taken(const void* data, char* out, size_t bytes) {
  return contained(size_t{0}, [&] {
    const size_t needed = give(orNull(statistics().tracked(data)), out, bytes);
    if (needed <= bytes) {
      statistics().forget(data);
    }
    return needed;
  });
}

GLOO_UBT_API size_t gloo_ubt_wrong_settings(char* out, size_t bytes) {
  return contained(size_t{0}, [&] {
    std::string wrong;
    try {
      gloo_ext::Policy::fromEnvironment();
      ubt::Settings::fromEnvironment();
    } catch (const std::exception& error) {
      wrong = error.what();
    }
    return give(wrong, out, bytes);
  });
}

GLOO_UBT_API size_t gloo_ubt_settings(char* out, size_t bytes) {
  return contained(size_t{0}, [&] {
    auto rows = nlohmann::ordered_json::array();
    for (const ubt::Setting& setting : ubt::settingTable()) {
      const bool experiment = setting.kind == ubt::Setting::Kind::kExperiment;
      rows.push_back(
          {{"variable", experiment ? setting.name : setting.variable()},
           {"values", setting.values},
           {"default", setting.preset},
           {"meaning", setting.meaning},
           {"experiment", experiment}});
    }
    return give(rows.dump(), out, bytes);
  });
}

GLOO_UBT_API int gloo_ubt_may_bound() {
  return contained(0, [] { return gloo_ext::mayBound() ? 1 : 0; });
}

GLOO_UBT_API void gloo_ubt_expect(const void* token, size_t bytes, int choice) {
  contained(false, [&] {
    if (bytes >= ChosenContexts::kTokenBytesMin &&
        bytes <= ChosenContexts::kTokenBytesMax && choice >= GLOO_UBT_EXACT &&
        choice <= GLOO_UBT_DEFAULT) {
      ProcessState::instance().chosen().expect(tokenOf(token, bytes),
                                               static_cast<Choice>(choice));
    }
    return true;
  });
}

GLOO_UBT_API int gloo_ubt_came(const void* token, size_t bytes) {
  constexpr int kNotCome = -1;
  return contained(kNotCome, [&] {
    const auto replaced =
        ProcessState::instance().chosen().came(tokenOf(token, bytes));
    return replaced ? static_cast<int>(*replaced) : kNotCome;
  });
}
