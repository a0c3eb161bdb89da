// The boundary of two stages of a pipeline: what a stage has summed over tp gets a bias and goes to
// the next one. Written per device: pp has the stages, tp the parts of a layer.
sdy.mesh @mesh = <["pp"=2, "tp"=2]>
func.func @main(%x: tensor<2x48x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"pp"}, {}, {"tp"}]>},
                %w: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>},
                %b: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
    -> (tensor<2x48x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"pp"}, {}, {}]>}) {
  %0 = sdy.manual_computation(%x, %w, %b) in_shardings=[<@mesh, [{"pp"}, {}, {"tp"}]>, <@mesh, [{"tp"}, {}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"pp"}, {}, {}]>] manual_axes={"pp", "tp"} (%a: tensor<1x48x16xf32>, %c: tensor<16x16xf32>, %d: tensor<16xf32>) {
    %y = stablehlo.dot_general %a, %c, contracting_dims = [2] x [0] : (tensor<1x48x16xf32>, tensor<16x16xf32>) -> tensor<1x48x16xf32>
    %sum = "stablehlo.all_reduce"(%y) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%e: tensor<f32>, %f: tensor<f32>):
      %g = stablehlo.add %e, %f : tensor<f32>
      stablehlo.return %g : tensor<f32>
    }) : (tensor<1x48x16xf32>) -> tensor<1x48x16xf32>
    %bias = stablehlo.broadcast_in_dim %d, dims = [2] : (tensor<16xf32>) -> tensor<1x48x16xf32>
    %z = stablehlo.add %sum, %bias : tensor<1x48x16xf32>
    %sent = "stablehlo.collective_permute"(%z) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> : (tensor<1x48x16xf32>) -> tensor<1x48x16xf32>
    sdy.return %sent : tensor<1x48x16xf32>
  } : (tensor<2x48x32xf32>, tensor<32x16xf32>, tensor<16xf32>) -> tensor<2x48x16xf32>
  return %0 : tensor<2x48x16xf32>
}
