// Gradients of a batch that lies over dp, summed, and a step of LAMB: Adam, scaled by the norms of
// the parameter and of its change.
sdy.mesh @mesh = <["dp"=4]>
func.func @main(%g: tensor<24x96x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}]>},
                %p: tensor<96x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
                %m: tensor<96x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
                %v: tensor<96x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
    -> (tensor<96x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<96x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<96x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %rate = stablehlo.constant dense<0.001> : tensor<96x64xf32>
  %b1 = stablehlo.constant dense<0.9> : tensor<96x64xf32>
  %c1 = stablehlo.constant dense<0.1> : tensor<96x64xf32>
  %b2 = stablehlo.constant dense<0.999> : tensor<96x64xf32>
  %c2 = stablehlo.constant dense<0.001> : tensor<96x64xf32>
  %tiny = stablehlo.constant dense<0.01> : tensor<96x64xf32>
  %sum = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<24x96x64xf32>, tensor<f32>) -> tensor<96x64xf32>
  %0 = stablehlo.multiply %b1, %m : tensor<96x64xf32>
  %1 = stablehlo.multiply %c1, %sum : tensor<96x64xf32>
  %m1 = stablehlo.add %0, %1 : tensor<96x64xf32>
  %2 = stablehlo.multiply %sum, %sum : tensor<96x64xf32>
  %3 = stablehlo.multiply %b2, %v : tensor<96x64xf32>
  %4 = stablehlo.multiply %c2, %2 : tensor<96x64xf32>
  %v1 = stablehlo.add %3, %4 : tensor<96x64xf32>
  %5 = stablehlo.abs %v1 : tensor<96x64xf32>
  %6 = stablehlo.sqrt %5 : tensor<96x64xf32>
  %7 = stablehlo.add %6, %tiny : tensor<96x64xf32>
  %8 = stablehlo.divide %m1, %7 : tensor<96x64xf32>
  %9 = stablehlo.multiply %rate, %8 : tensor<96x64xf32>
  %10 = stablehlo.multiply %8, %8 : tensor<96x64xf32>
  %11 = stablehlo.reduce(%10 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<96x64xf32>, tensor<f32>) -> tensor<f32>
  %12 = stablehlo.multiply %p, %p : tensor<96x64xf32>
  %13 = stablehlo.reduce(%12 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<96x64xf32>, tensor<f32>) -> tensor<f32>
  %14 = stablehlo.sqrt %11 : tensor<f32>
  %15 = stablehlo.sqrt %13 : tensor<f32>
  %16 = stablehlo.divide %15, %14 : tensor<f32>
  %17 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<f32>) -> tensor<96x64xf32>
  %18 = stablehlo.multiply %17, %9 : tensor<96x64xf32>
  %p1 = stablehlo.subtract %p, %18 : tensor<96x64xf32>
  return %p1, %m1, %v1 : tensor<96x64xf32>, tensor<96x64xf32>, tensor<96x64xf32>
}
