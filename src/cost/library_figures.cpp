#include "cost/library_figures.h"

#include "base/cache_directory.h"
#include "base/file.h"
#include "base/json.h"
#include "cost/machine_file.h"
#include "heddle/cost.h"

namespace heddle {

namespace {

struct Kept {
  const char* key;
  double LibraryFigures::* figure;
};
constexpr Kept kAll[] = {{"products", &LibraryFigures::products},
                         {"short_products", &LibraryFigures::short_products},
                         {"convolutions", &LibraryFigures::convolutions}};
constexpr const char* kFile = "libraries.json";

}  // namespace

LibraryFigures kept_library_figures() {
  LibraryFigures figures;
  const Json json = kept_json(kFile, machine_name());
  for (const Kept& one : kAll)
    if (const double value = kept_number(json, one.key); value > 0) figures.*one.figure = value;
  return figures;
}

Verdict keep_library_figures(const LibraryFigures& figures) {
  Json json = {{"machine", machine_name()}};
  for (const Kept& one : kAll) json[one.key] = figures.*one.figure;
  return keep_json(kFile, json);
}

}  // namespace heddle
