module @m attributes {mhlo.num_partitions = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {}p1]>}, %arg1: tensor<8x2xf32>) -> (tensor<4x2xf32> {jax.result_info = "r"}) {
    %cst = stablehlo.constant dense<[1.0, 0x7FC00000]> : tensor<2xf32>
    %c = stablehlo.constant dense<"0x0100000002000000"> : tensor<2xi32>
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, HIGHEST] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [1] : (tensor<2xf32>) -> tensor<4x2xf32>
    %2 = stablehlo.add %0, %1 : tensor<4x2xf32> loc("a.py":3:1)
    %3 = stablehlo.slice %2 [0:4:2, 0:2] : (tensor<4x2xf32>) -> tensor<2x2xf32>
    %4 = stablehlo.compare LT, %3, %3, FLOAT : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
    %5 = stablehlo.select %4, %3, %3 : tensor<2x2xi1>, tensor<2x2xf32>
    %6 = call @f(%2) : (tensor<4x2xf32>) -> tensor<4x2xf32>
    return %6 : tensor<4x2xf32>
  }
  func.func private @f(%a: tensor<4x2xf32>) -> tensor<4x2xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<f32>
    %i = stablehlo.constant dense<0> : tensor<i32>
    %r:2 = stablehlo.while(%iterArg = %i, %iterArg_0 = %a) : tensor<i32>, tensor<4x2xf32>
      cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %t = stablehlo.compare LT, %iterArg, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %k = stablehlo.add %iterArg, %one : tensor<i32>
      stablehlo.return %k, %iterArg_0 : tensor<i32>, tensor<4x2xf32>
    }
    return %r#1 : tensor<4x2xf32>
  }
}
