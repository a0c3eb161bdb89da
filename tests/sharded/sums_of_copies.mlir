// What sdy sums over an axis that a value does not lie along: every device's copy counts, even
// where the copies differ.

//--- part1.mlir
sdy.mesh @mesh_2 = <["x"=2]>
sdy.mesh @mesh_2_2 = <["x"=2, "y"=2]>
sdy.mesh @mesh_4 = <["x"=4]>

func.func @reduce_all(%arg0: tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}]>})
  -> (tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}]>}) {
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh_2, [{}]> : tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func @reduce_one_axis(%arg0: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{"y"}]>})
  -> (tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{"y"}]>}) {
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh_2_2, [{"y"}]> : tensor<4xi32>
  return %0 : tensor<4xi32>
}
func.func @reduce_part_of_axis(%arg0: tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh_4, [{}]>})
  -> tensor<2xi32> {
  %0 = sdy.all_reduce {"x":(1)2} %arg0 out_sharding=<@mesh_4, [{}]> : tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func @scatter(%arg0: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}]>})
  -> (tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}]>}) {
  %0 = sdy.reduce_scatter [{"x"}] %arg0 out_sharding=<@mesh_2, [{"x"}]> : tensor<4xi32>
  return %0 : tensor<4xi32>
}
func.func @scatter_inner(%arg0: tensor<4x2xi32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{"x"}, {}]>})
  -> (tensor<4x2xi32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{"x"}, {"y"}]>}) {
  %0 = sdy.reduce_scatter [{}, {"y"}] %arg0 out_sharding=<@mesh_2_2, [{"x"}, {"y"}]> : tensor<4x2xi32>
  return %0 : tensor<4x2xi32>
}
func.func @gathered_then_reduced(%arg0: tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}]>})
  -> tensor<2xi32> {
  %0 = sdy.all_gather [{"x"}] %arg0 out_sharding=<@mesh_2, [{}]> : tensor<2xi32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh_2, [{}]> : tensor<2xi32>
  return %1 : tensor<2xi32>
}
func.func @reduced_twice(%arg0: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}]>})
  -> tensor<i32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%arg0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh_2, []> : tensor<i32>
  %2 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh_2, []> : tensor<i32>
  return %2 : tensor<i32>
}
func.func @contributions(%arg0: tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}], unreduced={"x"}>})
  -> (tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}]>}) {
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh_2, [{}]> : tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func @left_unreduced(
  %arg0: tensor<1x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}, {"x"}]>},
  %arg1: tensor<4x1xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>})
  -> (tensor<1x1xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}, {}], unreduced={"x"}>}) {
  %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh_2, [{}, {}], unreduced={"x"}>]>} : (tensor<1x4xi32>, tensor<4x1xi32>) -> tensor<1x1xi32>
  return %0 : tensor<1x1xi32>
}
func.func @shards_to_unreduced(%arg0: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}]>})
  -> (tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}], unreduced={"x"}>}) {
  %0 = sdy.sharded_to_unreduced [{"x"}] %arg0 out_sharding=<@mesh_2, [{}], unreduced={"x"}> : tensor<4xi32>
  return %0 : tensor<4xi32>
}
func.func @copies_to_unreduced(%arg0: tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}]>})
  -> (tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}], unreduced={"x"}>}) {
  %0 = sdy.replicated_to_unreduced {"x"} %arg0 out_sharding=<@mesh_2, [{}], unreduced={"x"}> : tensor<2xi32>
  return %0 : tensor<2xi32>
}

