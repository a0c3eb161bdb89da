// Gradients of a batch that lies over dp, summed, and a step of Adam.
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
  %p1 = stablehlo.subtract %p, %9 : tensor<96x64xf32>
  return %p1, %m1, %v1 : tensor<96x64xf32>, tensor<96x64xf32>, tensor<96x64xf32>
}
