module @jit_with_gradient attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x32x64xf32>, %arg1: tensor<64x64xf32>, %arg2: tensor<64x64xf32>, %arg3: tensor<64x64xf32>, %arg4: tensor<64x64xf32>, %arg5: tensor<64x256xf32>, %arg6: tensor<256x64xf32>, %arg7: tensor<8x32x64xf32>) -> (tensor<8x32x64xf32> {jax.result_info = "result[0]"}, tensor<8x32x64xf32> {jax.result_info = "result[1]"}, tensor<64x64xf32> {jax.result_info = "result[2]"}, tensor<64x64xf32> {jax.result_info = "result[3]"}, tensor<64x64xf32> {jax.result_info = "result[4]"}, tensor<64x64xf32> {jax.result_info = "result[5]"}, tensor<64x256xf32> {jax.result_info = "result[6]"}, tensor<256x64xf32> {jax.result_info = "result[7]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_0 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<8x32x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<8x32x64xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<8x32x64xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_2 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<8x32x1xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %12 = stablehlo.add %10, %11 : tensor<8x32x1xf32>
    %13 = stablehlo.rsqrt %12 : tensor<8x32x1xf32>
    %14 = stablehlo.divide %13, %12 : tensor<8x32x1xf32>
    %cst_4 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %16 = stablehlo.multiply %15, %14 : tensor<8x32x1xf32>
    %17 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %18 = stablehlo.multiply %5, %17 : tensor<8x32x64xf32>
    %19 = stablehlo.dot_general %18, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %20 = stablehlo.reshape %19 : (tensor<8x32x64xf32>) -> tensor<8x32x8x8xf32>
    %21 = stablehlo.dot_general %18, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %22 = stablehlo.reshape %21 : (tensor<8x32x64xf32>) -> tensor<8x32x8x8xf32>
    %23 = stablehlo.dot_general %18, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %24 = stablehlo.reshape %23 : (tensor<8x32x64xf32>) -> tensor<8x32x8x8xf32>
    %25 = stablehlo.dot_general %20, %22, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x32x8x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_5 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %27 = stablehlo.divide %25, %26 : tensor<8x8x32x32xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %28 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %29 = call @tril(%28) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_6 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %30:2 = call @_where(%29, %27, %cst_6) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> (tensor<8x8x32x32xf32>, tensor<8x8x32x32xi1>)
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %31 = stablehlo.reduce(%30#0 init: %cst_7) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %33 = stablehlo.maximum %32, %31 : tensor<8x8x32xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %36 = stablehlo.subtract %30#0, %35 : tensor<8x8x32x32xf32>
    %37 = stablehlo.exponential %36 : tensor<8x8x32x32xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%37 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %41 = stablehlo.divide %37, %40 : tensor<8x8x32x32xf32>
    %42 = stablehlo.multiply %39, %39 : tensor<8x8x32x1xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x8x32x1xf32>
    %44 = stablehlo.divide %43, %42 : tensor<8x8x32x1xf32>
    %45 = stablehlo.dot_general %24, %41, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %46 = stablehlo.transpose %45, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %47 = stablehlo.reshape %46 : (tensor<8x32x8x8xf32>) -> tensor<8x32x64xf32>
    %48 = stablehlo.dot_general %47, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %49 = stablehlo.add %arg0, %48 : tensor<8x32x64xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.reduce(%49 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_12 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %53 = stablehlo.divide %51, %52 : tensor<8x32x1xf32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %55 = stablehlo.subtract %49, %54 : tensor<8x32x64xf32>
    %56 = stablehlo.multiply %55, %55 : tensor<8x32x64xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %57 = stablehlo.reduce(%56 init: %cst_13) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %58 = stablehlo.broadcast_in_dim %57, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_14 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %60 = stablehlo.divide %58, %59 : tensor<8x32x1xf32>
    %cst_15 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %62 = stablehlo.add %60, %61 : tensor<8x32x1xf32>
    %63 = stablehlo.rsqrt %62 : tensor<8x32x1xf32>
    %64 = stablehlo.divide %63, %62 : tensor<8x32x1xf32>
    %cst_16 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %66 = stablehlo.multiply %65, %64 : tensor<8x32x1xf32>
    %67 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %68 = stablehlo.multiply %55, %67 : tensor<8x32x64xf32>
    %69 = stablehlo.dot_general %68, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %70 = stablehlo.multiply %69, %69 : tensor<8x32x256xf32>
    %71 = stablehlo.multiply %70, %69 : tensor<8x32x256xf32>
    %72 = stablehlo.multiply %69, %69 : tensor<8x32x256xf32>
    %cst_17 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %74 = stablehlo.multiply %73, %72 : tensor<8x32x256xf32>
    %cst_18 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %76 = stablehlo.multiply %75, %71 : tensor<8x32x256xf32>
    %77 = stablehlo.add %69, %76 : tensor<8x32x256xf32>
    %cst_19 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %79 = stablehlo.multiply %78, %77 : tensor<8x32x256xf32>
    %80 = stablehlo.tanh %79 : tensor<8x32x256xf32>
    %cst_20 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %82 = stablehlo.subtract %81, %80 : tensor<8x32x256xf32>
    %cst_21 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %83 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %84 = stablehlo.add %83, %80 : tensor<8x32x256xf32>
    %cst_22 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %86 = stablehlo.multiply %85, %84 : tensor<8x32x256xf32>
    %87 = stablehlo.multiply %69, %86 : tensor<8x32x256xf32>
    %88 = stablehlo.dot_general %87, %arg6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %89 = stablehlo.add %49, %88 : tensor<8x32x64xf32>
    %90 = stablehlo.dot_general %arg7, %87, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %91 = stablehlo.transpose %90, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %92 = stablehlo.dot_general %arg7, %arg6, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %93 = stablehlo.multiply %69, %92 : tensor<8x32x256xf32>
    %94 = stablehlo.multiply %92, %86 : tensor<8x32x256xf32>
    %cst_23 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %96 = stablehlo.multiply %95, %93 : tensor<8x32x256xf32>
    %97 = stablehlo.multiply %96, %82 : tensor<8x32x256xf32>
    %98 = stablehlo.multiply %97, %80 : tensor<8x32x256xf32>
    %99 = stablehlo.add %97, %98 : tensor<8x32x256xf32>
    %cst_24 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %101 = stablehlo.multiply %100, %99 : tensor<8x32x256xf32>
    %102 = stablehlo.add %94, %101 : tensor<8x32x256xf32>
    %cst_25 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %103 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %104 = stablehlo.multiply %103, %101 : tensor<8x32x256xf32>
    %105 = stablehlo.multiply %104, %74 : tensor<8x32x256xf32>
    %106 = stablehlo.add %102, %105 : tensor<8x32x256xf32>
    %107 = stablehlo.dot_general %106, %68, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %108 = stablehlo.transpose %107, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %109 = stablehlo.dot_general %106, %arg5, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %110 = stablehlo.multiply %55, %109 : tensor<8x32x64xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %111 = stablehlo.reduce(%110 init: %cst_26) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %112 = stablehlo.reshape %111 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %113 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %114 = stablehlo.multiply %109, %113 : tensor<8x32x64xf32>
    %115 = stablehlo.multiply %112, %66 : tensor<8x32x1xf32>
    %cst_27 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %116 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %117 = stablehlo.divide %115, %116 : tensor<8x32x1xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %118 = stablehlo.reduce(%117 init: %cst_28) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %119 = stablehlo.broadcast_in_dim %118, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %120 = stablehlo.multiply %55, %119 : tensor<8x32x64xf32>
    %121 = stablehlo.add %114, %120 : tensor<8x32x64xf32>
    %122 = stablehlo.multiply %119, %55 : tensor<8x32x64xf32>
    %123 = stablehlo.add %121, %122 : tensor<8x32x64xf32>
    %124 = stablehlo.negate %123 : tensor<8x32x64xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %125 = stablehlo.reduce(%124 init: %cst_29) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %126 = stablehlo.reshape %125 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %127 = stablehlo.add %arg7, %123 : tensor<8x32x64xf32>
    %cst_30 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %128 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %129 = stablehlo.divide %126, %128 : tensor<8x32x1xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %130 = stablehlo.reduce(%129 init: %cst_31) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %131 = stablehlo.broadcast_in_dim %130, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %132 = stablehlo.add %127, %131 : tensor<8x32x64xf32>
    %133 = stablehlo.dot_general %132, %47, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %134 = stablehlo.transpose %133, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %135 = stablehlo.dot_general %132, %arg4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %136 = stablehlo.reshape %135 : (tensor<8x32x64xf32>) -> tensor<8x32x8x8xf32>
    %137 = stablehlo.transpose %136, dims = [0, 2, 3, 1] : (tensor<8x32x8x8xf32>) -> tensor<8x8x8x32xf32>
    %138 = stablehlo.dot_general %137, %24, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x8x8xf32>) -> tensor<8x8x32x32xf32>
    %139 = stablehlo.dot_general %137, %41, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %140 = stablehlo.transpose %139, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %141 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %142 = stablehlo.multiply %138, %141 : tensor<8x8x32x32xf32>
    %143 = stablehlo.multiply %142, %37 : tensor<8x8x32x32xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %144 = stablehlo.reduce(%143 init: %cst_32) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %145 = stablehlo.reshape %144 : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %146 = stablehlo.negate %145 : tensor<8x8x32x1xf32>
    %147 = stablehlo.broadcast_in_dim %39, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %148 = stablehlo.divide %138, %147 : tensor<8x8x32x32xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %149 = stablehlo.reduce(%146 init: %cst_33) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x1xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %150 = stablehlo.broadcast_in_dim %149, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x32xf32>
    %151 = stablehlo.add %148, %150 : tensor<8x8x32x32xf32>
    %152 = stablehlo.multiply %151, %37 : tensor<8x8x32x32xf32>
    %153 = call @_where_0(%30#1, %152) : (tensor<8x8x32x32xi1>, tensor<8x8x32x32xf32>) -> tensor<8x8x32x32xf32>
    %cst_34 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %154 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %155 = stablehlo.divide %153, %154 : tensor<8x8x32x32xf32>
    %156 = stablehlo.dot_general %155, %20, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x32x8x8xf32>) -> tensor<8x8x32x8xf32>
    %157 = stablehlo.transpose %156, dims = [0, 2, 1, 3] : (tensor<8x8x32x8xf32>) -> tensor<8x32x8x8xf32>
    %158 = stablehlo.dot_general %155, %22, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x32x8x8xf32>) -> tensor<8x8x32x8xf32>
    %159 = stablehlo.transpose %158, dims = [0, 2, 1, 3] : (tensor<8x8x32x8xf32>) -> tensor<8x32x8x8xf32>
    %160 = stablehlo.reshape %140 : (tensor<8x32x8x8xf32>) -> tensor<8x32x64xf32>
    %161 = stablehlo.dot_general %160, %18, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %162 = stablehlo.transpose %161, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %163 = stablehlo.dot_general %160, %arg3, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %164 = stablehlo.reshape %157 : (tensor<8x32x8x8xf32>) -> tensor<8x32x64xf32>
    %165 = stablehlo.dot_general %164, %18, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %166 = stablehlo.transpose %165, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %167 = stablehlo.dot_general %164, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %168 = stablehlo.add %163, %167 : tensor<8x32x64xf32>
    %169 = stablehlo.reshape %159 : (tensor<8x32x8x8xf32>) -> tensor<8x32x64xf32>
    %170 = stablehlo.dot_general %169, %18, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %171 = stablehlo.transpose %170, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %172 = stablehlo.dot_general %169, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %173 = stablehlo.add %168, %172 : tensor<8x32x64xf32>
    %174 = stablehlo.multiply %5, %173 : tensor<8x32x64xf32>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %175 = stablehlo.reduce(%174 init: %cst_35) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %176 = stablehlo.reshape %175 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %177 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %178 = stablehlo.multiply %173, %177 : tensor<8x32x64xf32>
    %179 = stablehlo.multiply %176, %16 : tensor<8x32x1xf32>
    %cst_36 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %180 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %181 = stablehlo.divide %179, %180 : tensor<8x32x1xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %182 = stablehlo.reduce(%181 init: %cst_37) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %183 = stablehlo.broadcast_in_dim %182, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %184 = stablehlo.multiply %5, %183 : tensor<8x32x64xf32>
    %185 = stablehlo.add %178, %184 : tensor<8x32x64xf32>
    %186 = stablehlo.multiply %183, %5 : tensor<8x32x64xf32>
    %187 = stablehlo.add %185, %186 : tensor<8x32x64xf32>
    %188 = stablehlo.negate %187 : tensor<8x32x64xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %189 = stablehlo.reduce(%188 init: %cst_38) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %190 = stablehlo.reshape %189 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %191 = stablehlo.add %132, %187 : tensor<8x32x64xf32>
    %cst_39 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %192 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %193 = stablehlo.divide %190, %192 : tensor<8x32x1xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %194 = stablehlo.reduce(%193 init: %cst_40) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %195 = stablehlo.broadcast_in_dim %194, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %196 = stablehlo.add %191, %195 : tensor<8x32x64xf32>
    return %89, %196, %171, %166, %162, %134, %108, %91 : tensor<8x32x64xf32>, tensor<8x32x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>
  }
  func.func private @tril(%arg0: tensor<32x32xi1>) -> tensor<32x32xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<32x32xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<32x32xi32>
    %2 = stablehlo.add %0, %1 : tensor<32x32xi32>
    %3 = stablehlo.iota dim = 1 : tensor<32x32xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<32x32xi32>, tensor<32x32xi32>) -> tensor<32x32xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<32x32xi1>, tensor<32x32xi1>
    return %6 : tensor<32x32xi1>
  }
  func.func private @_where(%arg0: tensor<32x32xi1>, %arg1: tensor<8x8x32x32xf32>, %arg2: tensor<f32>) -> (tensor<8x8x32x32xf32>, tensor<8x8x32x32xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<32x32xi1>) -> tensor<8x8x32x32xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<8x8x32x32xi1>, tensor<8x8x32x32xf32>
    return %3, %1 : tensor<8x8x32x32xf32>, tensor<8x8x32x32xi1>
  }
  func.func private @_where_0(%arg0: tensor<8x8x32x32xi1>, %arg1: tensor<8x8x32x32xf32>) -> tensor<8x8x32x32xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<8x8x32x32xi1>, tensor<8x8x32x32xf32>
    return %1 : tensor<8x8x32x32xf32>
  }
}
