// Points whose values are in registers of the thread, or have come to shared memory.
#pragma once

#include "kernel/cuda_resident.h"
#include "kernel/emit_cuda_point.h"

namespace heddle {

class ResidentPoint final : public CudaPoint {
 public:
  // `number`: of the stage among those of a row.
  ResidentPoint(const Kernel& kernel, const CudaResident& resident, const Stage& stage,
                std::size_t number, const CudaVectors& vectors, IndentedText& text);

  // The number of the kept load that a node is, or -1.
  int kept(std::size_t node) const;
  CudaHome home(std::uint32_t buffer) const;
  // An element of a thread's own array.
  static std::string own(char kind, std::size_t number, int vector, std::string_view mark);
  void emit_kept_load(std::size_t node);
  // What later stages need again.
  void emit_kept_values();
  bool reads_flights(const std::vector<bool>& live) const;
  // Where an update asks for the largest or smallest of what is loaded in two bytes each: the
  // neighbours as they were loaded, which are compared two at a time. Else nothing.
  std::string pairs(const Statement& statement) const;
  DType pair_type(const Statement& statement) const;

 protected:
  std::string known(std::size_t node, std::string_view mark) const override;
  bool is_kept(std::size_t node) const override { return value(node, true) >= 0; }
  std::string loaded(std::size_t node, std::string_view mark) const override;
  void emit_vector_load(std::size_t node) override;
  std::string loaded_together(std::size_t node) const override;
  std::string from(std::size_t node) const override;
  bool is_same_for_many(NodeId id) const override {
    return has_points_ &&
           (!differs_[id] || (vectors_.count > 1 && !differs_between_neighbours(id)));
  }

 private:
  int flight(std::size_t node) const;
  // The number of the value that a node is, if this stage computes it or finds it; or -1.
  int value(std::size_t node, bool computes) const;

  const CudaResident& resident_;
  const std::size_t number_;
  const std::vector<std::optional<CudaPlace>> places_;
  const std::vector<bool> differs_;  // by node, along a row
  const bool has_points_;
};

}  // namespace heddle
