// One step of gradient descent: weights that make x w as near to y as can be. Results are the loss
// and the new weights, which the next step takes:
//   heddle run step.mlir --input random:1 --steps 200 --save run/step --every 50
func.func public @main(%w: tensor<32x8xf32>, %x: tensor<256x32xf32>, %y: tensor<256x8xf32>)
    -> (tensor<f32> {jax.result_info = "loss"}, tensor<32x8xf32> {jax.result_info = "w"}) {
  %guess = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<256x32xf32>, tensor<32x8xf32>) -> tensor<256x8xf32>
  %off = stablehlo.subtract %guess, %y : tensor<256x8xf32>
  %square = stablehlo.multiply %off, %off : tensor<256x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [0, 1]
    : (tensor<256x8xf32>, tensor<f32>) -> tensor<f32>
  %count = stablehlo.constant dense<2048.0> : tensor<f32>
  %loss = stablehlo.divide %sum, %count : tensor<f32>
  %slope = stablehlo.dot_general %x, %off, contracting_dims = [0] x [0]
    : (tensor<256x32xf32>, tensor<256x8xf32>) -> tensor<32x8xf32>
  %rate = stablehlo.constant dense<5.0e-4> : tensor<32x8xf32>
  %change = stablehlo.multiply %slope, %rate : tensor<32x8xf32>
  %next = stablehlo.subtract %w, %change : tensor<32x8xf32>
  return %loss, %next : tensor<f32>, tensor<32x8xf32>
}
