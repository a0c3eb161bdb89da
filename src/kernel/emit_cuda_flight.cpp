// Rows that fly to shared memory, as CUDA text. One thread sends them off; all wait at a gate.
#include <algorithm>

#include "kernel/emit_cuda_resident.h"

namespace heddle {

namespace {

// The first element of a row.
std::string first_element(const CudaPlace& place) {
  std::string at = fmt::format("{}ll", place.constant);
  for (std::size_t i = 0; i < place.outer.size(); ++i)
    if (place.outer[i] != 0) at += fmt::format(" + {}ll * at{}", place.outer[i], i);
  if (place.chunk != 0) at += fmt::format(" + {}ll * chunk", place.chunk);
  return at;
}
// Where a block's part of it begins.
std::string first_of_part(const CudaResident& resident, const CudaFlight& flight) {
  std::string at = first_element(flight.place);
  if (resident.cluster > 1)
    at += fmt::format(" + {}ll * cluster_rank()", resident.part() * resident.vector);
  return at;
}

// Positions of `row` along the outer loops.
void emit_places_of_row(const Phase& phase, IndentedText& text) {
  std::int64_t inner = 1;
  for (std::size_t i = phase.outer.size(); i-- > 0;) {
    const std::int64_t blocks = std::max<std::int64_t>(phase.outer[i].blocks(), 1);
    text.line("const i64 at{} = row / {}ll % {}ll;", i, inner, blocks);
    inner *= blocks;
  }
}

}  // namespace

void emit_cuda_flights(const Kernel& kernel, const CudaResident& resident, IndentedText& text) {
  const Phase& phase = resident.phase;
  text.line("__shared__ ui64 gates[{}];", resident.slots);
  text.line("char* const slots = (char*)own;");
  std::int64_t bytes = 0;  // of a unit, in all rows that fly
  for (const CudaFlight& flight : resident.flights)
    bytes +=
        resident.vector * static_cast<std::int64_t>(byte_size(kernel.buffers[flight.buffer].dtype));
  if (resident.cluster > 1)
    text.line("const ui32 mine = lanes - (int)cluster_rank() * {};", resident.part());
  else
    text.line("const ui32 mine = {};", resident.units);
  text.open("const auto send = [&](i64 row, int slot) {{");
  text.line("if (row >= end) return;");
  emit_places_of_row(phase, text);
  text.line("expect(&gates[slot], mine * {});", bytes);
  for (const CudaFlight& flight : resident.flights)
    text.line("fly(slots + slot * {} + {}, b{} + ({}), mine * {}, &gates[slot]);",
              resident.slot_bytes, flight.offset, flight.buffer, first_of_part(resident, flight),
              resident.vector *
                  static_cast<std::int64_t>(byte_size(kernel.buffers[flight.buffer].dtype)));
  text.back();
  text.line("}};");
  text.open("if (threadIdx.x == 0) {{");
  text.line("for (int slot = 0; slot < {}; ++slot) open_gate(&gates[slot]);", resident.slots);
  text.line("gates_are_open();");
  text.line("for (int slot = 0; slot < {0}; ++slot) send(begin + slot * step, slot);",
            resident.slots);
  text.close();
  text.line("__syncthreads();");
  text.line("int slot = 0;");
  text.line("ui32 turn = 0;");
}

void emit_cuda_ahead(const Kernel& kernel, const CudaResident& resident, IndentedText& text) {
  if (resident.ahead.empty()) return;
  for (std::size_t a = 0; a < resident.ahead.size(); ++a)
    text.line("{0} ahead{1} = h_constant<{0}>(0);",
              cuda_type(kernel.buffers[resident.ahead[a].buffer].dtype), a);
  text.open("const auto ask = [&](i64 row) {{");
  text.line("if (row >= end) return;");
  emit_places_of_row(resident.phase, text);
  for (std::size_t a = 0; a < resident.ahead.size(); ++a) {
    const CudaKeptLoad& load = resident.ahead[a];
    text.line("ahead{} = b{}[{}]{};", a, load.buffer, first_element(load.place),
              kernel.buffers[load.buffer].dtype == DType::i1 ? " != 0" : "");
  }
  text.back();
  text.line("}};");
  text.line("ask(begin);");
}

void emit_cuda_early(const Kernel& kernel, const CudaResident& resident, IndentedText& text) {
  if (resident.ahead.empty()) return;
  for (std::size_t a = 0; a < resident.ahead.size(); ++a)
    text.line("const {0} early{1} = ahead{1};",
              cuda_type(kernel.buffers[resident.ahead[a].buffer].dtype), a);
  text.line("ask(first + step);");
}

void emit_cuda_arrival(const CudaResident& resident, IndentedText& text) {
  text.line("arrive(&gates[slot], turn);");
  text.line("const char* const row_here = slots + slot * {};", resident.slot_bytes);
  text.line("const i64 later = first + {} * step;", resident.slots);
}

void emit_cuda_release(IndentedText& text) {
  text.line("if (threadIdx.x == 0) send(later, slot);");
}

void emit_cuda_next_slot(const CudaResident& resident, IndentedText& text) {
  text.open("if (++slot == {}) {{", resident.slots);
  text.line("slot = 0;");
  text.line("turn ^= 1;");
  text.close();
}

}  // namespace heddle
