// Gradients of a batch that lies over dp, summed, and a step of gradient descent.
sdy.mesh @mesh = <["dp"=4]>
func.func @main(%g: tensor<24x96x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}]>},
                %p: tensor<96x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
    -> (tensor<96x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %rate = stablehlo.constant dense<0.01> : tensor<96x64xf32>
  %sum = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<24x96x64xf32>, tensor<f32>) -> tensor<96x64xf32>
  %step = stablehlo.multiply %rate, %sum : tensor<96x64xf32>
  %new = stablehlo.subtract %p, %step : tensor<96x64xf32>
  return %new : tensor<96x64xf32>
}
