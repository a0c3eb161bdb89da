#include "runtime/reference.h"

#include "heddle/op.h"
#include "ir/clone.h"

namespace heddle::runtime {

std::shared_ptr<const Program> program_of_op(const Program& from, const Op& op,
                                             const std::vector<ValueId>& reads) {
  auto program = std::make_shared<Program>();
  program->file = from.file;
  program->meshes = from.meshes;
  program->axes = from.axes;
  const RegionId body = program->add_region();
  ValueMap values;
  for (ValueId v : reads)
    if (!values.contains(v))
      values[v] = program->add_arg(body, program->intern(Type(from.type_of(v))));
  const OpId copy = clone_op(*program, body, from, op, values);
  std::vector<ValueId> results;
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    results.push_back(program->result(program->op(copy), i));
    types.push_back(program->value(results.back()).type);
  }
  program->add_op(body, *find_op("func.return"), results, {});
  Function main;
  main.name = "main";
  main.body = body;
  main.results = types;
  main.arg_attrs.resize(program->region(body).args.size());
  main.result_attrs.resize(types.size());
  program->functions.push_back(std::move(main));
  return program;
}

void write_out_constants(const Program& program) {
  for (OpId id = 0; id < program.op_count(); ++id)
    for (const NamedAttr& attr : program.attrs_of(program.op(id)))
      if (const Array* array = attr.value.get<Array>()) (void)array->bytes();
}

}  // namespace heddle::runtime
