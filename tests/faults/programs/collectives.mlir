// Collectives between real ranks, with what has to come out. tests/conformance/run --transport … runs
// these on threads, processes or MPI ranks.
module @loop_of_sums {
  func.func @device(%x: tensor<3xf32>) -> tensor<3xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<3xf32>
     cond {
      %n = stablehlo.constant dense<10> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
     } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %s = "stablehlo.all_reduce"(%v) ({
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %m = stablehlo.add %p, %q : tensor<f32>
          stablehlo.return %m : tensor<f32>
      }) {replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>,
          channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}
        : (tensor<3xf32>) -> tensor<3xf32>
      stablehlo.return %j, %s : tensor<i32>, tensor<3xf32>
     }
    return %r#1 : tensor<3xf32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %b = stablehlo.constant dense<[3.0, 2.0, 1.0]> : tensor<3xf32>
    %r:4 = "interpreter.run_parallel"(%a, %b, %b, %b) {
      programs=[[@device, @device], [@device, @device]]
    } : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
    check.expect_eq_const %r#0, dense<2048.0> : tensor<3xf32>
    check.expect_eq_const %r#1, dense<2048.0> : tensor<3xf32>
    check.expect_eq_const %r#3, dense<[3072.0, 2048.0, 1024.0]> : tensor<3xf32>
    func.return
  }
}

// -----

// Pieces along the inner dimension, and a matrix turned over the ranks.
module @pieces {
  func.func @device(%x: tensor<2x4xi16>) -> (tensor<2x8xi16>, tensor<4x2xi16>, tensor<2x2xi16>) {
    %g = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64,
      replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<2x4xi16>) -> tensor<2x8xi16>
    %t = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64,
      split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
      : (tensor<2x4xi16>) -> tensor<4x2xi16>
    %s = "stablehlo.reduce_scatter"(%x) ({
      ^bb0(%p: tensor<i16>, %q: tensor<i16>):
        %m = stablehlo.maximum %p, %q : tensor<i16>
        stablehlo.return %m : tensor<i16>
    }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
      : (tensor<2x4xi16>) -> tensor<2x2xi16>
    return %g, %t, %s : tensor<2x8xi16>, tensor<4x2xi16>, tensor<2x2xi16>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi16>
    %b = stablehlo.constant dense<[[10, 11, 2, 3], [4, 5, 16, 17]]> : tensor<2x4xi16>
    %r:6 = "interpreter.run_parallel"(%a, %b) { programs=[[@device], [@device]] }
      : (tensor<2x4xi16>, tensor<2x4xi16>)
      -> (tensor<2x8xi16>, tensor<4x2xi16>, tensor<2x2xi16>,
          tensor<2x8xi16>, tensor<4x2xi16>, tensor<2x2xi16>)
    check.expect_eq_const %r#0,
      dense<[[10, 11, 2, 3, 0, 1, 2, 3], [4, 5, 16, 17, 4, 5, 6, 7]]> : tensor<2x8xi16>
    check.expect_eq_const %r#1, dense<[[0, 1], [4, 5], [10, 11], [4, 5]]> : tensor<4x2xi16>
    check.expect_eq_const %r#2, dense<[[10, 11], [4, 5]]> : tensor<2x2xi16>
    check.expect_eq_const %r#4, dense<[[2, 3], [6, 7], [2, 3], [16, 17]]> : tensor<4x2xi16>
    check.expect_eq_const %r#5, dense<[[2, 3], [16, 17]]> : tensor<2x2xi16>
    func.return
  }
}

// -----

// A ring, where the last one gets nothing; and who is who.
module @ring {
  func.func @device(%x: tensor<2xui8>) -> (tensor<2xui8>, tensor<ui32>) {
    %p = "stablehlo.collective_permute"(%x) {
      source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}
      : (tensor<2xui8>) -> tensor<2xui8>
    %i = stablehlo.partition_id : tensor<ui32>
    return %p, %i : tensor<2xui8>, tensor<ui32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xui8>
    %b = stablehlo.constant dense<[3, 4]> : tensor<2xui8>
    %r:6 = "interpreter.run_parallel"(%a, %b, %b) { programs=[[@device, @device, @device]] }
      : (tensor<2xui8>, tensor<2xui8>, tensor<2xui8>)
      -> (tensor<2xui8>, tensor<ui32>, tensor<2xui8>, tensor<ui32>, tensor<2xui8>, tensor<ui32>)
    check.expect_eq_const %r#0, dense<0> : tensor<2xui8>
    check.expect_eq_const %r#2, dense<[1, 2]> : tensor<2xui8>
    check.expect_eq_const %r#4, dense<[3, 4]> : tensor<2xui8>
    check.expect_eq_const %r#5, dense<2> : tensor<ui32>
    func.return
  }
}
