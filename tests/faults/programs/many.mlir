// More ranks than a message to each of them is good for: small collectives go in rounds. Sums are
// taken in the order of the ranks all the same.
module @many {
  func.func @device() -> (tensor<f32>, tensor<34xf32>, tensor<34xf32>) {
    %id = stablehlo.partition_id : tensor<ui32>
    %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
    %tenth = stablehlo.constant dense<0.1> : tensor<f32>
    %x = stablehlo.multiply %f, %tenth : tensor<f32>
    %v = stablehlo.reshape %x : (tensor<f32>) -> tensor<1xf32>
    %s = "stablehlo.all_reduce"(%x) ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %m = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %m : tensor<f32>
    }) {replica_groups = dense<[[
           0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
           25, 26, 27, 28, 29, 30, 31, 32, 33]]> : tensor<1x34xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}
      : (tensor<f32>) -> tensor<f32>
    %g = "stablehlo.all_gather"(%v) {all_gather_dim = 0 : i64, replica_groups = dense<[[
           0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
           25, 26, 27, 28, 29, 30, 31, 32, 33]]> : tensor<1x34xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}
      : (tensor<1xf32>) -> tensor<34xf32>
    %h = "stablehlo.all_gather"(%v) {all_gather_dim = 0 : i64, replica_groups = dense<[[
           33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12,
           11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]]> : tensor<1x34xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}
      : (tensor<1xf32>) -> tensor<34xf32>
    return %s, %g, %h : tensor<f32>, tensor<34xf32>, tensor<34xf32>
  }
  func.func @main() {
    %r:102 = "interpreter.run_parallel"() {
      programs=[[
        @device, @device, @device, @device, @device, @device, @device, @device, @device, @device,
        @device, @device, @device, @device, @device, @device, @device, @device, @device, @device,
        @device, @device, @device, @device, @device, @device, @device, @device, @device, @device,
        @device, @device, @device, @device]]
    } : () -> (
        tensor<f32>, tensor<34xf32>, tensor<34xf32>, tensor<f32>, tensor<34xf32>, tensor<34xf32>,
        tensor<f32>, tensor<34xf32>, tensor<34xf32>, tensor<f32>, tensor<34xf32>, tensor<34xf32>,
        tensor<f32>, tensor<34xf32>, tensor<34xf32>, tensor<f32>, tensor<34xf32>, tensor<34xf32>,
        tensor<f32>, tensor<34xf32>, tensor<34xf32>, tensor<f32>, tensor<34xf32>, tensor<34xf32>,
        tensor<f32>, tensor<34xf32>, tensor<34xf32>, tensor<f32>, tensor<34xf32>, tensor<34xf32>,
        tensor<f32>, tensor<34xf32>, tensor<34xf32>, tensor<f32>, tensor<34xf32>, tensor<34xf32>,
        tensor<f32>, tensor<34xf32>, tensor<34xf32>, tensor<f32>, tensor<34xf32>, tensor<34xf32>,
        tensor<f32>, tensor<34xf32>, tensor<34xf32>, tensor<f32>, tensor<34xf32>, tensor<34xf32>,
        tensor<f32>, tensor<34xf32>, tensor<34xf32>, tensor<f32>, tensor<34xf32>, tensor<34xf32>,
        tensor<f32>, tensor<34xf32>, tensor<34xf32>, tensor<f32>, tensor<34xf32>, tensor<34xf32>,
        tensor<f32>, tensor<34xf32>, tensor<34xf32>, tensor<f32>, tensor<34xf32>, tensor<34xf32>,
        tensor<f32>, tensor<34xf32>, tensor<34xf32>, tensor<f32>, tensor<34xf32>, tensor<34xf32>,
        tensor<f32>, tensor<34xf32>, tensor<34xf32>, tensor<f32>, tensor<34xf32>, tensor<34xf32>,
        tensor<f32>, tensor<34xf32>, tensor<34xf32>, tensor<f32>, tensor<34xf32>, tensor<34xf32>,
        tensor<f32>, tensor<34xf32>, tensor<34xf32>, tensor<f32>, tensor<34xf32>, tensor<34xf32>,
        tensor<f32>, tensor<34xf32>, tensor<34xf32>, tensor<f32>, tensor<34xf32>, tensor<34xf32>,
        tensor<f32>, tensor<34xf32>, tensor<34xf32>, tensor<f32>, tensor<34xf32>, tensor<34xf32>)
    %sum = stablehlo.constant dense<5.609999847e+01> : tensor<f32>
    check.expect_eq %r#0, %sum : tensor<f32>
    check.expect_eq %r#3, %sum : tensor<f32>
    check.expect_eq %r#51, %sum : tensor<f32>
    check.expect_eq %r#99, %sum : tensor<f32>
    check.expect_eq_const %r#1, dense<[
      0.000000000e+00, 1.000000015e-01, 2.000000030e-01, 3.000000119e-01, 4.000000060e-01,
      5.000000000e-01, 6.000000238e-01, 6.999999881e-01, 8.000000119e-01, 9.000000358e-01,
      1.000000000e+00, 1.100000024e+00, 1.200000048e+00, 1.300000072e+00, 1.399999976e+00,
      1.500000000e+00, 1.600000024e+00, 1.700000048e+00, 1.800000072e+00, 1.899999976e+00,
      2.000000000e+00, 2.100000143e+00, 2.200000048e+00, 2.299999952e+00, 2.400000095e+00,
      2.500000000e+00, 2.600000143e+00, 2.700000048e+00, 2.799999952e+00, 2.900000095e+00,
      3.000000000e+00, 3.100000143e+00, 3.200000048e+00, 3.299999952e+00]> : tensor<34xf32>
    check.expect_eq_const %r#100, dense<[
      0.000000000e+00, 1.000000015e-01, 2.000000030e-01, 3.000000119e-01, 4.000000060e-01,
      5.000000000e-01, 6.000000238e-01, 6.999999881e-01, 8.000000119e-01, 9.000000358e-01,
      1.000000000e+00, 1.100000024e+00, 1.200000048e+00, 1.300000072e+00, 1.399999976e+00,
      1.500000000e+00, 1.600000024e+00, 1.700000048e+00, 1.800000072e+00, 1.899999976e+00,
      2.000000000e+00, 2.100000143e+00, 2.200000048e+00, 2.299999952e+00, 2.400000095e+00,
      2.500000000e+00, 2.600000143e+00, 2.700000048e+00, 2.799999952e+00, 2.900000095e+00,
      3.000000000e+00, 3.100000143e+00, 3.200000048e+00, 3.299999952e+00]> : tensor<34xf32>
    check.expect_eq_const %r#17, dense<[
      3.299999952e+00, 3.200000048e+00, 3.100000143e+00, 3.000000000e+00, 2.900000095e+00,
      2.799999952e+00, 2.700000048e+00, 2.600000143e+00, 2.500000000e+00, 2.400000095e+00,
      2.299999952e+00, 2.200000048e+00, 2.100000143e+00, 2.000000000e+00, 1.899999976e+00,
      1.800000072e+00, 1.700000048e+00, 1.600000024e+00, 1.500000000e+00, 1.399999976e+00,
      1.300000072e+00, 1.200000048e+00, 1.100000024e+00, 1.000000000e+00, 9.000000358e-01,
      8.000000119e-01, 6.999999881e-01, 6.000000238e-01, 5.000000000e-01, 4.000000060e-01,
      3.000000119e-01, 2.000000030e-01, 1.000000015e-01, 0.000000000e+00]> : tensor<34xf32>
    check.expect_eq_const %r#98, dense<[
      3.299999952e+00, 3.200000048e+00, 3.100000143e+00, 3.000000000e+00, 2.900000095e+00,
      2.799999952e+00, 2.700000048e+00, 2.600000143e+00, 2.500000000e+00, 2.400000095e+00,
      2.299999952e+00, 2.200000048e+00, 2.100000143e+00, 2.000000000e+00, 1.899999976e+00,
      1.800000072e+00, 1.700000048e+00, 1.600000024e+00, 1.500000000e+00, 1.399999976e+00,
      1.300000072e+00, 1.200000048e+00, 1.100000024e+00, 1.000000000e+00, 9.000000358e-01,
      8.000000119e-01, 6.999999881e-01, 6.000000238e-01, 5.000000000e-01, 4.000000060e-01,
      3.000000119e-01, 2.000000030e-01, 1.000000015e-01, 0.000000000e+00]> : tensor<34xf32>
    func.return
  }
}
