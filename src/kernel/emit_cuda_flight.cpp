// Rows that fly to shared memory, as CUDA text. One thread sends them off; all wait at a gate.
#include <algorithm>

#include "kernel/emit_cuda_resident.h"

namespace heddle {

namespace {

// The element where a block's part of a row begins.
std::string first_element(const CudaResident& resident, const CudaFlight& flight) {
  std::string at = fmt::format("{}ll", flight.place.constant);
  for (std::size_t i = 0; i < flight.place.outer.size(); ++i)
    if (flight.place.outer[i] != 0) at += fmt::format(" + {}ll * at{}", flight.place.outer[i], i);
  if (flight.place.chunk != 0) at += fmt::format(" + {}ll * chunk", flight.place.chunk);
  if (resident.cluster > 1)
    at += fmt::format(" + {}ll * cluster_rank()", resident.part() * resident.vector);
  return at;
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
  std::int64_t inner = 1;
  for (std::size_t i = phase.outer.size(); i-- > 0;) {
    const std::int64_t blocks = std::max<std::int64_t>(phase.outer[i].blocks(), 1);
    text.line("const i64 at{} = row / {}ll % {}ll;", i, inner, blocks);
    inner *= blocks;
  }
  text.line("expect(&gates[slot], mine * {});", bytes);
  for (const CudaFlight& flight : resident.flights)
    text.line("fly(slots + slot * {} + {}, b{} + ({}), mine * {}, &gates[slot]);",
              resident.slot_bytes, flight.offset, flight.buffer, first_element(resident, flight),
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