//--- part2.mlir
func.func @main() {
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %b = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
  %c = stablehlo.constant dense<[100, 200]> : tensor<2xi32>
  %d = stablehlo.constant dense<[1000, 2000]> : tensor<2xi32>
  %0:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@reduce_all, @reduce_all]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %0#0, dense<[11, 22]> : tensor<2xi32>
  check.expect_eq_const %0#1, dense<[11, 22]> : tensor<2xi32>
  %1:4 = "interpreter.run_parallel"(%a, %b, %c, %d) {programs = [[@reduce_one_axis, @reduce_one_axis, @reduce_one_axis, @reduce_one_axis]]} : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %1#0, dense<[101, 202]> : tensor<2xi32>
  check.expect_eq_const %1#1, dense<[1010, 2020]> : tensor<2xi32>
  check.expect_eq_const %1#2, dense<[101, 202]> : tensor<2xi32>
  check.expect_eq_const %1#3, dense<[1010, 2020]> : tensor<2xi32>
  %2:4 = "interpreter.run_parallel"(%a, %b, %c, %d) {programs = [[@reduce_part_of_axis, @reduce_part_of_axis, @reduce_part_of_axis, @reduce_part_of_axis]]} : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %2#0, dense<[101, 202]> : tensor<2xi32>
  check.expect_eq_const %2#1, dense<[1010, 2020]> : tensor<2xi32>
  check.expect_eq_const %2#2, dense<[101, 202]> : tensor<2xi32>
  check.expect_eq_const %2#3, dense<[1010, 2020]> : tensor<2xi32>
  %e = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %f = stablehlo.constant dense<[10, 20, 30, 40]> : tensor<4xi32>
  %3:2 = "interpreter.run_parallel"(%e, %f) {programs = [[@scatter, @scatter]]} : (tensor<4xi32>, tensor<4xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %3#0, dense<[11, 22]> : tensor<2xi32>
  check.expect_eq_const %3#1, dense<[33, 44]> : tensor<2xi32>
  %g = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %h = stablehlo.constant dense<[[10, 20], [30, 40]]> : tensor<2x2xi32>
  %i = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %j = stablehlo.constant dense<[[50, 60], [70, 80]]> : tensor<2x2xi32>
  %4:4 = "interpreter.run_parallel"(%g, %h, %i, %j) {programs = [[@scatter_inner, @scatter_inner, @scatter_inner, @scatter_inner]]} : (tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>) -> (tensor<2x1xi32>, tensor<2x1xi32>, tensor<2x1xi32>, tensor<2x1xi32>)
  check.expect_eq_const %4#0, dense<[[11], [33]]> : tensor<2x1xi32>
  check.expect_eq_const %4#1, dense<[[22], [44]]> : tensor<2x1xi32>
  check.expect_eq_const %4#2, dense<[[55], [77]]> : tensor<2x1xi32>
  check.expect_eq_const %4#3, dense<[[66], [88]]> : tensor<2x1xi32>
  %k = stablehlo.constant dense<[5]> : tensor<1xi32>
  %l = stablehlo.constant dense<[7]> : tensor<1xi32>
  %5:2 = "interpreter.run_parallel"(%k, %l) {programs = [[@gathered_then_reduced, @gathered_then_reduced]]} : (tensor<1xi32>, tensor<1xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %5#0, dense<[10, 14]> : tensor<2xi32>
  check.expect_eq_const %5#1, dense<[10, 14]> : tensor<2xi32>
  %6:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@reduced_twice, @reduced_twice]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<i32>, tensor<i32>)
  check.expect_eq_const %6#0, dense<66> : tensor<i32>
  check.expect_eq_const %6#1, dense<66> : tensor<i32>
  %7:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@contributions, @contributions]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %7#0, dense<[11, 22]> : tensor<2xi32>
  check.expect_eq_const %7#1, dense<[11, 22]> : tensor<2xi32>
  %m = stablehlo.constant dense<[[1, 2]]> : tensor<1x2xi32>
  %n = stablehlo.constant dense<[[3], [4]]> : tensor<2x1xi32>
  %8:2 = "interpreter.run_parallel"(%m, %n, %m, %n) {programs = [[@left_unreduced, @left_unreduced]]} : (tensor<1x2xi32>, tensor<2x1xi32>, tensor<1x2xi32>, tensor<2x1xi32>) -> (tensor<1x1xi32>, tensor<1x1xi32>)
  check.expect_eq_const %8#0, dense<[[11]]> : tensor<1x1xi32>
  check.expect_eq_const %8#1, dense<[[11]]> : tensor<1x1xi32>
  %9:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@shards_to_unreduced, @shards_to_unreduced]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<4xi32>, tensor<4xi32>)
  check.expect_eq_const %9#0, dense<[1, 2, 0, 0]> : tensor<4xi32>
  check.expect_eq_const %9#1, dense<[0, 0, 10, 20]> : tensor<4xi32>
  %10:2 = "interpreter.run_parallel"(%a, %a) {programs = [[@copies_to_unreduced, @copies_to_unreduced]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %10#0, dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %10#1, dense<[0, 0]> : tensor<2xi32>
  return
}
