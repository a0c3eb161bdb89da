sdy.mesh @m = <["x"=2, "y"=4, "one"=1]>
sdy.mesh @other = <["x"=8], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
func.func @main(%a: tensor<8x10xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}p1, {"y":(1)2}], replicated={"y":(2)2}>}) -> (tensor<8x10xf32> {sdy.sharding = #sdy.sharding<@other, [{"x"}, {}]>}) {
  %0 = sdy.sharding_constraint %a <@m, [{"one", "y"}, {}], unreduced={"x"}> : tensor<8x10xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@m, [{"x"}, {}]>] out_shardings=[<@m, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x10xf32>) {
    %2 = stablehlo.add %b, %b {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"y"}, {}]>]>} : tensor<4x10xf32>
    sdy.return %2 : tensor<4x10xf32>
  } : (tensor<8x10xf32>) -> tensor<8x10xf32>
  return %1 : tensor<8x10xf32>
}
