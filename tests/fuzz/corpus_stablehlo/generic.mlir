"builtin.module"() <{sym_name = "g"}> ({
  "func.func"() <{function_type = (tensor<3xf32>, tensor<complex<f64>>) -> tensor<3xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<3xf32>, %arg1: tensor<complex<f64>>):
    %0 = "stablehlo.constant"() <{value = dense<(1.0, -2.0)> : tensor<complex<f64>>}> : () -> tensor<complex<f64>>
    %1:2 = "stablehlo.sort"(%arg0, %arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
      %2 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%2) : (tensor<i1>) -> ()
    }) : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    "func.return"(%1#1) : (tensor<3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
