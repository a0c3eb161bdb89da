module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x96xf32>, %arg1: tensor<32xf32>, %arg2: tensor<32xf32>, %arg3: tensor<128x32xf32>, %arg4: tensor<32x32xf32>, %arg5: tensor<32x128xf32>, %arg6: tensor<32x96xf32>, %arg7: tensor<32xf32>, %arg8: tensor<32xf32>, %arg9: tensor<128x32xf32>, %arg10: tensor<32x32xf32>, %arg11: tensor<32x128xf32>, %arg12: tensor<32x22xf32>, %arg13: tensor<22x32xf32>, %arg14: tensor<32xf32>, %arg15: tensor<16x32xf32>, %arg16: tensor<4x16xi32>, %arg17: tensor<4x16xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<32x96xf32> {jax.result_info = "result[1]['blocks'][0]['attend']"}, tensor<32xf32> {jax.result_info = "result[1]['blocks'][0]['attention_norm']"}, tensor<32xf32> {jax.result_info = "result[1]['blocks'][0]['feed_norm']"}, tensor<128x32xf32> {jax.result_info = "result[1]['blocks'][0]['narrow']"}, tensor<32x32xf32> {jax.result_info = "result[1]['blocks'][0]['project']"}, tensor<32x128xf32> {jax.result_info = "result[1]['blocks'][0]['widen']"}, tensor<32x96xf32> {jax.result_info = "result[1]['blocks'][1]['attend']"}, tensor<32xf32> {jax.result_info = "result[1]['blocks'][1]['attention_norm']"}, tensor<32xf32> {jax.result_info = "result[1]['blocks'][1]['feed_norm']"}, tensor<128x32xf32> {jax.result_info = "result[1]['blocks'][1]['narrow']"}, tensor<32x32xf32> {jax.result_info = "result[1]['blocks'][1]['project']"}, tensor<32x128xf32> {jax.result_info = "result[1]['blocks'][1]['widen']"}, tensor<32x22xf32> {jax.result_info = "result[1]['head']"}, tensor<22x32xf32> {jax.result_info = "result[1]['letters']"}, tensor<32xf32> {jax.result_info = "result[1]['norm']"}, tensor<16x32xf32> {jax.result_info = "result[1]['places']"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x16xi32>
    %1 = stablehlo.compare LT, %arg16, %0, SIGNED : (tensor<4x16xi32>, tensor<4x16xi32>) -> tensor<4x16xi1>
    %c_0 = stablehlo.constant dense<22> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x16xi32>
    %3 = stablehlo.add %arg16, %2 : tensor<4x16xi32>
    %4 = stablehlo.select %1, %3, %arg16 : tensor<4x16xi1>, tensor<4x16xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x16xi32>) -> tensor<4x16x1xi32>
    %6 = "stablehlo.gather"(%arg13, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<22x32xf32>, tensor<4x16x1xi32>) -> tensor<4x16x32xf32>
    %7 = stablehlo.broadcast_in_dim %arg15, dims = [1, 2] : (tensor<16x32xf32>) -> tensor<1x16x32xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x16x32xf32>) -> tensor<4x16x32xf32>
    %9 = stablehlo.add %6, %8 : tensor<4x16x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_1 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %13 = stablehlo.divide %11, %12 : tensor<4x16x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %15 = stablehlo.subtract %9, %14 : tensor<4x16x32xf32>
    %16 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %18 = stablehlo.multiply %17, %15 : tensor<4x16x32xf32>
    %19 = stablehlo.multiply %15, %15 : tensor<4x16x32xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x16x32xf32>
    %21 = stablehlo.multiply %20, %15 : tensor<4x16x32xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.reduce(%19 init: %cst_3) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_4 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %25 = stablehlo.divide %23, %24 : tensor<4x16x1xf32>
    %cst_5 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %27 = stablehlo.add %25, %26 : tensor<4x16x1xf32>
    %28 = stablehlo.rsqrt %27 : tensor<4x16x1xf32>
    %29 = stablehlo.divide %28, %27 : tensor<4x16x1xf32>
    %cst_6 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %31 = stablehlo.multiply %30, %29 : tensor<4x16x1xf32>
    %32 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %33 = stablehlo.multiply %18, %32 : tensor<4x16x32xf32>
    %34 = stablehlo.dot_general %33, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x96xf32>) -> tensor<4x16x96xf32>
    %35 = stablehlo.reshape %34 : (tensor<4x16x96xf32>) -> tensor<4x16x3x2x16xf32>
    %36 = stablehlo.slice %35 [0:4, 0:16, 0:1, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %37 = stablehlo.reshape %36 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %38 = stablehlo.slice %35 [0:4, 0:16, 1:2, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %39 = stablehlo.reshape %38 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %40 = stablehlo.slice %35 [0:4, 0:16, 2:3, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %41 = stablehlo.reshape %40 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %42 = stablehlo.dot_general %37, %39, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x2x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %cst_7 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x2x16x16xf32>
    %44 = stablehlo.multiply %42, %43 : tensor<4x2x16x16xf32>
    %c_8 = stablehlo.constant dense<true> : tensor<i1>
    %45 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i1>) -> tensor<16x16xi1>
    %46 = call @tril(%45) : (tensor<16x16xi1>) -> tensor<16x16xi1>
    %cst_9 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %47:2 = call @_where(%46, %44, %cst_9) : (tensor<16x16xi1>, tensor<4x2x16x16xf32>, tensor<f32>) -> (tensor<4x2x16x16xf32>, tensor<4x2x16x16xi1>)
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %48 = stablehlo.reduce(%47#0 init: %cst_10) applies stablehlo.maximum across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %cst_11 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x2x16xf32>
    %50 = stablehlo.maximum %49, %48 : tensor<4x2x16xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %53 = stablehlo.subtract %47#0, %52 : tensor<4x2x16x16xf32>
    %54 = stablehlo.exponential %53 : tensor<4x2x16x16xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %55 = stablehlo.reduce(%54 init: %cst_12) applies stablehlo.add across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %58 = stablehlo.divide %54, %57 : tensor<4x2x16x16xf32>
    %59 = stablehlo.multiply %56, %56 : tensor<4x2x16x1xf32>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4x2x16x1xf32>
    %61 = stablehlo.divide %60, %59 : tensor<4x2x16x1xf32>
    %62 = stablehlo.dot_general %41, %58, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x2x16xf32>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %63 = stablehlo.transpose %62, dims = [0, 3, 1, 2] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %64 = stablehlo.reshape %63 : (tensor<4x16x2x16xf32>) -> tensor<4x16x32xf32>
    %65 = stablehlo.dot_general %64, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x32xf32>) -> tensor<4x16x32xf32>
    %66 = stablehlo.add %9, %65 : tensor<4x16x32xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %67 = stablehlo.reduce(%66 init: %cst_14) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %68 = stablehlo.broadcast_in_dim %67, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_15 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %69 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %70 = stablehlo.divide %68, %69 : tensor<4x16x1xf32>
    %71 = stablehlo.broadcast_in_dim %70, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %72 = stablehlo.subtract %66, %71 : tensor<4x16x32xf32>
    %73 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %74 = stablehlo.broadcast_in_dim %73, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %75 = stablehlo.multiply %74, %72 : tensor<4x16x32xf32>
    %76 = stablehlo.multiply %72, %72 : tensor<4x16x32xf32>
    %cst_16 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<4x16x32xf32>
    %78 = stablehlo.multiply %77, %72 : tensor<4x16x32xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %79 = stablehlo.reduce(%76 init: %cst_17) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %80 = stablehlo.broadcast_in_dim %79, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_18 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %82 = stablehlo.divide %80, %81 : tensor<4x16x1xf32>
    %cst_19 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %83 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %84 = stablehlo.add %82, %83 : tensor<4x16x1xf32>
    %85 = stablehlo.rsqrt %84 : tensor<4x16x1xf32>
    %86 = stablehlo.divide %85, %84 : tensor<4x16x1xf32>
    %cst_20 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %87 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %88 = stablehlo.multiply %87, %86 : tensor<4x16x1xf32>
    %89 = stablehlo.broadcast_in_dim %85, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %90 = stablehlo.multiply %75, %89 : tensor<4x16x32xf32>
    %91 = stablehlo.dot_general %90, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x128xf32>) -> tensor<4x16x128xf32>
    %cst_21 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %93 = stablehlo.multiply %92, %91 : tensor<4x16x128xf32>
    %94 = stablehlo.negate %91 : tensor<4x16x128xf32>
    %cst_22 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %96 = stablehlo.multiply %94, %95 : tensor<4x16x128xf32>
    %97 = chlo.erfc %96 : tensor<4x16x128xf32> -> tensor<4x16x128xf32>
    %98 = chlo.square %96 : tensor<4x16x128xf32> -> tensor<4x16x128xf32>
    %99 = stablehlo.negate %98 : tensor<4x16x128xf32>
    %100 = stablehlo.exponential %99 : tensor<4x16x128xf32>
    %101 = stablehlo.multiply %93, %97 : tensor<4x16x128xf32>
    %102 = stablehlo.dot_general %101, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x128xf32>, tensor<128x32xf32>) -> tensor<4x16x32xf32>
    %103 = stablehlo.add %66, %102 : tensor<4x16x32xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %104 = stablehlo.reduce(%103 init: %cst_23) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %105 = stablehlo.broadcast_in_dim %104, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_24 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %107 = stablehlo.divide %105, %106 : tensor<4x16x1xf32>
    %108 = stablehlo.broadcast_in_dim %107, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %109 = stablehlo.subtract %103, %108 : tensor<4x16x32xf32>
    %110 = stablehlo.broadcast_in_dim %arg7, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %111 = stablehlo.broadcast_in_dim %110, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %112 = stablehlo.multiply %111, %109 : tensor<4x16x32xf32>
    %113 = stablehlo.multiply %109, %109 : tensor<4x16x32xf32>
    %cst_25 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<4x16x32xf32>
    %115 = stablehlo.multiply %114, %109 : tensor<4x16x32xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %116 = stablehlo.reduce(%113 init: %cst_26) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %117 = stablehlo.broadcast_in_dim %116, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_27 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %118 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %119 = stablehlo.divide %117, %118 : tensor<4x16x1xf32>
    %cst_28 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %121 = stablehlo.add %119, %120 : tensor<4x16x1xf32>
    %122 = stablehlo.rsqrt %121 : tensor<4x16x1xf32>
    %123 = stablehlo.divide %122, %121 : tensor<4x16x1xf32>
    %cst_29 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %124 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %125 = stablehlo.multiply %124, %123 : tensor<4x16x1xf32>
    %126 = stablehlo.broadcast_in_dim %122, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %127 = stablehlo.multiply %112, %126 : tensor<4x16x32xf32>
    %128 = stablehlo.dot_general %127, %arg6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x96xf32>) -> tensor<4x16x96xf32>
    %129 = stablehlo.reshape %128 : (tensor<4x16x96xf32>) -> tensor<4x16x3x2x16xf32>
    %130 = stablehlo.slice %129 [0:4, 0:16, 0:1, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %131 = stablehlo.reshape %130 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %132 = stablehlo.slice %129 [0:4, 0:16, 1:2, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %133 = stablehlo.reshape %132 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %134 = stablehlo.slice %129 [0:4, 0:16, 2:3, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %135 = stablehlo.reshape %134 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %136 = stablehlo.dot_general %131, %133, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x2x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %cst_30 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %137 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<4x2x16x16xf32>
    %138 = stablehlo.multiply %136, %137 : tensor<4x2x16x16xf32>
    %c_31 = stablehlo.constant dense<true> : tensor<i1>
    %139 = stablehlo.broadcast_in_dim %c_31, dims = [] : (tensor<i1>) -> tensor<16x16xi1>
    %140 = call @tril(%139) : (tensor<16x16xi1>) -> tensor<16x16xi1>
    %cst_32 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %141:2 = call @_where(%140, %138, %cst_32) : (tensor<16x16xi1>, tensor<4x2x16x16xf32>, tensor<f32>) -> (tensor<4x2x16x16xf32>, tensor<4x2x16x16xi1>)
    %cst_33 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %142 = stablehlo.reduce(%141#0 init: %cst_33) applies stablehlo.maximum across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %cst_34 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %143 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<4x2x16xf32>
    %144 = stablehlo.maximum %143, %142 : tensor<4x2x16xf32>
    %145 = stablehlo.broadcast_in_dim %144, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %146 = stablehlo.broadcast_in_dim %145, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %147 = stablehlo.subtract %141#0, %146 : tensor<4x2x16x16xf32>
    %148 = stablehlo.exponential %147 : tensor<4x2x16x16xf32>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %149 = stablehlo.reduce(%148 init: %cst_35) applies stablehlo.add across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %150 = stablehlo.broadcast_in_dim %149, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %151 = stablehlo.broadcast_in_dim %150, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %152 = stablehlo.divide %148, %151 : tensor<4x2x16x16xf32>
    %153 = stablehlo.multiply %150, %150 : tensor<4x2x16x1xf32>
    %cst_36 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %154 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<4x2x16x1xf32>
    %155 = stablehlo.divide %154, %153 : tensor<4x2x16x1xf32>
    %156 = stablehlo.dot_general %135, %152, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x2x16xf32>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %157 = stablehlo.transpose %156, dims = [0, 3, 1, 2] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %158 = stablehlo.reshape %157 : (tensor<4x16x2x16xf32>) -> tensor<4x16x32xf32>
    %159 = stablehlo.dot_general %158, %arg10, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x32xf32>) -> tensor<4x16x32xf32>
    %160 = stablehlo.add %103, %159 : tensor<4x16x32xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %161 = stablehlo.reduce(%160 init: %cst_37) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %162 = stablehlo.broadcast_in_dim %161, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_38 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %163 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %164 = stablehlo.divide %162, %163 : tensor<4x16x1xf32>
    %165 = stablehlo.broadcast_in_dim %164, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %166 = stablehlo.subtract %160, %165 : tensor<4x16x32xf32>
    %167 = stablehlo.broadcast_in_dim %arg8, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %168 = stablehlo.broadcast_in_dim %167, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %169 = stablehlo.multiply %168, %166 : tensor<4x16x32xf32>
    %170 = stablehlo.multiply %166, %166 : tensor<4x16x32xf32>
    %cst_39 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %171 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<4x16x32xf32>
    %172 = stablehlo.multiply %171, %166 : tensor<4x16x32xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %173 = stablehlo.reduce(%170 init: %cst_40) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %174 = stablehlo.broadcast_in_dim %173, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_41 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %175 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %176 = stablehlo.divide %174, %175 : tensor<4x16x1xf32>
    %cst_42 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %177 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %178 = stablehlo.add %176, %177 : tensor<4x16x1xf32>
    %179 = stablehlo.rsqrt %178 : tensor<4x16x1xf32>
    %180 = stablehlo.divide %179, %178 : tensor<4x16x1xf32>
    %cst_43 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %181 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %182 = stablehlo.multiply %181, %180 : tensor<4x16x1xf32>
    %183 = stablehlo.broadcast_in_dim %179, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %184 = stablehlo.multiply %169, %183 : tensor<4x16x32xf32>
    %185 = stablehlo.dot_general %184, %arg11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x128xf32>) -> tensor<4x16x128xf32>
    %cst_44 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %186 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %187 = stablehlo.multiply %186, %185 : tensor<4x16x128xf32>
    %188 = stablehlo.negate %185 : tensor<4x16x128xf32>
    %cst_45 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %189 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %190 = stablehlo.multiply %188, %189 : tensor<4x16x128xf32>
    %191 = chlo.erfc %190 : tensor<4x16x128xf32> -> tensor<4x16x128xf32>
    %192 = chlo.square %190 : tensor<4x16x128xf32> -> tensor<4x16x128xf32>
    %193 = stablehlo.negate %192 : tensor<4x16x128xf32>
    %194 = stablehlo.exponential %193 : tensor<4x16x128xf32>
    %195 = stablehlo.multiply %187, %191 : tensor<4x16x128xf32>
    %196 = stablehlo.dot_general %195, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x128xf32>, tensor<128x32xf32>) -> tensor<4x16x32xf32>
    %197 = stablehlo.add %160, %196 : tensor<4x16x32xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %198 = stablehlo.reduce(%197 init: %cst_46) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %199 = stablehlo.broadcast_in_dim %198, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_47 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %200 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %201 = stablehlo.divide %199, %200 : tensor<4x16x1xf32>
    %202 = stablehlo.broadcast_in_dim %201, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %203 = stablehlo.subtract %197, %202 : tensor<4x16x32xf32>
    %204 = stablehlo.broadcast_in_dim %arg14, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %205 = stablehlo.broadcast_in_dim %204, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %206 = stablehlo.multiply %205, %203 : tensor<4x16x32xf32>
    %207 = stablehlo.multiply %203, %203 : tensor<4x16x32xf32>
    %cst_48 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %208 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<4x16x32xf32>
    %209 = stablehlo.multiply %208, %203 : tensor<4x16x32xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %210 = stablehlo.reduce(%207 init: %cst_49) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %211 = stablehlo.broadcast_in_dim %210, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_50 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %212 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %213 = stablehlo.divide %211, %212 : tensor<4x16x1xf32>
    %cst_51 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %214 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %215 = stablehlo.add %213, %214 : tensor<4x16x1xf32>
    %216 = stablehlo.rsqrt %215 : tensor<4x16x1xf32>
    %217 = stablehlo.divide %216, %215 : tensor<4x16x1xf32>
    %cst_52 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %218 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %219 = stablehlo.multiply %218, %217 : tensor<4x16x1xf32>
    %220 = stablehlo.broadcast_in_dim %216, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %221 = stablehlo.multiply %206, %220 : tensor<4x16x32xf32>
    %222 = stablehlo.dot_general %221, %arg12, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x22xf32>) -> tensor<4x16x22xf32>
    %223:3 = call @log_softmax(%222) : (tensor<4x16x22xf32>) -> (tensor<4x16x22xf32>, tensor<4x16x22xf32>, tensor<4x16x1xf32>)
    %224 = stablehlo.broadcast_in_dim %arg17, dims = [0, 1] : (tensor<4x16xi32>) -> tensor<4x16x1xi32>
    %225:2 = call @take_along_axis(%223#0, %224) : (tensor<4x16x22xf32>, tensor<4x16x1xi32>) -> (tensor<4x16x1xf32>, tensor<4x16x1x1xi32>)
    %cst_53 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %226 = stablehlo.reduce(%225#0 init: %cst_53) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_54 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %227 = stablehlo.divide %226, %cst_54 : tensor<f32>
    %228 = stablehlo.negate %227 : tensor<f32>
    %cst_55 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %229 = stablehlo.negate %cst_55 : tensor<f32>
    %cst_56 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %230 = stablehlo.divide %229, %cst_56 : tensor<f32>
    %231 = stablehlo.broadcast_in_dim %230, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %232 = call @take_along_axis_0(%225#1, %231) : (tensor<4x16x1x1xi32>, tensor<4x16x1xf32>) -> tensor<4x16x22xf32>
    %233 = call @log_softmax_1(%223#1, %223#2, %232) : (tensor<4x16x22xf32>, tensor<4x16x1xf32>, tensor<4x16x22xf32>) -> tensor<4x16x22xf32>
    %234 = stablehlo.dot_general %233, %221, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x22xf32>, tensor<4x16x32xf32>) -> tensor<22x32xf32>
    %235 = stablehlo.transpose %234, dims = [1, 0] : (tensor<22x32xf32>) -> tensor<32x22xf32>
    %236 = stablehlo.dot_general %233, %arg12, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x22xf32>, tensor<32x22xf32>) -> tensor<4x16x32xf32>
    %237 = stablehlo.multiply %206, %236 : tensor<4x16x32xf32>
    %cst_57 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %238 = stablehlo.reduce(%237 init: %cst_57) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %239 = stablehlo.reshape %238 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %240 = stablehlo.broadcast_in_dim %216, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %241 = stablehlo.multiply %236, %240 : tensor<4x16x32xf32>
    %242 = stablehlo.multiply %239, %219 : tensor<4x16x1xf32>
    %cst_58 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %243 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %244 = stablehlo.divide %242, %243 : tensor<4x16x1xf32>
    %cst_59 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %245 = stablehlo.reduce(%244 init: %cst_59) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %246 = stablehlo.broadcast_in_dim %245, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %247 = stablehlo.multiply %246, %209 : tensor<4x16x32xf32>
    %248 = stablehlo.broadcast_in_dim %204, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %249 = stablehlo.multiply %248, %241 : tensor<4x16x32xf32>
    %250 = stablehlo.add %247, %249 : tensor<4x16x32xf32>
    %251 = stablehlo.multiply %241, %203 : tensor<4x16x32xf32>
    %cst_60 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %252 = stablehlo.reduce(%251 init: %cst_60) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %253 = stablehlo.reshape %252 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %cst_61 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %254 = stablehlo.reduce(%253 init: %cst_61) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %255 = stablehlo.negate %250 : tensor<4x16x32xf32>
    %cst_62 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %256 = stablehlo.reduce(%255 init: %cst_62) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %257 = stablehlo.reshape %256 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_63 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %258 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %259 = stablehlo.divide %257, %258 : tensor<4x16x1xf32>
    %cst_64 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %260 = stablehlo.reduce(%259 init: %cst_64) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %261 = stablehlo.broadcast_in_dim %260, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %262 = stablehlo.add %250, %261 : tensor<4x16x32xf32>
    %263 = stablehlo.dot_general %262, %195, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<4x16x128xf32>) -> tensor<32x128xf32>
    %264 = stablehlo.transpose %263, dims = [1, 0] : (tensor<32x128xf32>) -> tensor<128x32xf32>
    %265 = stablehlo.dot_general %262, %arg9, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<128x32xf32>) -> tensor<4x16x128xf32>
    %266 = stablehlo.multiply %187, %265 : tensor<4x16x128xf32>
    %267 = stablehlo.multiply %265, %191 : tensor<4x16x128xf32>
    %cst_65 = stablehlo.constant dense<-1.12837923> : tensor<f32>
    %268 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %269 = stablehlo.multiply %268, %266 : tensor<4x16x128xf32>
    %270 = stablehlo.multiply %269, %194 : tensor<4x16x128xf32>
    %cst_66 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %271 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %272 = stablehlo.multiply %270, %271 : tensor<4x16x128xf32>
    %273 = stablehlo.negate %272 : tensor<4x16x128xf32>
    %cst_67 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %274 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %275 = stablehlo.multiply %274, %267 : tensor<4x16x128xf32>
    %276 = stablehlo.add %273, %275 : tensor<4x16x128xf32>
    %277 = stablehlo.dot_general %276, %184, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x128xf32>, tensor<4x16x32xf32>) -> tensor<128x32xf32>
    %278 = stablehlo.transpose %277, dims = [1, 0] : (tensor<128x32xf32>) -> tensor<32x128xf32>
    %279 = stablehlo.dot_general %276, %arg11, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x128xf32>, tensor<32x128xf32>) -> tensor<4x16x32xf32>
    %280 = stablehlo.multiply %169, %279 : tensor<4x16x32xf32>
    %cst_68 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %281 = stablehlo.reduce(%280 init: %cst_68) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %282 = stablehlo.reshape %281 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %283 = stablehlo.broadcast_in_dim %179, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %284 = stablehlo.multiply %279, %283 : tensor<4x16x32xf32>
    %285 = stablehlo.multiply %282, %182 : tensor<4x16x1xf32>
    %cst_69 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %286 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %287 = stablehlo.divide %285, %286 : tensor<4x16x1xf32>
    %cst_70 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %288 = stablehlo.reduce(%287 init: %cst_70) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %289 = stablehlo.broadcast_in_dim %288, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %290 = stablehlo.multiply %289, %172 : tensor<4x16x32xf32>
    %291 = stablehlo.broadcast_in_dim %167, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %292 = stablehlo.multiply %291, %284 : tensor<4x16x32xf32>
    %293 = stablehlo.add %290, %292 : tensor<4x16x32xf32>
    %294 = stablehlo.multiply %284, %166 : tensor<4x16x32xf32>
    %cst_71 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %295 = stablehlo.reduce(%294 init: %cst_71) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %296 = stablehlo.reshape %295 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %cst_72 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %297 = stablehlo.reduce(%296 init: %cst_72) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %298 = stablehlo.negate %293 : tensor<4x16x32xf32>
    %cst_73 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %299 = stablehlo.reduce(%298 init: %cst_73) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %300 = stablehlo.reshape %299 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %301 = stablehlo.add %262, %293 : tensor<4x16x32xf32>
    %cst_74 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %302 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %303 = stablehlo.divide %300, %302 : tensor<4x16x1xf32>
    %cst_75 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %304 = stablehlo.reduce(%303 init: %cst_75) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %305 = stablehlo.broadcast_in_dim %304, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %306 = stablehlo.add %301, %305 : tensor<4x16x32xf32>
    %307 = stablehlo.dot_general %306, %158, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<4x16x32xf32>) -> tensor<32x32xf32>
    %308 = stablehlo.transpose %307, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %309 = stablehlo.dot_general %306, %arg10, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x32xf32>) -> tensor<4x16x32xf32>
    %310 = stablehlo.reshape %309 : (tensor<4x16x32xf32>) -> tensor<4x16x2x16xf32>
    %311 = stablehlo.transpose %310, dims = [0, 2, 3, 1] : (tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %312 = stablehlo.dot_general %311, %135, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x2x16x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %313 = stablehlo.dot_general %311, %152, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x2x16x16xf32>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %314 = stablehlo.transpose %313, dims = [0, 3, 1, 2] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %315 = stablehlo.broadcast_in_dim %155, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %316 = stablehlo.multiply %312, %315 : tensor<4x2x16x16xf32>
    %317 = stablehlo.multiply %316, %148 : tensor<4x2x16x16xf32>
    %cst_76 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %318 = stablehlo.reduce(%317 init: %cst_76) applies stablehlo.add across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %319 = stablehlo.reshape %318 : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %320 = stablehlo.negate %319 : tensor<4x2x16x1xf32>
    %321 = stablehlo.broadcast_in_dim %150, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %322 = stablehlo.divide %312, %321 : tensor<4x2x16x16xf32>
    %cst_77 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %323 = stablehlo.reduce(%320 init: %cst_77) applies stablehlo.add across dimensions = [3] : (tensor<4x2x16x1xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %324 = stablehlo.broadcast_in_dim %323, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x16xf32>
    %325 = stablehlo.add %322, %324 : tensor<4x2x16x16xf32>
    %326 = stablehlo.multiply %325, %148 : tensor<4x2x16x16xf32>
    %327 = call @_where_2(%141#1, %326) : (tensor<4x2x16x16xi1>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %cst_78 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %328 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<4x2x16x16xf32>
    %329 = stablehlo.multiply %327, %328 : tensor<4x2x16x16xf32>
    %330 = stablehlo.dot_general %329, %131, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x2x16x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %331 = stablehlo.transpose %330, dims = [0, 2, 1, 3] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %332 = stablehlo.dot_general %329, %133, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x2x16x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %333 = stablehlo.transpose %332, dims = [0, 2, 1, 3] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %334 = stablehlo.broadcast_in_dim %314, dims = [0, 1, 3, 4] : (tensor<4x16x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %cst_79 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %335 = stablehlo.pad %334, %cst_79, low = [0, 0, 2, 0, 0], high = [0, 0, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<4x16x1x2x16xf32>, tensor<f32>) -> tensor<4x16x3x2x16xf32>
    %336 = stablehlo.broadcast_in_dim %331, dims = [0, 1, 3, 4] : (tensor<4x16x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %cst_80 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %337 = stablehlo.pad %336, %cst_80, low = [0, 0, 1, 0, 0], high = [0, 0, 1, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<4x16x1x2x16xf32>, tensor<f32>) -> tensor<4x16x3x2x16xf32>
    %338 = stablehlo.add %335, %337 : tensor<4x16x3x2x16xf32>
    %339 = stablehlo.broadcast_in_dim %333, dims = [0, 1, 3, 4] : (tensor<4x16x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %cst_81 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %340 = stablehlo.pad %339, %cst_81, low = [0, 0, 0, 0, 0], high = [0, 0, 2, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<4x16x1x2x16xf32>, tensor<f32>) -> tensor<4x16x3x2x16xf32>
    %341 = stablehlo.add %338, %340 : tensor<4x16x3x2x16xf32>
    %342 = stablehlo.reshape %341 : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x96xf32>
    %343 = stablehlo.dot_general %342, %127, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x96xf32>, tensor<4x16x32xf32>) -> tensor<96x32xf32>
    %344 = stablehlo.transpose %343, dims = [1, 0] : (tensor<96x32xf32>) -> tensor<32x96xf32>
    %345 = stablehlo.dot_general %342, %arg6, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x96xf32>, tensor<32x96xf32>) -> tensor<4x16x32xf32>
    %346 = stablehlo.multiply %112, %345 : tensor<4x16x32xf32>
    %cst_82 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %347 = stablehlo.reduce(%346 init: %cst_82) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %348 = stablehlo.reshape %347 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %349 = stablehlo.broadcast_in_dim %122, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %350 = stablehlo.multiply %345, %349 : tensor<4x16x32xf32>
    %351 = stablehlo.multiply %348, %125 : tensor<4x16x1xf32>
    %cst_83 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %352 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %353 = stablehlo.divide %351, %352 : tensor<4x16x1xf32>
    %cst_84 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %354 = stablehlo.reduce(%353 init: %cst_84) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %355 = stablehlo.broadcast_in_dim %354, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %356 = stablehlo.multiply %355, %115 : tensor<4x16x32xf32>
    %357 = stablehlo.broadcast_in_dim %110, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %358 = stablehlo.multiply %357, %350 : tensor<4x16x32xf32>
    %359 = stablehlo.add %356, %358 : tensor<4x16x32xf32>
    %360 = stablehlo.multiply %350, %109 : tensor<4x16x32xf32>
    %cst_85 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %361 = stablehlo.reduce(%360 init: %cst_85) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %362 = stablehlo.reshape %361 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %cst_86 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %363 = stablehlo.reduce(%362 init: %cst_86) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %364 = stablehlo.negate %359 : tensor<4x16x32xf32>
    %cst_87 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %365 = stablehlo.reduce(%364 init: %cst_87) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %366 = stablehlo.reshape %365 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %367 = stablehlo.add %306, %359 : tensor<4x16x32xf32>
    %cst_88 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %368 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %369 = stablehlo.divide %366, %368 : tensor<4x16x1xf32>
    %cst_89 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %370 = stablehlo.reduce(%369 init: %cst_89) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %371 = stablehlo.broadcast_in_dim %370, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %372 = stablehlo.add %367, %371 : tensor<4x16x32xf32>
    %373 = stablehlo.dot_general %372, %101, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<4x16x128xf32>) -> tensor<32x128xf32>
    %374 = stablehlo.transpose %373, dims = [1, 0] : (tensor<32x128xf32>) -> tensor<128x32xf32>
    %375 = stablehlo.dot_general %372, %arg3, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<128x32xf32>) -> tensor<4x16x128xf32>
    %376 = stablehlo.multiply %93, %375 : tensor<4x16x128xf32>
    %377 = stablehlo.multiply %375, %97 : tensor<4x16x128xf32>
    %cst_90 = stablehlo.constant dense<-1.12837923> : tensor<f32>
    %378 = stablehlo.broadcast_in_dim %cst_90, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %379 = stablehlo.multiply %378, %376 : tensor<4x16x128xf32>
    %380 = stablehlo.multiply %379, %100 : tensor<4x16x128xf32>
    %cst_91 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %381 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %382 = stablehlo.multiply %380, %381 : tensor<4x16x128xf32>
    %383 = stablehlo.negate %382 : tensor<4x16x128xf32>
    %cst_92 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %384 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %385 = stablehlo.multiply %384, %377 : tensor<4x16x128xf32>
    %386 = stablehlo.add %383, %385 : tensor<4x16x128xf32>
    %387 = stablehlo.dot_general %386, %90, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x128xf32>, tensor<4x16x32xf32>) -> tensor<128x32xf32>
    %388 = stablehlo.transpose %387, dims = [1, 0] : (tensor<128x32xf32>) -> tensor<32x128xf32>
    %389 = stablehlo.dot_general %386, %arg5, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x128xf32>, tensor<32x128xf32>) -> tensor<4x16x32xf32>
    %390 = stablehlo.multiply %75, %389 : tensor<4x16x32xf32>
    %cst_93 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %391 = stablehlo.reduce(%390 init: %cst_93) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %392 = stablehlo.reshape %391 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %393 = stablehlo.broadcast_in_dim %85, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %394 = stablehlo.multiply %389, %393 : tensor<4x16x32xf32>
    %395 = stablehlo.multiply %392, %88 : tensor<4x16x1xf32>
    %cst_94 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %396 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %397 = stablehlo.divide %395, %396 : tensor<4x16x1xf32>
    %cst_95 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %398 = stablehlo.reduce(%397 init: %cst_95) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %399 = stablehlo.broadcast_in_dim %398, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %400 = stablehlo.multiply %399, %78 : tensor<4x16x32xf32>
    %401 = stablehlo.broadcast_in_dim %73, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %402 = stablehlo.multiply %401, %394 : tensor<4x16x32xf32>
    %403 = stablehlo.add %400, %402 : tensor<4x16x32xf32>
    %404 = stablehlo.multiply %394, %72 : tensor<4x16x32xf32>
    %cst_96 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %405 = stablehlo.reduce(%404 init: %cst_96) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %406 = stablehlo.reshape %405 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %cst_97 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %407 = stablehlo.reduce(%406 init: %cst_97) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %408 = stablehlo.negate %403 : tensor<4x16x32xf32>
    %cst_98 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %409 = stablehlo.reduce(%408 init: %cst_98) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %410 = stablehlo.reshape %409 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %411 = stablehlo.add %372, %403 : tensor<4x16x32xf32>
    %cst_99 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %412 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %413 = stablehlo.divide %410, %412 : tensor<4x16x1xf32>
    %cst_100 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %414 = stablehlo.reduce(%413 init: %cst_100) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %415 = stablehlo.broadcast_in_dim %414, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %416 = stablehlo.add %411, %415 : tensor<4x16x32xf32>
    %417 = stablehlo.dot_general %416, %64, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<4x16x32xf32>) -> tensor<32x32xf32>
    %418 = stablehlo.transpose %417, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %419 = stablehlo.dot_general %416, %arg4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x32xf32>) -> tensor<4x16x32xf32>
    %420 = stablehlo.reshape %419 : (tensor<4x16x32xf32>) -> tensor<4x16x2x16xf32>
    %421 = stablehlo.transpose %420, dims = [0, 2, 3, 1] : (tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %422 = stablehlo.dot_general %421, %41, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x2x16x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %423 = stablehlo.dot_general %421, %58, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x2x16x16xf32>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %424 = stablehlo.transpose %423, dims = [0, 3, 1, 2] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %425 = stablehlo.broadcast_in_dim %61, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %426 = stablehlo.multiply %422, %425 : tensor<4x2x16x16xf32>
    %427 = stablehlo.multiply %426, %54 : tensor<4x2x16x16xf32>
    %cst_101 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %428 = stablehlo.reduce(%427 init: %cst_101) applies stablehlo.add across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %429 = stablehlo.reshape %428 : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %430 = stablehlo.negate %429 : tensor<4x2x16x1xf32>
    %431 = stablehlo.broadcast_in_dim %56, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %432 = stablehlo.divide %422, %431 : tensor<4x2x16x16xf32>
    %cst_102 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %433 = stablehlo.reduce(%430 init: %cst_102) applies stablehlo.add across dimensions = [3] : (tensor<4x2x16x1xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %434 = stablehlo.broadcast_in_dim %433, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x16xf32>
    %435 = stablehlo.add %432, %434 : tensor<4x2x16x16xf32>
    %436 = stablehlo.multiply %435, %54 : tensor<4x2x16x16xf32>
    %437 = call @_where_2(%47#1, %436) : (tensor<4x2x16x16xi1>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %cst_103 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %438 = stablehlo.broadcast_in_dim %cst_103, dims = [] : (tensor<f32>) -> tensor<4x2x16x16xf32>
    %439 = stablehlo.multiply %437, %438 : tensor<4x2x16x16xf32>
    %440 = stablehlo.dot_general %439, %37, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x2x16x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %441 = stablehlo.transpose %440, dims = [0, 2, 1, 3] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %442 = stablehlo.dot_general %439, %39, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x2x16x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %443 = stablehlo.transpose %442, dims = [0, 2, 1, 3] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %444 = stablehlo.broadcast_in_dim %424, dims = [0, 1, 3, 4] : (tensor<4x16x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %cst_104 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %445 = stablehlo.pad %444, %cst_104, low = [0, 0, 2, 0, 0], high = [0, 0, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<4x16x1x2x16xf32>, tensor<f32>) -> tensor<4x16x3x2x16xf32>
    %446 = stablehlo.broadcast_in_dim %441, dims = [0, 1, 3, 4] : (tensor<4x16x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %cst_105 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %447 = stablehlo.pad %446, %cst_105, low = [0, 0, 1, 0, 0], high = [0, 0, 1, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<4x16x1x2x16xf32>, tensor<f32>) -> tensor<4x16x3x2x16xf32>
    %448 = stablehlo.add %445, %447 : tensor<4x16x3x2x16xf32>
    %449 = stablehlo.broadcast_in_dim %443, dims = [0, 1, 3, 4] : (tensor<4x16x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %cst_106 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %450 = stablehlo.pad %449, %cst_106, low = [0, 0, 0, 0, 0], high = [0, 0, 2, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<4x16x1x2x16xf32>, tensor<f32>) -> tensor<4x16x3x2x16xf32>
    %451 = stablehlo.add %448, %450 : tensor<4x16x3x2x16xf32>
    %452 = stablehlo.reshape %451 : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x96xf32>
    %453 = stablehlo.dot_general %452, %33, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x96xf32>, tensor<4x16x32xf32>) -> tensor<96x32xf32>
    %454 = stablehlo.transpose %453, dims = [1, 0] : (tensor<96x32xf32>) -> tensor<32x96xf32>
    %455 = stablehlo.dot_general %452, %arg0, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x96xf32>, tensor<32x96xf32>) -> tensor<4x16x32xf32>
    %456 = stablehlo.multiply %18, %455 : tensor<4x16x32xf32>
    %cst_107 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %457 = stablehlo.reduce(%456 init: %cst_107) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %458 = stablehlo.reshape %457 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %459 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %460 = stablehlo.multiply %455, %459 : tensor<4x16x32xf32>
    %461 = stablehlo.multiply %458, %31 : tensor<4x16x1xf32>
    %cst_108 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %462 = stablehlo.broadcast_in_dim %cst_108, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %463 = stablehlo.divide %461, %462 : tensor<4x16x1xf32>
    %cst_109 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %464 = stablehlo.reduce(%463 init: %cst_109) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %465 = stablehlo.broadcast_in_dim %464, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %466 = stablehlo.multiply %465, %21 : tensor<4x16x32xf32>
    %467 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %468 = stablehlo.multiply %467, %460 : tensor<4x16x32xf32>
    %469 = stablehlo.add %466, %468 : tensor<4x16x32xf32>
    %470 = stablehlo.multiply %460, %15 : tensor<4x16x32xf32>
    %cst_110 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %471 = stablehlo.reduce(%470 init: %cst_110) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %472 = stablehlo.reshape %471 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %cst_111 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %473 = stablehlo.reduce(%472 init: %cst_111) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %474 = stablehlo.negate %469 : tensor<4x16x32xf32>
    %cst_112 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %475 = stablehlo.reduce(%474 init: %cst_112) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %476 = stablehlo.reshape %475 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %477 = stablehlo.add %416, %469 : tensor<4x16x32xf32>
    %cst_113 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %478 = stablehlo.broadcast_in_dim %cst_113, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %479 = stablehlo.divide %476, %478 : tensor<4x16x1xf32>
    %cst_114 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %480 = stablehlo.reduce(%479 init: %cst_114) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %481 = stablehlo.broadcast_in_dim %480, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %482 = stablehlo.add %477, %481 : tensor<4x16x32xf32>
    %cst_115 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %483 = stablehlo.reduce(%482 init: %cst_115) applies stablehlo.add across dimensions = [0] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
    %484 = stablehlo.reshape %483 : (tensor<16x32xf32>) -> tensor<1x16x32xf32>
    %cst_116 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %485 = stablehlo.reduce(%484 init: %cst_116) applies stablehlo.add across dimensions = [0] : (tensor<1x16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
    %cst_117 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %486 = stablehlo.broadcast_in_dim %cst_117, dims = [] : (tensor<f32>) -> tensor<22x32xf32>
    %487 = "stablehlo.scatter"(%486, %5, %482) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg18: tensor<f32>, %arg19: tensor<f32>):
      %536 = stablehlo.add %arg18, %arg19 : tensor<f32>
      stablehlo.return %536 : tensor<f32>
    }) : (tensor<22x32xf32>, tensor<4x16x1xi32>, tensor<4x16x32xf32>) -> tensor<22x32xf32>
    %cst_118 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %488 = stablehlo.broadcast_in_dim %cst_118, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %489 = stablehlo.multiply %488, %454 : tensor<32x96xf32>
    %490 = stablehlo.subtract %arg0, %489 : tensor<32x96xf32>
    %cst_119 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %491 = stablehlo.broadcast_in_dim %cst_119, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %492 = stablehlo.multiply %491, %473 : tensor<32xf32>
    %493 = stablehlo.subtract %arg1, %492 : tensor<32xf32>
    %cst_120 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %494 = stablehlo.broadcast_in_dim %cst_120, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %495 = stablehlo.multiply %494, %407 : tensor<32xf32>
    %496 = stablehlo.subtract %arg2, %495 : tensor<32xf32>
    %cst_121 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %497 = stablehlo.broadcast_in_dim %cst_121, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %498 = stablehlo.multiply %497, %374 : tensor<128x32xf32>
    %499 = stablehlo.subtract %arg3, %498 : tensor<128x32xf32>
    %cst_122 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %500 = stablehlo.broadcast_in_dim %cst_122, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %501 = stablehlo.multiply %500, %418 : tensor<32x32xf32>
    %502 = stablehlo.subtract %arg4, %501 : tensor<32x32xf32>
    %cst_123 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %503 = stablehlo.broadcast_in_dim %cst_123, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %504 = stablehlo.multiply %503, %388 : tensor<32x128xf32>
    %505 = stablehlo.subtract %arg5, %504 : tensor<32x128xf32>
    %cst_124 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %506 = stablehlo.broadcast_in_dim %cst_124, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %507 = stablehlo.multiply %506, %344 : tensor<32x96xf32>
    %508 = stablehlo.subtract %arg6, %507 : tensor<32x96xf32>
    %cst_125 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %509 = stablehlo.broadcast_in_dim %cst_125, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %510 = stablehlo.multiply %509, %363 : tensor<32xf32>
    %511 = stablehlo.subtract %arg7, %510 : tensor<32xf32>
    %cst_126 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %512 = stablehlo.broadcast_in_dim %cst_126, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %513 = stablehlo.multiply %512, %297 : tensor<32xf32>
    %514 = stablehlo.subtract %arg8, %513 : tensor<32xf32>
    %cst_127 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %515 = stablehlo.broadcast_in_dim %cst_127, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %516 = stablehlo.multiply %515, %264 : tensor<128x32xf32>
    %517 = stablehlo.subtract %arg9, %516 : tensor<128x32xf32>
    %cst_128 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %518 = stablehlo.broadcast_in_dim %cst_128, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %519 = stablehlo.multiply %518, %308 : tensor<32x32xf32>
    %520 = stablehlo.subtract %arg10, %519 : tensor<32x32xf32>
    %cst_129 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %521 = stablehlo.broadcast_in_dim %cst_129, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %522 = stablehlo.multiply %521, %278 : tensor<32x128xf32>
    %523 = stablehlo.subtract %arg11, %522 : tensor<32x128xf32>
    %cst_130 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %524 = stablehlo.broadcast_in_dim %cst_130, dims = [] : (tensor<f32>) -> tensor<32x22xf32>
    %525 = stablehlo.multiply %524, %235 : tensor<32x22xf32>
    %526 = stablehlo.subtract %arg12, %525 : tensor<32x22xf32>
    %cst_131 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %527 = stablehlo.broadcast_in_dim %cst_131, dims = [] : (tensor<f32>) -> tensor<22x32xf32>
    %528 = stablehlo.multiply %527, %487 : tensor<22x32xf32>
    %529 = stablehlo.subtract %arg13, %528 : tensor<22x32xf32>
    %cst_132 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %530 = stablehlo.broadcast_in_dim %cst_132, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %531 = stablehlo.multiply %530, %254 : tensor<32xf32>
    %532 = stablehlo.subtract %arg14, %531 : tensor<32xf32>
    %cst_133 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %533 = stablehlo.broadcast_in_dim %cst_133, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %534 = stablehlo.multiply %533, %485 : tensor<16x32xf32>
    %535 = stablehlo.subtract %arg15, %534 : tensor<16x32xf32>
    return %228, %490, %493, %496, %499, %502, %505, %508, %511, %514, %517, %520, %523, %526, %529, %532, %535 : tensor<f32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x22xf32>, tensor<22x32xf32>, tensor<32xf32>, tensor<16x32xf32>
  }
  func.func private @tril(%arg0: tensor<16x16xi1>) -> tensor<16x16xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<16x16xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x16xi32>
    %2 = stablehlo.add %0, %1 : tensor<16x16xi32>
    %3 = stablehlo.iota dim = 1 : tensor<16x16xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<16x16xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<16x16xi1>, tensor<16x16xi1>
    return %6 : tensor<16x16xi1>
  }
  func.func private @_where(%arg0: tensor<16x16xi1>, %arg1: tensor<4x2x16x16xf32>, %arg2: tensor<f32>) -> (tensor<4x2x16x16xf32>, tensor<4x2x16x16xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<16x16xi1>) -> tensor<4x2x16x16xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x2x16x16xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<4x2x16x16xi1>, tensor<4x2x16x16xf32>
    return %3, %1 : tensor<4x2x16x16xf32>, tensor<4x2x16x16xi1>
  }
  func.func private @log_softmax(%arg0: tensor<4x16x22xf32>) -> (tensor<4x16x22xf32>, tensor<4x16x22xf32>, tensor<4x16x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<4x16x22xf32>, tensor<f32>) -> tensor<4x16xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<4x16xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x22xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x16x22xf32>
    %6 = stablehlo.exponential %5 : tensor<4x16x22xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<4x16x22xf32>, tensor<f32>) -> tensor<4x16xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %9 = stablehlo.log %8 : tensor<4x16x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x22xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<4x16x22xf32>
    return %11, %6, %8 : tensor<4x16x22xf32>, tensor<4x16x22xf32>, tensor<4x16x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<4x16x22xf32>, %arg1: tensor<4x16x1xi32>) -> (tensor<4x16x1xf32>, tensor<4x16x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x16x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4x16x1xi32>, tensor<4x16x1xi32>) -> tensor<4x16x1xi1>
    %c_0 = stablehlo.constant dense<22> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x16x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4x16x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4x16x1xi1>, tensor<4x16x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<4x16x1xi32>) -> tensor<4x16x1x1xi32>
    %c_1 = stablehlo.constant dense<21> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x16x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<4x16x1x1xi32>, tensor<4x16x1x1xi32>) -> tensor<4x16x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<4x16x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<4x16x1x1xi32>, tensor<4x16x1x1xi32>) -> tensor<4x16x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<4x16x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<4x16x1x1xi1>, tensor<i1>) -> tensor<4x16x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x16x22xf32>, tensor<4x16x1x1xi32>) -> tensor<4x16x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<4x16x1xi1>, tensor<4x16x1xf32>
    return %15, %5 : tensor<4x16x1xf32>, tensor<4x16x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<4x16x1x1xi32>, %arg1: tensor<4x16x1xf32>) -> tensor<4x16x22xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16x22xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x16x22xf32>, tensor<4x16x1x1xi32>, tensor<4x16x1xf32>) -> tensor<4x16x22xf32>
    return %1 : tensor<4x16x22xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<4x16x22xf32>, %arg1: tensor<4x16x1xf32>, %arg2: tensor<4x16x22xf32>) -> tensor<4x16x22xf32> {
    %0 = stablehlo.negate %arg2 : tensor<4x16x22xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x16x22xf32>, tensor<f32>) -> tensor<4x16xf32>
    %2 = stablehlo.reshape %1 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<4x16x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x22xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<4x16x22xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<4x16x22xf32>
    return %7 : tensor<4x16x22xf32>
  }
  func.func private @_where_2(%arg0: tensor<4x2x16x16xi1>, %arg1: tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x2x16x16xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<4x2x16x16xi1>, tensor<4x2x16x16xf32>
    return %1 : tensor<4x2x16x16xf32>
  }
}
