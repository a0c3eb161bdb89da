// The end of a transformer's MLP: the product of a layer whose inner dimension lies over
// tp, summed, then bias, dropout and the way around the layer.
sdy.mesh @mesh = <["tp"=4]>
func.func @main(%x: tensor<96x192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>},
                %w: tensor<192x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>},
                %b: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>},
                %r: tensor<96x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
                %key: tensor<2xui64> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
    -> (tensor<96x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<96x192xf32>, tensor<192x64xf32>) -> tensor<96x64xf32>
  %bias = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<64xf32>) -> tensor<96x64xf32>
  %z = stablehlo.add %y, %bias : tensor<96x64xf32>
  %next, %bits = stablehlo.rng_bit_generator %key, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<96x64xui32>)
  %most = stablehlo.constant dense<3865470566> : tensor<96x64xui32>
  %keep = stablehlo.compare LT, %bits, %most : (tensor<96x64xui32>, tensor<96x64xui32>) -> tensor<96x64xi1>
  %scale = stablehlo.constant dense<1.11111116> : tensor<96x64xf32>
  %none = stablehlo.constant dense<0.0> : tensor<96x64xf32>
  %scaled = stablehlo.multiply %z, %scale : tensor<96x64xf32>
  %dropped = stablehlo.select %keep, %scaled, %none : tensor<96x64xi1>, tensor<96x64xf32>
  %out = stablehlo.add %dropped, %r : tensor<96x64xf32>
  return %out : tensor<96x64xf32>
}
