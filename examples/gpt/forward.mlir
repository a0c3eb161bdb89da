module @jit_forward attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<f32> {jax.result_info = "result['loss']"}) {
    %c = stablehlo.constant dense<"0x1100000009000000060000000000000014000000060000000200000013000000060000000F000000000000000B0000000A0000000700000011000000100000000000000011000000090000000600000000000000090000000600000005000000050000000B0000000600000000000000020000000D00000005000000000000000600000013000000060000000F00000015000000000000000E0000001100000009000000060000000F0000000000000011000000090000000F000000060000000200000005000000000000000F0000000A00000010000000060000001000000001000000000000001100000009000000060000000000000010000000090000001200000011000000110000000B00000006000000000000000F000000120000000D00000010000000000000000300000006000000110000001400000006000000060000000D000000000000001100000009000000060000000C00000000000000020000000D000000050000000000000011000000090000000600000000000000040000000B0000000E000000110000000900000000000000080000000F0000000E0000001400000010000000000000000300000015000000000000000E0000000D000000060000000000000011000000090000000F0000000600000002000000050000000100000000000000"> : tensor<123xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<32> : tensor<i32>
    %0 = stablehlo.shift_right_logical %c_0, %c_1 : tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %c_2 = stablehlo.constant dense<-1> : tensor<i32>
    %3 = stablehlo.and %c_0, %c_2 : tensor<i32>
    %4 = stablehlo.convert %3 : (tensor<i32>) -> tensor<ui32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %6 = stablehlo.concatenate %2, %5, dim = 0 : (tensor<1xui32>, tensor<1xui32>) -> tensor<2xui32>
    %7 = call @_normal(%6) : (tensor<2xui32>) -> tensor<26496xf32>
    %8 = stablehlo.slice %7 [0:704] : (tensor<26496xf32>) -> tensor<704xf32>
    %9 = stablehlo.reshape %8 : (tensor<704xf32>) -> tensor<22x32xf32>
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<22x32xf32>
    %11 = stablehlo.multiply %9, %10 : tensor<22x32xf32>
    %12 = stablehlo.slice %7 [704:1216] : (tensor<26496xf32>) -> tensor<512xf32>
    %13 = stablehlo.reshape %12 : (tensor<512xf32>) -> tensor<16x32xf32>
    %cst_3 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %15 = stablehlo.multiply %13, %14 : tensor<16x32xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %17 = stablehlo.slice %7 [1216:4288] : (tensor<26496xf32>) -> tensor<3072xf32>
    %18 = stablehlo.reshape %17 : (tensor<3072xf32>) -> tensor<32x96xf32>
    %cst_5 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %20 = stablehlo.multiply %18, %19 : tensor<32x96xf32>
    %21 = stablehlo.slice %7 [4288:5312] : (tensor<26496xf32>) -> tensor<1024xf32>
    %22 = stablehlo.reshape %21 : (tensor<1024xf32>) -> tensor<32x32xf32>
    %cst_6 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %24 = stablehlo.multiply %22, %23 : tensor<32x32xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %26 = stablehlo.slice %7 [5312:9408] : (tensor<26496xf32>) -> tensor<4096xf32>
    %27 = stablehlo.reshape %26 : (tensor<4096xf32>) -> tensor<32x128xf32>
    %cst_8 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %29 = stablehlo.multiply %27, %28 : tensor<32x128xf32>
    %30 = stablehlo.slice %7 [9408:13504] : (tensor<26496xf32>) -> tensor<4096xf32>
    %31 = stablehlo.reshape %30 : (tensor<4096xf32>) -> tensor<128x32xf32>
    %cst_9 = stablehlo.constant dense<0.0883883461> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %33 = stablehlo.multiply %31, %32 : tensor<128x32xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %35 = stablehlo.slice %7 [13504:16576] : (tensor<26496xf32>) -> tensor<3072xf32>
    %36 = stablehlo.reshape %35 : (tensor<3072xf32>) -> tensor<32x96xf32>
    %cst_11 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %38 = stablehlo.multiply %36, %37 : tensor<32x96xf32>
    %39 = stablehlo.slice %7 [16576:17600] : (tensor<26496xf32>) -> tensor<1024xf32>
    %40 = stablehlo.reshape %39 : (tensor<1024xf32>) -> tensor<32x32xf32>
    %cst_12 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %42 = stablehlo.multiply %40, %41 : tensor<32x32xf32>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %44 = stablehlo.slice %7 [17600:21696] : (tensor<26496xf32>) -> tensor<4096xf32>
    %45 = stablehlo.reshape %44 : (tensor<4096xf32>) -> tensor<32x128xf32>
    %cst_14 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %47 = stablehlo.multiply %45, %46 : tensor<32x128xf32>
    %48 = stablehlo.slice %7 [21696:25792] : (tensor<26496xf32>) -> tensor<4096xf32>
    %49 = stablehlo.reshape %48 : (tensor<4096xf32>) -> tensor<128x32xf32>
    %cst_15 = stablehlo.constant dense<0.0883883461> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %51 = stablehlo.multiply %49, %50 : tensor<128x32xf32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %53 = stablehlo.slice %7 [25792:26496] : (tensor<26496xf32>) -> tensor<704xf32>
    %54 = stablehlo.reshape %53 : (tensor<704xf32>) -> tensor<32x22xf32>
    %cst_17 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<32x22xf32>
    %56 = stablehlo.multiply %54, %55 : tensor<32x22xf32>
    %57 = stablehlo.iota dim = 0 : tensor<4xi32>
    %c_18 = stablehlo.constant dense<106> : tensor<i32>
    %58 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %59 = stablehlo.multiply %57, %58 : tensor<4xi32>
    %c_19 = stablehlo.constant dense<4> : tensor<i32>
    %60 = call @floor_divide(%59, %c_19) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
    %61 = stablehlo.broadcast_in_dim %60, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %62 = stablehlo.iota dim = 0 : tensor<16xi32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [1] : (tensor<16xi32>) -> tensor<1x16xi32>
    %64 = stablehlo.broadcast_in_dim %61, dims = [0, 1] : (tensor<4x1xi32>) -> tensor<4x16xi32>
    %65 = stablehlo.broadcast_in_dim %63, dims = [0, 1] : (tensor<1x16xi32>) -> tensor<4x16xi32>
    %66 = stablehlo.add %64, %65 : tensor<4x16xi32>
    %c_20 = stablehlo.constant dense<0> : tensor<i32>
    %67 = stablehlo.broadcast_in_dim %c_20, dims = [] : (tensor<i32>) -> tensor<4x16xi32>
    %68 = stablehlo.compare LT, %66, %67, SIGNED : (tensor<4x16xi32>, tensor<4x16xi32>) -> tensor<4x16xi1>
    %c_21 = stablehlo.constant dense<123> : tensor<i32>
    %69 = stablehlo.broadcast_in_dim %c_21, dims = [] : (tensor<i32>) -> tensor<4x16xi32>
    %70 = stablehlo.add %66, %69 : tensor<4x16xi32>
    %71 = stablehlo.select %68, %70, %66 : tensor<4x16xi1>, tensor<4x16xi32>
    %72 = stablehlo.broadcast_in_dim %71, dims = [0, 1] : (tensor<4x16xi32>) -> tensor<4x16x1xi32>
    %73 = "stablehlo.gather"(%c, %72) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<123xi32>, tensor<4x16x1xi32>) -> tensor<4x16xi32>
    %c_22 = stablehlo.constant dense<1> : tensor<i32>
    %74 = stablehlo.broadcast_in_dim %c_22, dims = [] : (tensor<i32>) -> tensor<4x16xi32>
    %75 = stablehlo.add %66, %74 : tensor<4x16xi32>
    %c_23 = stablehlo.constant dense<0> : tensor<i32>
    %76 = stablehlo.broadcast_in_dim %c_23, dims = [] : (tensor<i32>) -> tensor<4x16xi32>
    %77 = stablehlo.compare LT, %75, %76, SIGNED : (tensor<4x16xi32>, tensor<4x16xi32>) -> tensor<4x16xi1>
    %c_24 = stablehlo.constant dense<123> : tensor<i32>
    %78 = stablehlo.broadcast_in_dim %c_24, dims = [] : (tensor<i32>) -> tensor<4x16xi32>
    %79 = stablehlo.add %75, %78 : tensor<4x16xi32>
    %80 = stablehlo.select %77, %79, %75 : tensor<4x16xi1>, tensor<4x16xi32>
    %81 = stablehlo.broadcast_in_dim %80, dims = [0, 1] : (tensor<4x16xi32>) -> tensor<4x16x1xi32>
    %82 = "stablehlo.gather"(%c, %81) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<123xi32>, tensor<4x16x1xi32>) -> tensor<4x16xi32>
    %c_25 = stablehlo.constant dense<0> : tensor<i32>
    %83 = stablehlo.broadcast_in_dim %c_25, dims = [] : (tensor<i32>) -> tensor<4x16xi32>
    %84 = stablehlo.compare LT, %73, %83, SIGNED : (tensor<4x16xi32>, tensor<4x16xi32>) -> tensor<4x16xi1>
    %c_26 = stablehlo.constant dense<22> : tensor<i32>
    %85 = stablehlo.broadcast_in_dim %c_26, dims = [] : (tensor<i32>) -> tensor<4x16xi32>
    %86 = stablehlo.add %73, %85 : tensor<4x16xi32>
    %87 = stablehlo.select %84, %86, %73 : tensor<4x16xi1>, tensor<4x16xi32>
    %88 = stablehlo.broadcast_in_dim %87, dims = [0, 1] : (tensor<4x16xi32>) -> tensor<4x16x1xi32>
    %89 = "stablehlo.gather"(%11, %88) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<22x32xf32>, tensor<4x16x1xi32>) -> tensor<4x16x32xf32>
    %90 = stablehlo.broadcast_in_dim %15, dims = [1, 2] : (tensor<16x32xf32>) -> tensor<1x16x32xf32>
    %91 = stablehlo.broadcast_in_dim %90, dims = [0, 1, 2] : (tensor<1x16x32xf32>) -> tensor<4x16x32xf32>
    %92 = stablehlo.add %89, %91 : tensor<4x16x32xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %93 = stablehlo.reduce(%92 init: %cst_27) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %94 = stablehlo.broadcast_in_dim %93, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_28 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %96 = stablehlo.divide %94, %95 : tensor<4x16x1xf32>
    %97 = stablehlo.broadcast_in_dim %96, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %98 = stablehlo.subtract %92, %97 : tensor<4x16x32xf32>
    %99 = stablehlo.broadcast_in_dim %16, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %100 = stablehlo.broadcast_in_dim %99, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %101 = stablehlo.multiply %100, %98 : tensor<4x16x32xf32>
    %102 = stablehlo.multiply %98, %98 : tensor<4x16x32xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %103 = stablehlo.reduce(%102 init: %cst_29) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %104 = stablehlo.broadcast_in_dim %103, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_30 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %106 = stablehlo.divide %104, %105 : tensor<4x16x1xf32>
    %cst_31 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %108 = stablehlo.add %106, %107 : tensor<4x16x1xf32>
    %109 = stablehlo.rsqrt %108 : tensor<4x16x1xf32>
    %110 = stablehlo.broadcast_in_dim %109, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %111 = stablehlo.multiply %101, %110 : tensor<4x16x32xf32>
    %112 = stablehlo.dot_general %111, %20, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x96xf32>) -> tensor<4x16x96xf32>
    %113 = stablehlo.reshape %112 : (tensor<4x16x96xf32>) -> tensor<4x16x3x2x16xf32>
    %114 = stablehlo.slice %113 [0:4, 0:16, 0:1, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %115 = stablehlo.reshape %114 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %116 = stablehlo.slice %113 [0:4, 0:16, 1:2, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %117 = stablehlo.reshape %116 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %118 = stablehlo.slice %113 [0:4, 0:16, 2:3, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %119 = stablehlo.reshape %118 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %120 = stablehlo.dot_general %115, %117, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x2x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %cst_32 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %121 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<4x2x16x16xf32>
    %122 = stablehlo.multiply %120, %121 : tensor<4x2x16x16xf32>
    %c_33 = stablehlo.constant dense<true> : tensor<i1>
    %123 = stablehlo.broadcast_in_dim %c_33, dims = [] : (tensor<i1>) -> tensor<16x16xi1>
    %124 = call @tril(%123) : (tensor<16x16xi1>) -> tensor<16x16xi1>
    %cst_34 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %125 = call @_where_0(%124, %122, %cst_34) : (tensor<16x16xi1>, tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16x16xf32>
    %cst_35 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %126 = stablehlo.reduce(%125 init: %cst_35) applies stablehlo.maximum across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %cst_36 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<4x2x16xf32>
    %128 = stablehlo.maximum %127, %126 : tensor<4x2x16xf32>
    %129 = stablehlo.broadcast_in_dim %128, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %130 = stablehlo.broadcast_in_dim %129, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %131 = stablehlo.subtract %125, %130 : tensor<4x2x16x16xf32>
    %132 = stablehlo.exponential %131 : tensor<4x2x16x16xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %133 = stablehlo.reduce(%132 init: %cst_37) applies stablehlo.add across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %134 = stablehlo.broadcast_in_dim %133, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %135 = stablehlo.broadcast_in_dim %134, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %136 = stablehlo.divide %132, %135 : tensor<4x2x16x16xf32>
    %137 = stablehlo.dot_general %119, %136, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x2x16xf32>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %138 = stablehlo.transpose %137, dims = [0, 3, 1, 2] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %139 = stablehlo.reshape %138 : (tensor<4x16x2x16xf32>) -> tensor<4x16x32xf32>
    %140 = stablehlo.dot_general %139, %24, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x32xf32>) -> tensor<4x16x32xf32>
    %141 = stablehlo.add %92, %140 : tensor<4x16x32xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %142 = stablehlo.reduce(%141 init: %cst_38) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %143 = stablehlo.broadcast_in_dim %142, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_39 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %145 = stablehlo.divide %143, %144 : tensor<4x16x1xf32>
    %146 = stablehlo.broadcast_in_dim %145, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %147 = stablehlo.subtract %141, %146 : tensor<4x16x32xf32>
    %148 = stablehlo.broadcast_in_dim %25, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %149 = stablehlo.broadcast_in_dim %148, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %150 = stablehlo.multiply %149, %147 : tensor<4x16x32xf32>
    %151 = stablehlo.multiply %147, %147 : tensor<4x16x32xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %152 = stablehlo.reduce(%151 init: %cst_40) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %153 = stablehlo.broadcast_in_dim %152, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_41 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %154 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %155 = stablehlo.divide %153, %154 : tensor<4x16x1xf32>
    %cst_42 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %156 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %157 = stablehlo.add %155, %156 : tensor<4x16x1xf32>
    %158 = stablehlo.rsqrt %157 : tensor<4x16x1xf32>
    %159 = stablehlo.broadcast_in_dim %158, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %160 = stablehlo.multiply %150, %159 : tensor<4x16x32xf32>
    %161 = stablehlo.dot_general %160, %29, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x128xf32>) -> tensor<4x16x128xf32>
    %cst_43 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %162 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %163 = stablehlo.multiply %162, %161 : tensor<4x16x128xf32>
    %164 = stablehlo.negate %161 : tensor<4x16x128xf32>
    %cst_44 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %165 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %166 = stablehlo.multiply %164, %165 : tensor<4x16x128xf32>
    %167 = chlo.erfc %166 : tensor<4x16x128xf32> -> tensor<4x16x128xf32>
    %168 = stablehlo.multiply %163, %167 : tensor<4x16x128xf32>
    %169 = stablehlo.dot_general %168, %33, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x128xf32>, tensor<128x32xf32>) -> tensor<4x16x32xf32>
    %170 = stablehlo.add %141, %169 : tensor<4x16x32xf32>
    %cst_45 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %171 = stablehlo.reduce(%170 init: %cst_45) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %172 = stablehlo.broadcast_in_dim %171, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_46 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %173 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %174 = stablehlo.divide %172, %173 : tensor<4x16x1xf32>
    %175 = stablehlo.broadcast_in_dim %174, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %176 = stablehlo.subtract %170, %175 : tensor<4x16x32xf32>
    %177 = stablehlo.broadcast_in_dim %34, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %178 = stablehlo.broadcast_in_dim %177, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %179 = stablehlo.multiply %178, %176 : tensor<4x16x32xf32>
    %180 = stablehlo.multiply %176, %176 : tensor<4x16x32xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %181 = stablehlo.reduce(%180 init: %cst_47) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %182 = stablehlo.broadcast_in_dim %181, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_48 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %183 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %184 = stablehlo.divide %182, %183 : tensor<4x16x1xf32>
    %cst_49 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %185 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %186 = stablehlo.add %184, %185 : tensor<4x16x1xf32>
    %187 = stablehlo.rsqrt %186 : tensor<4x16x1xf32>
    %188 = stablehlo.broadcast_in_dim %187, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %189 = stablehlo.multiply %179, %188 : tensor<4x16x32xf32>
    %190 = stablehlo.dot_general %189, %38, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x96xf32>) -> tensor<4x16x96xf32>
    %191 = stablehlo.reshape %190 : (tensor<4x16x96xf32>) -> tensor<4x16x3x2x16xf32>
    %192 = stablehlo.slice %191 [0:4, 0:16, 0:1, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %193 = stablehlo.reshape %192 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %194 = stablehlo.slice %191 [0:4, 0:16, 1:2, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %195 = stablehlo.reshape %194 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %196 = stablehlo.slice %191 [0:4, 0:16, 2:3, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %197 = stablehlo.reshape %196 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %198 = stablehlo.dot_general %193, %195, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x2x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %cst_50 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %199 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<4x2x16x16xf32>
    %200 = stablehlo.multiply %198, %199 : tensor<4x2x16x16xf32>
    %c_51 = stablehlo.constant dense<true> : tensor<i1>
    %201 = stablehlo.broadcast_in_dim %c_51, dims = [] : (tensor<i1>) -> tensor<16x16xi1>
    %202 = call @tril(%201) : (tensor<16x16xi1>) -> tensor<16x16xi1>
    %cst_52 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %203 = call @_where_0(%202, %200, %cst_52) : (tensor<16x16xi1>, tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16x16xf32>
    %cst_53 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %204 = stablehlo.reduce(%203 init: %cst_53) applies stablehlo.maximum across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %cst_54 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %205 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<4x2x16xf32>
    %206 = stablehlo.maximum %205, %204 : tensor<4x2x16xf32>
    %207 = stablehlo.broadcast_in_dim %206, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %208 = stablehlo.broadcast_in_dim %207, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %209 = stablehlo.subtract %203, %208 : tensor<4x2x16x16xf32>
    %210 = stablehlo.exponential %209 : tensor<4x2x16x16xf32>
    %cst_55 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %211 = stablehlo.reduce(%210 init: %cst_55) applies stablehlo.add across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %212 = stablehlo.broadcast_in_dim %211, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %213 = stablehlo.broadcast_in_dim %212, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %214 = stablehlo.divide %210, %213 : tensor<4x2x16x16xf32>
    %215 = stablehlo.dot_general %197, %214, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x2x16xf32>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %216 = stablehlo.transpose %215, dims = [0, 3, 1, 2] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %217 = stablehlo.reshape %216 : (tensor<4x16x2x16xf32>) -> tensor<4x16x32xf32>
    %218 = stablehlo.dot_general %217, %42, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x32xf32>) -> tensor<4x16x32xf32>
    %219 = stablehlo.add %170, %218 : tensor<4x16x32xf32>
    %cst_56 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %220 = stablehlo.reduce(%219 init: %cst_56) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %221 = stablehlo.broadcast_in_dim %220, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_57 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %222 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %223 = stablehlo.divide %221, %222 : tensor<4x16x1xf32>
    %224 = stablehlo.broadcast_in_dim %223, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %225 = stablehlo.subtract %219, %224 : tensor<4x16x32xf32>
    %226 = stablehlo.broadcast_in_dim %43, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %227 = stablehlo.broadcast_in_dim %226, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %228 = stablehlo.multiply %227, %225 : tensor<4x16x32xf32>
    %229 = stablehlo.multiply %225, %225 : tensor<4x16x32xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %230 = stablehlo.reduce(%229 init: %cst_58) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %231 = stablehlo.broadcast_in_dim %230, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_59 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %232 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %233 = stablehlo.divide %231, %232 : tensor<4x16x1xf32>
    %cst_60 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %234 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %235 = stablehlo.add %233, %234 : tensor<4x16x1xf32>
    %236 = stablehlo.rsqrt %235 : tensor<4x16x1xf32>
    %237 = stablehlo.broadcast_in_dim %236, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %238 = stablehlo.multiply %228, %237 : tensor<4x16x32xf32>
    %239 = stablehlo.dot_general %238, %47, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x128xf32>) -> tensor<4x16x128xf32>
    %cst_61 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %240 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %241 = stablehlo.multiply %240, %239 : tensor<4x16x128xf32>
    %242 = stablehlo.negate %239 : tensor<4x16x128xf32>
    %cst_62 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %243 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %244 = stablehlo.multiply %242, %243 : tensor<4x16x128xf32>
    %245 = chlo.erfc %244 : tensor<4x16x128xf32> -> tensor<4x16x128xf32>
    %246 = stablehlo.multiply %241, %245 : tensor<4x16x128xf32>
    %247 = stablehlo.dot_general %246, %51, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x128xf32>, tensor<128x32xf32>) -> tensor<4x16x32xf32>
    %248 = stablehlo.add %219, %247 : tensor<4x16x32xf32>
    %cst_63 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %249 = stablehlo.reduce(%248 init: %cst_63) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %250 = stablehlo.broadcast_in_dim %249, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_64 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %251 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %252 = stablehlo.divide %250, %251 : tensor<4x16x1xf32>
    %253 = stablehlo.broadcast_in_dim %252, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %254 = stablehlo.subtract %248, %253 : tensor<4x16x32xf32>
    %255 = stablehlo.broadcast_in_dim %52, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %256 = stablehlo.broadcast_in_dim %255, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %257 = stablehlo.multiply %256, %254 : tensor<4x16x32xf32>
    %258 = stablehlo.multiply %254, %254 : tensor<4x16x32xf32>
    %cst_65 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %259 = stablehlo.reduce(%258 init: %cst_65) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %260 = stablehlo.broadcast_in_dim %259, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_66 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %261 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %262 = stablehlo.divide %260, %261 : tensor<4x16x1xf32>
    %cst_67 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %263 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %264 = stablehlo.add %262, %263 : tensor<4x16x1xf32>
    %265 = stablehlo.rsqrt %264 : tensor<4x16x1xf32>
    %266 = stablehlo.broadcast_in_dim %265, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %267 = stablehlo.multiply %257, %266 : tensor<4x16x32xf32>
    %268 = stablehlo.dot_general %267, %56, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x22xf32>) -> tensor<4x16x22xf32>
    %269 = call @log_softmax(%268) : (tensor<4x16x22xf32>) -> tensor<4x16x22xf32>
    %270 = stablehlo.broadcast_in_dim %82, dims = [0, 1] : (tensor<4x16xi32>) -> tensor<4x16x1xi32>
    %271 = call @take_along_axis(%269, %270) : (tensor<4x16x22xf32>, tensor<4x16x1xi32>) -> tensor<4x16x1xf32>
    %cst_68 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %272 = stablehlo.reduce(%271 init: %cst_68) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_69 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %273 = stablehlo.divide %272, %cst_69 : tensor<f32>
    %274 = stablehlo.negate %273 : tensor<f32>
    return %274 : tensor<f32>
  }
  func.func private @_normal(%arg0: tensor<2xui32>) -> tensor<26496xf32> {
    %0 = call @_normal_real(%arg0) : (tensor<2xui32>) -> tensor<26496xf32>
    return %0 : tensor<26496xf32>
  }
  func.func private @_normal_real(%arg0: tensor<2xui32>) -> tensor<26496xf32> {
    %cst = stablehlo.constant dense<-0.99999994> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = call @_uniform(%arg0, %cst, %cst_0) : (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<26496xf32>
    %1 = chlo.erf_inv %0 : tensor<26496xf32> -> tensor<26496xf32>
    %cst_1 = stablehlo.constant dense<1.41421354> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<26496xf32>
    %3 = stablehlo.multiply %2, %1 : tensor<26496xf32>
    return %3 : tensor<26496xf32>
  }
  func.func private @_uniform(%arg0: tensor<2xui32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<26496xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %2 = stablehlo.slice %arg0 [0:1] : (tensor<2xui32>) -> tensor<1xui32>
    %3 = stablehlo.reshape %2 : (tensor<1xui32>) -> tensor<ui32>
    %4 = stablehlo.slice %arg0 [1:2] : (tensor<2xui32>) -> tensor<1xui32>
    %5 = stablehlo.reshape %4 : (tensor<1xui32>) -> tensor<ui32>
    %6 = stablehlo.iota dim = 0 : tensor<26496xui64>
    %c = stablehlo.constant dense<1> : tensor<ui64>
    %7 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui64>) -> tensor<26496xui64>
    %8 = stablehlo.multiply %7, %6 : tensor<26496xui64>
    %c_0 = stablehlo.constant dense<32> : tensor<ui64>
    %9 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui64>) -> tensor<26496xui64>
    %10 = stablehlo.shift_right_logical %8, %9 : tensor<26496xui64>
    %11 = stablehlo.convert %8 : (tensor<26496xui64>) -> tensor<26496xui32>
    %12 = stablehlo.convert %10 : (tensor<26496xui64>) -> tensor<26496xui32>
    %13:2 = call @threefry2x32(%3, %5, %12, %11) : (tensor<ui32>, tensor<ui32>, tensor<26496xui32>, tensor<26496xui32>) -> (tensor<26496xui32>, tensor<26496xui32>)
    %14 = stablehlo.xor %13#0, %13#1 : tensor<26496xui32>
    %c_1 = stablehlo.constant dense<9> : tensor<ui32>
    %15 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui32>) -> tensor<26496xui32>
    %16 = stablehlo.shift_right_logical %14, %15 : tensor<26496xui32>
    %c_2 = stablehlo.constant dense<1065353216> : tensor<ui32>
    %17 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<ui32>) -> tensor<26496xui32>
    %18 = stablehlo.or %16, %17 : tensor<26496xui32>
    %19 = stablehlo.bitcast_convert %18 : (tensor<26496xui32>) -> tensor<26496xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<26496xf32>
    %21 = stablehlo.subtract %19, %20 : tensor<26496xf32>
    %22 = stablehlo.subtract %1, %0 : tensor<1xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0] : (tensor<1xf32>) -> tensor<26496xf32>
    %24 = stablehlo.multiply %21, %23 : tensor<26496xf32>
    %25 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<1xf32>) -> tensor<26496xf32>
    %26 = stablehlo.add %24, %25 : tensor<26496xf32>
    %27 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<1xf32>) -> tensor<26496xf32>
    %28 = stablehlo.maximum %27, %26 : tensor<26496xf32>
    return %28 : tensor<26496xf32>
  }
  func.func private @threefry2x32(%arg0: tensor<ui32>, %arg1: tensor<ui32>, %arg2: tensor<26496xui32>, %arg3: tensor<26496xui32>) -> (tensor<26496xui32>, tensor<26496xui32>) {
    %c = stablehlo.constant dense<[13, 15, 26, 6]> : tensor<4xui32>
    %c_0 = stablehlo.constant dense<[17, 29, 16, 24]> : tensor<4xui32>
    %0 = stablehlo.xor %arg0, %arg1 : tensor<ui32>
    %c_1 = stablehlo.constant dense<466688986> : tensor<ui32>
    %1 = stablehlo.xor %0, %c_1 : tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<26496xui32>
    %3 = stablehlo.add %arg2, %2 : tensor<26496xui32>
    %4 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<ui32>) -> tensor<26496xui32>
    %5 = stablehlo.add %arg3, %4 : tensor<26496xui32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6:9 = stablehlo.while(%iterArg = %c_3, %iterArg_4 = %c_2, %iterArg_5 = %3, %iterArg_6 = %5, %iterArg_7 = %arg1, %iterArg_8 = %1, %iterArg_9 = %arg0, %iterArg_10 = %c, %iterArg_11 = %c_0) : tensor<i32>, tensor<i32>, tensor<26496xui32>, tensor<26496xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    cond {
      %c_12 = stablehlo.constant dense<5> : tensor<i32>
      %7 = stablehlo.compare LT, %iterArg, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %7:8 = func.call @closed_call(%iterArg_4, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11) : (tensor<i32>, tensor<26496xui32>, tensor<26496xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<26496xui32>, tensor<26496xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %c_12 = stablehlo.constant dense<1> : tensor<i32>
      %8 = stablehlo.add %iterArg, %c_12 : tensor<i32>
      stablehlo.return %8, %7#0, %7#1, %7#2, %7#3, %7#4, %7#5, %7#6, %7#7 : tensor<i32>, tensor<i32>, tensor<26496xui32>, tensor<26496xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    }
    return %6#2, %6#3 : tensor<26496xui32>, tensor<26496xui32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<26496xui32>, %arg2: tensor<26496xui32>, %arg3: tensor<ui32>, %arg4: tensor<ui32>, %arg5: tensor<ui32>, %arg6: tensor<4xui32>, %arg7: tensor<4xui32>) -> (tensor<i32>, tensor<26496xui32>, tensor<26496xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c : tensor<i32>
    %1 = stablehlo.slice %arg6 [0:1] : (tensor<4xui32>) -> tensor<1xui32>
    %2 = stablehlo.reshape %1 : (tensor<1xui32>) -> tensor<ui32>
    %3 = stablehlo.add %arg1, %arg2 : tensor<26496xui32>
    %4 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<ui32>) -> tensor<26496xui32>
    %5 = stablehlo.shift_left %arg2, %4 : tensor<26496xui32>
    %c_0 = stablehlo.constant dense<32> : tensor<ui32>
    %6 = stablehlo.subtract %c_0, %2 : tensor<ui32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<ui32>) -> tensor<26496xui32>
    %8 = stablehlo.shift_right_logical %arg2, %7 : tensor<26496xui32>
    %9 = stablehlo.or %5, %8 : tensor<26496xui32>
    %10 = stablehlo.xor %3, %9 : tensor<26496xui32>
    %11 = stablehlo.slice %arg6 [1:2] : (tensor<4xui32>) -> tensor<1xui32>
    %12 = stablehlo.reshape %11 : (tensor<1xui32>) -> tensor<ui32>
    %13 = stablehlo.add %3, %10 : tensor<26496xui32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<ui32>) -> tensor<26496xui32>
    %15 = stablehlo.shift_left %10, %14 : tensor<26496xui32>
    %c_1 = stablehlo.constant dense<32> : tensor<ui32>
    %16 = stablehlo.subtract %c_1, %12 : tensor<ui32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<ui32>) -> tensor<26496xui32>
    %18 = stablehlo.shift_right_logical %10, %17 : tensor<26496xui32>
    %19 = stablehlo.or %15, %18 : tensor<26496xui32>
    %20 = stablehlo.xor %13, %19 : tensor<26496xui32>
    %21 = stablehlo.slice %arg6 [2:3] : (tensor<4xui32>) -> tensor<1xui32>
    %22 = stablehlo.reshape %21 : (tensor<1xui32>) -> tensor<ui32>
    %23 = stablehlo.add %13, %20 : tensor<26496xui32>
    %24 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<ui32>) -> tensor<26496xui32>
    %25 = stablehlo.shift_left %20, %24 : tensor<26496xui32>
    %c_2 = stablehlo.constant dense<32> : tensor<ui32>
    %26 = stablehlo.subtract %c_2, %22 : tensor<ui32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<ui32>) -> tensor<26496xui32>
    %28 = stablehlo.shift_right_logical %20, %27 : tensor<26496xui32>
    %29 = stablehlo.or %25, %28 : tensor<26496xui32>
    %30 = stablehlo.xor %23, %29 : tensor<26496xui32>
    %31 = stablehlo.slice %arg6 [3:4] : (tensor<4xui32>) -> tensor<1xui32>
    %32 = stablehlo.reshape %31 : (tensor<1xui32>) -> tensor<ui32>
    %33 = stablehlo.add %23, %30 : tensor<26496xui32>
    %34 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<ui32>) -> tensor<26496xui32>
    %35 = stablehlo.shift_left %30, %34 : tensor<26496xui32>
    %c_3 = stablehlo.constant dense<32> : tensor<ui32>
    %36 = stablehlo.subtract %c_3, %32 : tensor<ui32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [] : (tensor<ui32>) -> tensor<26496xui32>
    %38 = stablehlo.shift_right_logical %30, %37 : tensor<26496xui32>
    %39 = stablehlo.or %35, %38 : tensor<26496xui32>
    %40 = stablehlo.xor %33, %39 : tensor<26496xui32>
    %41 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<ui32>) -> tensor<26496xui32>
    %42 = stablehlo.add %33, %41 : tensor<26496xui32>
    %43 = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<ui32>) -> tensor<26496xui32>
    %44 = stablehlo.add %40, %43 : tensor<26496xui32>
    %c_4 = stablehlo.constant dense<1> : tensor<i32>
    %45 = stablehlo.add %arg0, %c_4 : tensor<i32>
    %46 = stablehlo.convert %45 : (tensor<i32>) -> tensor<ui32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [] : (tensor<ui32>) -> tensor<26496xui32>
    %48 = stablehlo.add %44, %47 : tensor<26496xui32>
    return %0, %42, %48, %arg4, %arg5, %arg3, %arg7, %arg6 : tensor<i32>, tensor<26496xui32>, tensor<26496xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
  }
  func.func private @floor_divide(%arg0: tensor<4xi32>, %arg1: tensor<i32>) -> tensor<4xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %2 = stablehlo.divide %arg0, %1 : tensor<4xi32>
    %3 = stablehlo.sign %arg0 : tensor<4xi32>
    %4 = stablehlo.sign %0 : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %6 = stablehlo.compare NE, %3, %5, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %7 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %8 = stablehlo.remainder %arg0, %7 : tensor<4xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %10 = stablehlo.compare NE, %8, %9, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %11 = stablehlo.and %6, %10 : tensor<4xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %13 = stablehlo.subtract %2, %12 : tensor<4xi32>
    %14 = call @_where(%11, %13, %2) : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    return %14 : tensor<4xi32>
  }
  func.func private @_where(%arg0: tensor<4xi1>, %arg1: tensor<4xi32>, %arg2: tensor<4xi32>) -> tensor<4xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<4xi1>, tensor<4xi32>
    return %0 : tensor<4xi32>
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
  func.func private @_where_0(%arg0: tensor<16x16xi1>, %arg1: tensor<4x2x16x16xf32>, %arg2: tensor<f32>) -> tensor<4x2x16x16xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<16x16xi1>) -> tensor<4x2x16x16xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x2x16x16xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<4x2x16x16xi1>, tensor<4x2x16x16xf32>
    return %3 : tensor<4x2x16x16xf32>
  }
  func.func private @log_softmax(%arg0: tensor<4x16x22xf32>) -> tensor<4x16x22xf32> {
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
    return %11 : tensor<4x16x22xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<4x16x22xf32>, %arg1: tensor<4x16x1xi32>) -> tensor<4x16x1xf32> {
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
    return %15 : tensor<4x16x1xf32>
  }
}
