module @jit_train attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<f32> {jax.result_info = "result['loss_after']"}, tensor<8xf32> {jax.result_info = "result['losses']"}) {
    %c = stablehlo.constant dense<"0x1100000009000000060000000000000014000000060000000200000013000000060000000F000000000000000B0000000A0000000700000011000000100000000000000011000000090000000600000000000000090000000600000005000000050000000B0000000600000000000000020000000D00000005000000000000000600000013000000060000000F00000015000000000000000E0000001100000009000000060000000F0000000000000011000000090000000F000000060000000200000005000000000000000F0000000A00000010000000060000001000000001000000000000001100000009000000060000000000000010000000090000001200000011000000110000000B00000006000000000000000F000000120000000D00000010000000000000000300000006000000110000001400000006000000060000000D000000000000001100000009000000060000000C00000000000000020000000D000000050000000000000011000000090000000600000000000000040000000B0000000E000000110000000900000000000000080000000F0000000E0000001400000010000000000000000300000015000000000000000E0000000D000000060000000000000011000000090000000F0000000600000002000000050000000100000000000000"> : tensor<123xi32>
    %0 = stablehlo.iota dim = 0 : tensor<4xi32>
    %c_0 = stablehlo.constant dense<106> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %2 = stablehlo.multiply %0, %1 : tensor<4xi32>
    %c_1 = stablehlo.constant dense<4> : tensor<i32>
    %3 = call @floor_divide(%2, %c_1) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %5 = stablehlo.iota dim = 0 : tensor<16xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [1] : (tensor<16xi32>) -> tensor<1x16xi32>
    %7 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x1xi32>) -> tensor<4x16xi32>
    %8 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x16xi32>) -> tensor<4x16xi32>
    %9 = stablehlo.add %7, %8 : tensor<4x16xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %10 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x16xi32>
    %11 = stablehlo.compare LT, %9, %10, SIGNED : (tensor<4x16xi32>, tensor<4x16xi32>) -> tensor<4x16xi1>
    %c_3 = stablehlo.constant dense<123> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<4x16xi32>
    %13 = stablehlo.add %9, %12 : tensor<4x16xi32>
    %14 = stablehlo.select %11, %13, %9 : tensor<4x16xi1>, tensor<4x16xi32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<4x16xi32>) -> tensor<4x16x1xi32>
    %16 = "stablehlo.gather"(%c, %15) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<123xi32>, tensor<4x16x1xi32>) -> tensor<4x16xi32>
    %c_4 = stablehlo.constant dense<1> : tensor<i32>
    %17 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<4x16xi32>
    %18 = stablehlo.add %9, %17 : tensor<4x16xi32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %19 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<4x16xi32>
    %20 = stablehlo.compare LT, %18, %19, SIGNED : (tensor<4x16xi32>, tensor<4x16xi32>) -> tensor<4x16xi1>
    %c_6 = stablehlo.constant dense<123> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<4x16xi32>
    %22 = stablehlo.add %18, %21 : tensor<4x16xi32>
    %23 = stablehlo.select %20, %22, %18 : tensor<4x16xi1>, tensor<4x16xi32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1] : (tensor<4x16xi32>) -> tensor<4x16x1xi32>
    %25 = "stablehlo.gather"(%c, %24) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<123xi32>, tensor<4x16x1xi32>) -> tensor<4x16xi32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %c_8 = stablehlo.constant dense<32> : tensor<i32>
    %26 = stablehlo.shift_right_logical %c_7, %c_8 : tensor<i32>
    %27 = stablehlo.convert %26 : (tensor<i32>) -> tensor<ui32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %c_9 = stablehlo.constant dense<-1> : tensor<i32>
    %29 = stablehlo.and %c_7, %c_9 : tensor<i32>
    %30 = stablehlo.convert %29 : (tensor<i32>) -> tensor<ui32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %32 = stablehlo.concatenate %28, %31, dim = 0 : (tensor<1xui32>, tensor<1xui32>) -> tensor<2xui32>
    %33 = call @_normal(%32) : (tensor<2xui32>) -> tensor<26496xf32>
    %34 = stablehlo.slice %33 [0:704] : (tensor<26496xf32>) -> tensor<704xf32>
    %35 = stablehlo.reshape %34 : (tensor<704xf32>) -> tensor<22x32xf32>
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<22x32xf32>
    %37 = stablehlo.multiply %35, %36 : tensor<22x32xf32>
    %38 = stablehlo.slice %33 [704:1216] : (tensor<26496xf32>) -> tensor<512xf32>
    %39 = stablehlo.reshape %38 : (tensor<512xf32>) -> tensor<16x32xf32>
    %cst_10 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %41 = stablehlo.multiply %39, %40 : tensor<16x32xf32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %43 = stablehlo.slice %33 [1216:4288] : (tensor<26496xf32>) -> tensor<3072xf32>
    %44 = stablehlo.reshape %43 : (tensor<3072xf32>) -> tensor<32x96xf32>
    %cst_12 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %46 = stablehlo.multiply %44, %45 : tensor<32x96xf32>
    %47 = stablehlo.slice %33 [4288:5312] : (tensor<26496xf32>) -> tensor<1024xf32>
    %48 = stablehlo.reshape %47 : (tensor<1024xf32>) -> tensor<32x32xf32>
    %cst_13 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %50 = stablehlo.multiply %48, %49 : tensor<32x32xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %52 = stablehlo.slice %33 [5312:9408] : (tensor<26496xf32>) -> tensor<4096xf32>
    %53 = stablehlo.reshape %52 : (tensor<4096xf32>) -> tensor<32x128xf32>
    %cst_15 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %55 = stablehlo.multiply %53, %54 : tensor<32x128xf32>
    %56 = stablehlo.slice %33 [9408:13504] : (tensor<26496xf32>) -> tensor<4096xf32>
    %57 = stablehlo.reshape %56 : (tensor<4096xf32>) -> tensor<128x32xf32>
    %cst_16 = stablehlo.constant dense<0.0883883461> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %59 = stablehlo.multiply %57, %58 : tensor<128x32xf32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %61 = stablehlo.slice %33 [13504:16576] : (tensor<26496xf32>) -> tensor<3072xf32>
    %62 = stablehlo.reshape %61 : (tensor<3072xf32>) -> tensor<32x96xf32>
    %cst_18 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %64 = stablehlo.multiply %62, %63 : tensor<32x96xf32>
    %65 = stablehlo.slice %33 [16576:17600] : (tensor<26496xf32>) -> tensor<1024xf32>
    %66 = stablehlo.reshape %65 : (tensor<1024xf32>) -> tensor<32x32xf32>
    %cst_19 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %68 = stablehlo.multiply %66, %67 : tensor<32x32xf32>
    %cst_20 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %69 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %70 = stablehlo.slice %33 [17600:21696] : (tensor<26496xf32>) -> tensor<4096xf32>
    %71 = stablehlo.reshape %70 : (tensor<4096xf32>) -> tensor<32x128xf32>
    %cst_21 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %73 = stablehlo.multiply %71, %72 : tensor<32x128xf32>
    %74 = stablehlo.slice %33 [21696:25792] : (tensor<26496xf32>) -> tensor<4096xf32>
    %75 = stablehlo.reshape %74 : (tensor<4096xf32>) -> tensor<128x32xf32>
    %cst_22 = stablehlo.constant dense<0.0883883461> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %77 = stablehlo.multiply %75, %76 : tensor<128x32xf32>
    %cst_23 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %79 = stablehlo.slice %33 [25792:26496] : (tensor<26496xf32>) -> tensor<704xf32>
    %80 = stablehlo.reshape %79 : (tensor<704xf32>) -> tensor<32x22xf32>
    %cst_24 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<32x22xf32>
    %82 = stablehlo.multiply %80, %81 : tensor<32x22xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %83 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %87 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %89 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %90 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %94 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<32x22xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<22x32xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %99 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %c_42 = stablehlo.constant dense<0> : tensor<i32>
    %c_43 = stablehlo.constant dense<0> : tensor<i32>
    %100:53 = stablehlo.while(%iterArg = %16, %iterArg_89 = %25, %iterArg_90 = %c_43, %iterArg_91 = %c_42, %iterArg_92 = %46, %iterArg_93 = %42, %iterArg_94 = %51, %iterArg_95 = %59, %iterArg_96 = %50, %iterArg_97 = %55, %iterArg_98 = %64, %iterArg_99 = %60, %iterArg_100 = %69, %iterArg_101 = %77, %iterArg_102 = %68, %iterArg_103 = %73, %iterArg_104 = %82, %iterArg_105 = %37, %iterArg_106 = %78, %iterArg_107 = %41, %iterArg_108 = %83, %iterArg_109 = %84, %iterArg_110 = %85, %iterArg_111 = %86, %iterArg_112 = %87, %iterArg_113 = %88, %iterArg_114 = %89, %iterArg_115 = %90, %iterArg_116 = %91, %iterArg_117 = %92, %iterArg_118 = %93, %iterArg_119 = %94, %iterArg_120 = %95, %iterArg_121 = %96, %iterArg_122 = %97, %iterArg_123 = %98, %iterArg_124 = %83, %iterArg_125 = %84, %iterArg_126 = %85, %iterArg_127 = %86, %iterArg_128 = %87, %iterArg_129 = %88, %iterArg_130 = %89, %iterArg_131 = %90, %iterArg_132 = %91, %iterArg_133 = %92, %iterArg_134 = %93, %iterArg_135 = %94, %iterArg_136 = %95, %iterArg_137 = %96, %iterArg_138 = %97, %iterArg_139 = %98, %iterArg_140 = %99) : tensor<4x16xi32>, tensor<4x16xi32>, tensor<i32>, tensor<i32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x22xf32>, tensor<22x32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x22xf32>, tensor<22x32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x22xf32>, tensor<22x32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<8xf32>
    cond {
      %c_141 = stablehlo.constant dense<8> : tensor<i32>
      %293 = stablehlo.compare LT, %iterArg_90, %c_141, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %293 : tensor<i1>
    } do {
      %293:50 = func.call @closed_call_0(%iterArg, %iterArg_89, %iterArg_91, %iterArg_92, %iterArg_93, %iterArg_94, %iterArg_95, %iterArg_96, %iterArg_97, %iterArg_98, %iterArg_99, %iterArg_100, %iterArg_101, %iterArg_102, %iterArg_103, %iterArg_104, %iterArg_105, %iterArg_106, %iterArg_107, %iterArg_108, %iterArg_109, %iterArg_110, %iterArg_111, %iterArg_112, %iterArg_113, %iterArg_114, %iterArg_115, %iterArg_116, %iterArg_117, %iterArg_118, %iterArg_119, %iterArg_120, %iterArg_121, %iterArg_122, %iterArg_123, %iterArg_124, %iterArg_125, %iterArg_126, %iterArg_127, %iterArg_128, %iterArg_129, %iterArg_130, %iterArg_131, %iterArg_132, %iterArg_133, %iterArg_134, %iterArg_135, %iterArg_136, %iterArg_137, %iterArg_138, %iterArg_139, %iterArg_140) : (tensor<4x16xi32>, tensor<4x16xi32>, tensor<i32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x22xf32>, tensor<22x32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x22xf32>, tensor<22x32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x22xf32>, tensor<22x32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<8xf32>) -> (tensor<i32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x22xf32>, tensor<22x32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x22xf32>, tensor<22x32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x22xf32>, tensor<22x32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<8xf32>)
      %c_141 = stablehlo.constant dense<1> : tensor<i32>
      %294 = stablehlo.add %iterArg_90, %c_141 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_89, %294, %293#0, %293#1, %293#2, %293#3, %293#4, %293#5, %293#6, %293#7, %293#8, %293#9, %293#10, %293#11, %293#12, %293#13, %293#14, %293#15, %293#16, %293#17, %293#18, %293#19, %293#20, %293#21, %293#22, %293#23, %293#24, %293#25, %293#26, %293#27, %293#28, %293#29, %293#30, %293#31, %293#32, %293#33, %293#34, %293#35, %293#36, %293#37, %293#38, %293#39, %293#40, %293#41, %293#42, %293#43, %293#44, %293#45, %293#46, %293#47, %293#48, %293#49 : tensor<4x16xi32>, tensor<4x16xi32>, tensor<i32>, tensor<i32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x22xf32>, tensor<22x32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x22xf32>, tensor<22x32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x22xf32>, tensor<22x32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<8xf32>
    }
    %c_44 = stablehlo.constant dense<0> : tensor<i32>
    %101 = stablehlo.broadcast_in_dim %c_44, dims = [] : (tensor<i32>) -> tensor<4x16xi32>
    %102 = stablehlo.compare LT, %16, %101, SIGNED : (tensor<4x16xi32>, tensor<4x16xi32>) -> tensor<4x16xi1>
    %c_45 = stablehlo.constant dense<22> : tensor<i32>
    %103 = stablehlo.broadcast_in_dim %c_45, dims = [] : (tensor<i32>) -> tensor<4x16xi32>
    %104 = stablehlo.add %16, %103 : tensor<4x16xi32>
    %105 = stablehlo.select %102, %104, %16 : tensor<4x16xi1>, tensor<4x16xi32>
    %106 = stablehlo.broadcast_in_dim %105, dims = [0, 1] : (tensor<4x16xi32>) -> tensor<4x16x1xi32>
    %107 = "stablehlo.gather"(%100#17, %106) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<22x32xf32>, tensor<4x16x1xi32>) -> tensor<4x16x32xf32>
    %108 = stablehlo.broadcast_in_dim %100#19, dims = [1, 2] : (tensor<16x32xf32>) -> tensor<1x16x32xf32>
    %109 = stablehlo.broadcast_in_dim %108, dims = [0, 1, 2] : (tensor<1x16x32xf32>) -> tensor<4x16x32xf32>
    %110 = stablehlo.add %107, %109 : tensor<4x16x32xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %111 = stablehlo.reduce(%110 init: %cst_46) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %112 = stablehlo.broadcast_in_dim %111, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_47 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %113 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %114 = stablehlo.divide %112, %113 : tensor<4x16x1xf32>
    %115 = stablehlo.broadcast_in_dim %114, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %116 = stablehlo.subtract %110, %115 : tensor<4x16x32xf32>
    %117 = stablehlo.broadcast_in_dim %100#5, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %118 = stablehlo.broadcast_in_dim %117, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %119 = stablehlo.multiply %118, %116 : tensor<4x16x32xf32>
    %120 = stablehlo.multiply %116, %116 : tensor<4x16x32xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %121 = stablehlo.reduce(%120 init: %cst_48) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %122 = stablehlo.broadcast_in_dim %121, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_49 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %123 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %124 = stablehlo.divide %122, %123 : tensor<4x16x1xf32>
    %cst_50 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %126 = stablehlo.add %124, %125 : tensor<4x16x1xf32>
    %127 = stablehlo.rsqrt %126 : tensor<4x16x1xf32>
    %128 = stablehlo.broadcast_in_dim %127, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %129 = stablehlo.multiply %119, %128 : tensor<4x16x32xf32>
    %130 = stablehlo.dot_general %129, %100#4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x96xf32>) -> tensor<4x16x96xf32>
    %131 = stablehlo.reshape %130 : (tensor<4x16x96xf32>) -> tensor<4x16x3x2x16xf32>
    %132 = stablehlo.slice %131 [0:4, 0:16, 0:1, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %133 = stablehlo.reshape %132 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %134 = stablehlo.slice %131 [0:4, 0:16, 1:2, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %135 = stablehlo.reshape %134 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %136 = stablehlo.slice %131 [0:4, 0:16, 2:3, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %137 = stablehlo.reshape %136 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %138 = stablehlo.dot_general %133, %135, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x2x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %cst_51 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %139 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<4x2x16x16xf32>
    %140 = stablehlo.multiply %138, %139 : tensor<4x2x16x16xf32>
    %c_52 = stablehlo.constant dense<true> : tensor<i1>
    %141 = stablehlo.broadcast_in_dim %c_52, dims = [] : (tensor<i1>) -> tensor<16x16xi1>
    %142 = call @tril(%141) : (tensor<16x16xi1>) -> tensor<16x16xi1>
    %cst_53 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %143 = call @_where_5(%142, %140, %cst_53) : (tensor<16x16xi1>, tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16x16xf32>
    %cst_54 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %144 = stablehlo.reduce(%143 init: %cst_54) applies stablehlo.maximum across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %cst_55 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %145 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<4x2x16xf32>
    %146 = stablehlo.maximum %145, %144 : tensor<4x2x16xf32>
    %147 = stablehlo.broadcast_in_dim %146, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %148 = stablehlo.broadcast_in_dim %147, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %149 = stablehlo.subtract %143, %148 : tensor<4x2x16x16xf32>
    %150 = stablehlo.exponential %149 : tensor<4x2x16x16xf32>
    %cst_56 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %151 = stablehlo.reduce(%150 init: %cst_56) applies stablehlo.add across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %152 = stablehlo.broadcast_in_dim %151, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %153 = stablehlo.broadcast_in_dim %152, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %154 = stablehlo.divide %150, %153 : tensor<4x2x16x16xf32>
    %155 = stablehlo.dot_general %137, %154, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x2x16xf32>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %156 = stablehlo.transpose %155, dims = [0, 3, 1, 2] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %157 = stablehlo.reshape %156 : (tensor<4x16x2x16xf32>) -> tensor<4x16x32xf32>
    %158 = stablehlo.dot_general %157, %100#8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x32xf32>) -> tensor<4x16x32xf32>
    %159 = stablehlo.add %110, %158 : tensor<4x16x32xf32>
    %cst_57 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %160 = stablehlo.reduce(%159 init: %cst_57) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %161 = stablehlo.broadcast_in_dim %160, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_58 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %162 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %163 = stablehlo.divide %161, %162 : tensor<4x16x1xf32>
    %164 = stablehlo.broadcast_in_dim %163, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %165 = stablehlo.subtract %159, %164 : tensor<4x16x32xf32>
    %166 = stablehlo.broadcast_in_dim %100#6, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %167 = stablehlo.broadcast_in_dim %166, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %168 = stablehlo.multiply %167, %165 : tensor<4x16x32xf32>
    %169 = stablehlo.multiply %165, %165 : tensor<4x16x32xf32>
    %cst_59 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %170 = stablehlo.reduce(%169 init: %cst_59) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %171 = stablehlo.broadcast_in_dim %170, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_60 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %172 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %173 = stablehlo.divide %171, %172 : tensor<4x16x1xf32>
    %cst_61 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %174 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %175 = stablehlo.add %173, %174 : tensor<4x16x1xf32>
    %176 = stablehlo.rsqrt %175 : tensor<4x16x1xf32>
    %177 = stablehlo.broadcast_in_dim %176, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %178 = stablehlo.multiply %168, %177 : tensor<4x16x32xf32>
    %179 = stablehlo.dot_general %178, %100#9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x128xf32>) -> tensor<4x16x128xf32>
    %cst_62 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %180 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %181 = stablehlo.multiply %180, %179 : tensor<4x16x128xf32>
    %182 = stablehlo.negate %179 : tensor<4x16x128xf32>
    %cst_63 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %183 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %184 = stablehlo.multiply %182, %183 : tensor<4x16x128xf32>
    %185 = chlo.erfc %184 : tensor<4x16x128xf32> -> tensor<4x16x128xf32>
    %186 = stablehlo.multiply %181, %185 : tensor<4x16x128xf32>
    %187 = stablehlo.dot_general %186, %100#7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x128xf32>, tensor<128x32xf32>) -> tensor<4x16x32xf32>
    %188 = stablehlo.add %159, %187 : tensor<4x16x32xf32>
    %cst_64 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %189 = stablehlo.reduce(%188 init: %cst_64) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %190 = stablehlo.broadcast_in_dim %189, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_65 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %191 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %192 = stablehlo.divide %190, %191 : tensor<4x16x1xf32>
    %193 = stablehlo.broadcast_in_dim %192, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %194 = stablehlo.subtract %188, %193 : tensor<4x16x32xf32>
    %195 = stablehlo.broadcast_in_dim %100#11, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %196 = stablehlo.broadcast_in_dim %195, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %197 = stablehlo.multiply %196, %194 : tensor<4x16x32xf32>
    %198 = stablehlo.multiply %194, %194 : tensor<4x16x32xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %199 = stablehlo.reduce(%198 init: %cst_66) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %200 = stablehlo.broadcast_in_dim %199, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_67 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %201 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %202 = stablehlo.divide %200, %201 : tensor<4x16x1xf32>
    %cst_68 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %203 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %204 = stablehlo.add %202, %203 : tensor<4x16x1xf32>
    %205 = stablehlo.rsqrt %204 : tensor<4x16x1xf32>
    %206 = stablehlo.broadcast_in_dim %205, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %207 = stablehlo.multiply %197, %206 : tensor<4x16x32xf32>
    %208 = stablehlo.dot_general %207, %100#10, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x96xf32>) -> tensor<4x16x96xf32>
    %209 = stablehlo.reshape %208 : (tensor<4x16x96xf32>) -> tensor<4x16x3x2x16xf32>
    %210 = stablehlo.slice %209 [0:4, 0:16, 0:1, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %211 = stablehlo.reshape %210 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %212 = stablehlo.slice %209 [0:4, 0:16, 1:2, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %213 = stablehlo.reshape %212 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %214 = stablehlo.slice %209 [0:4, 0:16, 2:3, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %215 = stablehlo.reshape %214 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %216 = stablehlo.dot_general %211, %213, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x2x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %cst_69 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %217 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<4x2x16x16xf32>
    %218 = stablehlo.multiply %216, %217 : tensor<4x2x16x16xf32>
    %c_70 = stablehlo.constant dense<true> : tensor<i1>
    %219 = stablehlo.broadcast_in_dim %c_70, dims = [] : (tensor<i1>) -> tensor<16x16xi1>
    %220 = call @tril(%219) : (tensor<16x16xi1>) -> tensor<16x16xi1>
    %cst_71 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %221 = call @_where_5(%220, %218, %cst_71) : (tensor<16x16xi1>, tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16x16xf32>
    %cst_72 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %222 = stablehlo.reduce(%221 init: %cst_72) applies stablehlo.maximum across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %cst_73 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %223 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<4x2x16xf32>
    %224 = stablehlo.maximum %223, %222 : tensor<4x2x16xf32>
    %225 = stablehlo.broadcast_in_dim %224, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %226 = stablehlo.broadcast_in_dim %225, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %227 = stablehlo.subtract %221, %226 : tensor<4x2x16x16xf32>
    %228 = stablehlo.exponential %227 : tensor<4x2x16x16xf32>
    %cst_74 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %229 = stablehlo.reduce(%228 init: %cst_74) applies stablehlo.add across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %230 = stablehlo.broadcast_in_dim %229, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %231 = stablehlo.broadcast_in_dim %230, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %232 = stablehlo.divide %228, %231 : tensor<4x2x16x16xf32>
    %233 = stablehlo.dot_general %215, %232, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x2x16xf32>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %234 = stablehlo.transpose %233, dims = [0, 3, 1, 2] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %235 = stablehlo.reshape %234 : (tensor<4x16x2x16xf32>) -> tensor<4x16x32xf32>
    %236 = stablehlo.dot_general %235, %100#14, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x32xf32>) -> tensor<4x16x32xf32>
    %237 = stablehlo.add %188, %236 : tensor<4x16x32xf32>
    %cst_75 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %238 = stablehlo.reduce(%237 init: %cst_75) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %239 = stablehlo.broadcast_in_dim %238, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_76 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %240 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %241 = stablehlo.divide %239, %240 : tensor<4x16x1xf32>
    %242 = stablehlo.broadcast_in_dim %241, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %243 = stablehlo.subtract %237, %242 : tensor<4x16x32xf32>
    %244 = stablehlo.broadcast_in_dim %100#12, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %245 = stablehlo.broadcast_in_dim %244, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %246 = stablehlo.multiply %245, %243 : tensor<4x16x32xf32>
    %247 = stablehlo.multiply %243, %243 : tensor<4x16x32xf32>
    %cst_77 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %248 = stablehlo.reduce(%247 init: %cst_77) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %249 = stablehlo.broadcast_in_dim %248, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_78 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %250 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %251 = stablehlo.divide %249, %250 : tensor<4x16x1xf32>
    %cst_79 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %252 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %253 = stablehlo.add %251, %252 : tensor<4x16x1xf32>
    %254 = stablehlo.rsqrt %253 : tensor<4x16x1xf32>
    %255 = stablehlo.broadcast_in_dim %254, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %256 = stablehlo.multiply %246, %255 : tensor<4x16x32xf32>
    %257 = stablehlo.dot_general %256, %100#15, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x128xf32>) -> tensor<4x16x128xf32>
    %cst_80 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %258 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %259 = stablehlo.multiply %258, %257 : tensor<4x16x128xf32>
    %260 = stablehlo.negate %257 : tensor<4x16x128xf32>
    %cst_81 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %261 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %262 = stablehlo.multiply %260, %261 : tensor<4x16x128xf32>
    %263 = chlo.erfc %262 : tensor<4x16x128xf32> -> tensor<4x16x128xf32>
    %264 = stablehlo.multiply %259, %263 : tensor<4x16x128xf32>
    %265 = stablehlo.dot_general %264, %100#13, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x128xf32>, tensor<128x32xf32>) -> tensor<4x16x32xf32>
    %266 = stablehlo.add %237, %265 : tensor<4x16x32xf32>
    %cst_82 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %267 = stablehlo.reduce(%266 init: %cst_82) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %268 = stablehlo.broadcast_in_dim %267, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_83 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %269 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %270 = stablehlo.divide %268, %269 : tensor<4x16x1xf32>
    %271 = stablehlo.broadcast_in_dim %270, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %272 = stablehlo.subtract %266, %271 : tensor<4x16x32xf32>
    %273 = stablehlo.broadcast_in_dim %100#18, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %274 = stablehlo.broadcast_in_dim %273, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %275 = stablehlo.multiply %274, %272 : tensor<4x16x32xf32>
    %276 = stablehlo.multiply %272, %272 : tensor<4x16x32xf32>
    %cst_84 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %277 = stablehlo.reduce(%276 init: %cst_84) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %278 = stablehlo.broadcast_in_dim %277, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_85 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %279 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %280 = stablehlo.divide %278, %279 : tensor<4x16x1xf32>
    %cst_86 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %281 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %282 = stablehlo.add %280, %281 : tensor<4x16x1xf32>
    %283 = stablehlo.rsqrt %282 : tensor<4x16x1xf32>
    %284 = stablehlo.broadcast_in_dim %283, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %285 = stablehlo.multiply %275, %284 : tensor<4x16x32xf32>
    %286 = stablehlo.dot_general %285, %100#16, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x22xf32>) -> tensor<4x16x22xf32>
    %287 = call @log_softmax_6(%286) : (tensor<4x16x22xf32>) -> tensor<4x16x22xf32>
    %288 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<4x16xi32>) -> tensor<4x16x1xi32>
    %289 = call @take_along_axis_7(%287, %288) : (tensor<4x16x22xf32>, tensor<4x16x1xi32>) -> tensor<4x16x1xf32>
    %cst_87 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %290 = stablehlo.reduce(%289 init: %cst_87) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_88 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %291 = stablehlo.divide %290, %cst_88 : tensor<f32>
    %292 = stablehlo.negate %291 : tensor<f32>
    return %292, %100#52 : tensor<f32>, tensor<8xf32>
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
  func.func private @closed_call_0(%arg0: tensor<4x16xi32>, %arg1: tensor<4x16xi32>, %arg2: tensor<i32>, %arg3: tensor<32x96xf32>, %arg4: tensor<32xf32>, %arg5: tensor<32xf32>, %arg6: tensor<128x32xf32>, %arg7: tensor<32x32xf32>, %arg8: tensor<32x128xf32>, %arg9: tensor<32x96xf32>, %arg10: tensor<32xf32>, %arg11: tensor<32xf32>, %arg12: tensor<128x32xf32>, %arg13: tensor<32x32xf32>, %arg14: tensor<32x128xf32>, %arg15: tensor<32x22xf32>, %arg16: tensor<22x32xf32>, %arg17: tensor<32xf32>, %arg18: tensor<16x32xf32>, %arg19: tensor<32x96xf32>, %arg20: tensor<32xf32>, %arg21: tensor<32xf32>, %arg22: tensor<128x32xf32>, %arg23: tensor<32x32xf32>, %arg24: tensor<32x128xf32>, %arg25: tensor<32x96xf32>, %arg26: tensor<32xf32>, %arg27: tensor<32xf32>, %arg28: tensor<128x32xf32>, %arg29: tensor<32x32xf32>, %arg30: tensor<32x128xf32>, %arg31: tensor<32x22xf32>, %arg32: tensor<22x32xf32>, %arg33: tensor<32xf32>, %arg34: tensor<16x32xf32>, %arg35: tensor<32x96xf32>, %arg36: tensor<32xf32>, %arg37: tensor<32xf32>, %arg38: tensor<128x32xf32>, %arg39: tensor<32x32xf32>, %arg40: tensor<32x128xf32>, %arg41: tensor<32x96xf32>, %arg42: tensor<32xf32>, %arg43: tensor<32xf32>, %arg44: tensor<128x32xf32>, %arg45: tensor<32x32xf32>, %arg46: tensor<32x128xf32>, %arg47: tensor<32x22xf32>, %arg48: tensor<22x32xf32>, %arg49: tensor<32xf32>, %arg50: tensor<16x32xf32>, %arg51: tensor<8xf32>) -> (tensor<i32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x22xf32>, tensor<22x32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x22xf32>, tensor<22x32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x22xf32>, tensor<22x32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<8xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg2, %c : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x16xi32>
    %2 = stablehlo.compare LT, %arg0, %1, SIGNED : (tensor<4x16xi32>, tensor<4x16xi32>) -> tensor<4x16xi1>
    %c_1 = stablehlo.constant dense<22> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4x16xi32>
    %4 = stablehlo.add %arg0, %3 : tensor<4x16xi32>
    %5 = stablehlo.select %2, %4, %arg0 : tensor<4x16xi1>, tensor<4x16xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<4x16xi32>) -> tensor<4x16x1xi32>
    %7 = "stablehlo.gather"(%arg16, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<22x32xf32>, tensor<4x16x1xi32>) -> tensor<4x16x32xf32>
    %8 = stablehlo.broadcast_in_dim %arg18, dims = [1, 2] : (tensor<16x32xf32>) -> tensor<1x16x32xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x16x32xf32>) -> tensor<4x16x32xf32>
    %10 = stablehlo.add %7, %9 : tensor<4x16x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_2 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %14 = stablehlo.divide %12, %13 : tensor<4x16x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %16 = stablehlo.subtract %10, %15 : tensor<4x16x32xf32>
    %17 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %19 = stablehlo.multiply %18, %16 : tensor<4x16x32xf32>
    %20 = stablehlo.multiply %16, %16 : tensor<4x16x32xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x16x32xf32>
    %22 = stablehlo.multiply %21, %16 : tensor<4x16x32xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%20 init: %cst_4) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_5 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %26 = stablehlo.divide %24, %25 : tensor<4x16x1xf32>
    %cst_6 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %28 = stablehlo.add %26, %27 : tensor<4x16x1xf32>
    %29 = stablehlo.rsqrt %28 : tensor<4x16x1xf32>
    %30 = stablehlo.divide %29, %28 : tensor<4x16x1xf32>
    %cst_7 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %32 = stablehlo.multiply %31, %30 : tensor<4x16x1xf32>
    %33 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %34 = stablehlo.multiply %19, %33 : tensor<4x16x32xf32>
    %35 = stablehlo.dot_general %34, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x96xf32>) -> tensor<4x16x96xf32>
    %36 = stablehlo.reshape %35 : (tensor<4x16x96xf32>) -> tensor<4x16x3x2x16xf32>
    %37 = stablehlo.slice %36 [0:4, 0:16, 0:1, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %38 = stablehlo.reshape %37 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %39 = stablehlo.slice %36 [0:4, 0:16, 1:2, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %40 = stablehlo.reshape %39 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %41 = stablehlo.slice %36 [0:4, 0:16, 2:3, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %42 = stablehlo.reshape %41 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %43 = stablehlo.dot_general %38, %40, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x2x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %cst_8 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x2x16x16xf32>
    %45 = stablehlo.multiply %43, %44 : tensor<4x2x16x16xf32>
    %c_9 = stablehlo.constant dense<true> : tensor<i1>
    %46 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i1>) -> tensor<16x16xi1>
    %47 = call @tril(%46) : (tensor<16x16xi1>) -> tensor<16x16xi1>
    %cst_10 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %48:2 = call @_where_1(%47, %45, %cst_10) : (tensor<16x16xi1>, tensor<4x2x16x16xf32>, tensor<f32>) -> (tensor<4x2x16x16xf32>, tensor<4x2x16x16xi1>)
    %cst_11 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %49 = stablehlo.reduce(%48#0 init: %cst_11) applies stablehlo.maximum across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %cst_12 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x2x16xf32>
    %51 = stablehlo.maximum %50, %49 : tensor<4x2x16xf32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %54 = stablehlo.subtract %48#0, %53 : tensor<4x2x16x16xf32>
    %55 = stablehlo.exponential %54 : tensor<4x2x16x16xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %56 = stablehlo.reduce(%55 init: %cst_13) applies stablehlo.add across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %58 = stablehlo.broadcast_in_dim %57, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %59 = stablehlo.divide %55, %58 : tensor<4x2x16x16xf32>
    %60 = stablehlo.multiply %57, %57 : tensor<4x2x16x1xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<4x2x16x1xf32>
    %62 = stablehlo.divide %61, %60 : tensor<4x2x16x1xf32>
    %63 = stablehlo.dot_general %42, %59, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x2x16xf32>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %64 = stablehlo.transpose %63, dims = [0, 3, 1, 2] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %65 = stablehlo.reshape %64 : (tensor<4x16x2x16xf32>) -> tensor<4x16x32xf32>
    %66 = stablehlo.dot_general %65, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x32xf32>) -> tensor<4x16x32xf32>
    %67 = stablehlo.add %10, %66 : tensor<4x16x32xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %68 = stablehlo.reduce(%67 init: %cst_15) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %69 = stablehlo.broadcast_in_dim %68, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_16 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %71 = stablehlo.divide %69, %70 : tensor<4x16x1xf32>
    %72 = stablehlo.broadcast_in_dim %71, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %73 = stablehlo.subtract %67, %72 : tensor<4x16x32xf32>
    %74 = stablehlo.broadcast_in_dim %arg5, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %75 = stablehlo.broadcast_in_dim %74, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %76 = stablehlo.multiply %75, %73 : tensor<4x16x32xf32>
    %77 = stablehlo.multiply %73, %73 : tensor<4x16x32xf32>
    %cst_17 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<4x16x32xf32>
    %79 = stablehlo.multiply %78, %73 : tensor<4x16x32xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %80 = stablehlo.reduce(%77 init: %cst_18) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %81 = stablehlo.broadcast_in_dim %80, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_19 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %83 = stablehlo.divide %81, %82 : tensor<4x16x1xf32>
    %cst_20 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %85 = stablehlo.add %83, %84 : tensor<4x16x1xf32>
    %86 = stablehlo.rsqrt %85 : tensor<4x16x1xf32>
    %87 = stablehlo.divide %86, %85 : tensor<4x16x1xf32>
    %cst_21 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %89 = stablehlo.multiply %88, %87 : tensor<4x16x1xf32>
    %90 = stablehlo.broadcast_in_dim %86, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %91 = stablehlo.multiply %76, %90 : tensor<4x16x32xf32>
    %92 = stablehlo.dot_general %91, %arg8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x128xf32>) -> tensor<4x16x128xf32>
    %cst_22 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %94 = stablehlo.multiply %93, %92 : tensor<4x16x128xf32>
    %95 = stablehlo.negate %92 : tensor<4x16x128xf32>
    %cst_23 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %97 = stablehlo.multiply %95, %96 : tensor<4x16x128xf32>
    %98 = chlo.erfc %97 : tensor<4x16x128xf32> -> tensor<4x16x128xf32>
    %99 = chlo.square %97 : tensor<4x16x128xf32> -> tensor<4x16x128xf32>
    %100 = stablehlo.negate %99 : tensor<4x16x128xf32>
    %101 = stablehlo.exponential %100 : tensor<4x16x128xf32>
    %102 = stablehlo.multiply %94, %98 : tensor<4x16x128xf32>
    %103 = stablehlo.dot_general %102, %arg6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x128xf32>, tensor<128x32xf32>) -> tensor<4x16x32xf32>
    %104 = stablehlo.add %67, %103 : tensor<4x16x32xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %105 = stablehlo.reduce(%104 init: %cst_24) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %106 = stablehlo.broadcast_in_dim %105, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_25 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %108 = stablehlo.divide %106, %107 : tensor<4x16x1xf32>
    %109 = stablehlo.broadcast_in_dim %108, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %110 = stablehlo.subtract %104, %109 : tensor<4x16x32xf32>
    %111 = stablehlo.broadcast_in_dim %arg10, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %112 = stablehlo.broadcast_in_dim %111, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %113 = stablehlo.multiply %112, %110 : tensor<4x16x32xf32>
    %114 = stablehlo.multiply %110, %110 : tensor<4x16x32xf32>
    %cst_26 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<4x16x32xf32>
    %116 = stablehlo.multiply %115, %110 : tensor<4x16x32xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %117 = stablehlo.reduce(%114 init: %cst_27) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %118 = stablehlo.broadcast_in_dim %117, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_28 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %119 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %120 = stablehlo.divide %118, %119 : tensor<4x16x1xf32>
    %cst_29 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %121 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %122 = stablehlo.add %120, %121 : tensor<4x16x1xf32>
    %123 = stablehlo.rsqrt %122 : tensor<4x16x1xf32>
    %124 = stablehlo.divide %123, %122 : tensor<4x16x1xf32>
    %cst_30 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %126 = stablehlo.multiply %125, %124 : tensor<4x16x1xf32>
    %127 = stablehlo.broadcast_in_dim %123, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %128 = stablehlo.multiply %113, %127 : tensor<4x16x32xf32>
    %129 = stablehlo.dot_general %128, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x96xf32>) -> tensor<4x16x96xf32>
    %130 = stablehlo.reshape %129 : (tensor<4x16x96xf32>) -> tensor<4x16x3x2x16xf32>
    %131 = stablehlo.slice %130 [0:4, 0:16, 0:1, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %132 = stablehlo.reshape %131 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %133 = stablehlo.slice %130 [0:4, 0:16, 1:2, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %134 = stablehlo.reshape %133 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %135 = stablehlo.slice %130 [0:4, 0:16, 2:3, 0:2, 0:16] : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %136 = stablehlo.reshape %135 : (tensor<4x16x1x2x16xf32>) -> tensor<4x16x2x16xf32>
    %137 = stablehlo.dot_general %132, %134, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x2x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %cst_31 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %138 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<4x2x16x16xf32>
    %139 = stablehlo.multiply %137, %138 : tensor<4x2x16x16xf32>
    %c_32 = stablehlo.constant dense<true> : tensor<i1>
    %140 = stablehlo.broadcast_in_dim %c_32, dims = [] : (tensor<i1>) -> tensor<16x16xi1>
    %141 = call @tril(%140) : (tensor<16x16xi1>) -> tensor<16x16xi1>
    %cst_33 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %142:2 = call @_where_1(%141, %139, %cst_33) : (tensor<16x16xi1>, tensor<4x2x16x16xf32>, tensor<f32>) -> (tensor<4x2x16x16xf32>, tensor<4x2x16x16xi1>)
    %cst_34 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %143 = stablehlo.reduce(%142#0 init: %cst_34) applies stablehlo.maximum across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %cst_35 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<4x2x16xf32>
    %145 = stablehlo.maximum %144, %143 : tensor<4x2x16xf32>
    %146 = stablehlo.broadcast_in_dim %145, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %147 = stablehlo.broadcast_in_dim %146, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %148 = stablehlo.subtract %142#0, %147 : tensor<4x2x16x16xf32>
    %149 = stablehlo.exponential %148 : tensor<4x2x16x16xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %150 = stablehlo.reduce(%149 init: %cst_36) applies stablehlo.add across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %151 = stablehlo.broadcast_in_dim %150, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %152 = stablehlo.broadcast_in_dim %151, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %153 = stablehlo.divide %149, %152 : tensor<4x2x16x16xf32>
    %154 = stablehlo.multiply %151, %151 : tensor<4x2x16x1xf32>
    %cst_37 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %155 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<4x2x16x1xf32>
    %156 = stablehlo.divide %155, %154 : tensor<4x2x16x1xf32>
    %157 = stablehlo.dot_general %136, %153, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x2x16xf32>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %158 = stablehlo.transpose %157, dims = [0, 3, 1, 2] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %159 = stablehlo.reshape %158 : (tensor<4x16x2x16xf32>) -> tensor<4x16x32xf32>
    %160 = stablehlo.dot_general %159, %arg13, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x32xf32>) -> tensor<4x16x32xf32>
    %161 = stablehlo.add %104, %160 : tensor<4x16x32xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %162 = stablehlo.reduce(%161 init: %cst_38) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %163 = stablehlo.broadcast_in_dim %162, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_39 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %164 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %165 = stablehlo.divide %163, %164 : tensor<4x16x1xf32>
    %166 = stablehlo.broadcast_in_dim %165, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %167 = stablehlo.subtract %161, %166 : tensor<4x16x32xf32>
    %168 = stablehlo.broadcast_in_dim %arg11, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %169 = stablehlo.broadcast_in_dim %168, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %170 = stablehlo.multiply %169, %167 : tensor<4x16x32xf32>
    %171 = stablehlo.multiply %167, %167 : tensor<4x16x32xf32>
    %cst_40 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %172 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<4x16x32xf32>
    %173 = stablehlo.multiply %172, %167 : tensor<4x16x32xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %174 = stablehlo.reduce(%171 init: %cst_41) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %175 = stablehlo.broadcast_in_dim %174, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_42 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %176 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %177 = stablehlo.divide %175, %176 : tensor<4x16x1xf32>
    %cst_43 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %178 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %179 = stablehlo.add %177, %178 : tensor<4x16x1xf32>
    %180 = stablehlo.rsqrt %179 : tensor<4x16x1xf32>
    %181 = stablehlo.divide %180, %179 : tensor<4x16x1xf32>
    %cst_44 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %182 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %183 = stablehlo.multiply %182, %181 : tensor<4x16x1xf32>
    %184 = stablehlo.broadcast_in_dim %180, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %185 = stablehlo.multiply %170, %184 : tensor<4x16x32xf32>
    %186 = stablehlo.dot_general %185, %arg14, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x128xf32>) -> tensor<4x16x128xf32>
    %cst_45 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %187 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %188 = stablehlo.multiply %187, %186 : tensor<4x16x128xf32>
    %189 = stablehlo.negate %186 : tensor<4x16x128xf32>
    %cst_46 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %190 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %191 = stablehlo.multiply %189, %190 : tensor<4x16x128xf32>
    %192 = chlo.erfc %191 : tensor<4x16x128xf32> -> tensor<4x16x128xf32>
    %193 = chlo.square %191 : tensor<4x16x128xf32> -> tensor<4x16x128xf32>
    %194 = stablehlo.negate %193 : tensor<4x16x128xf32>
    %195 = stablehlo.exponential %194 : tensor<4x16x128xf32>
    %196 = stablehlo.multiply %188, %192 : tensor<4x16x128xf32>
    %197 = stablehlo.dot_general %196, %arg12, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x128xf32>, tensor<128x32xf32>) -> tensor<4x16x32xf32>
    %198 = stablehlo.add %161, %197 : tensor<4x16x32xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %199 = stablehlo.reduce(%198 init: %cst_47) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %200 = stablehlo.broadcast_in_dim %199, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_48 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %201 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %202 = stablehlo.divide %200, %201 : tensor<4x16x1xf32>
    %203 = stablehlo.broadcast_in_dim %202, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %204 = stablehlo.subtract %198, %203 : tensor<4x16x32xf32>
    %205 = stablehlo.broadcast_in_dim %arg17, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %206 = stablehlo.broadcast_in_dim %205, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %207 = stablehlo.multiply %206, %204 : tensor<4x16x32xf32>
    %208 = stablehlo.multiply %204, %204 : tensor<4x16x32xf32>
    %cst_49 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %209 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<4x16x32xf32>
    %210 = stablehlo.multiply %209, %204 : tensor<4x16x32xf32>
    %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %211 = stablehlo.reduce(%208 init: %cst_50) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %212 = stablehlo.broadcast_in_dim %211, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_51 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %213 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %214 = stablehlo.divide %212, %213 : tensor<4x16x1xf32>
    %cst_52 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %215 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %216 = stablehlo.add %214, %215 : tensor<4x16x1xf32>
    %217 = stablehlo.rsqrt %216 : tensor<4x16x1xf32>
    %218 = stablehlo.divide %217, %216 : tensor<4x16x1xf32>
    %cst_53 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %219 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %220 = stablehlo.multiply %219, %218 : tensor<4x16x1xf32>
    %221 = stablehlo.broadcast_in_dim %217, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %222 = stablehlo.multiply %207, %221 : tensor<4x16x32xf32>
    %223 = stablehlo.dot_general %222, %arg15, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x22xf32>) -> tensor<4x16x22xf32>
    %224:3 = call @log_softmax(%223) : (tensor<4x16x22xf32>) -> (tensor<4x16x22xf32>, tensor<4x16x22xf32>, tensor<4x16x1xf32>)
    %225 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<4x16xi32>) -> tensor<4x16x1xi32>
    %226:2 = call @take_along_axis(%224#0, %225) : (tensor<4x16x22xf32>, tensor<4x16x1xi32>) -> (tensor<4x16x1xf32>, tensor<4x16x1x1xi32>)
    %cst_54 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %227 = stablehlo.reduce(%226#0 init: %cst_54) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_55 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %228 = stablehlo.divide %227, %cst_55 : tensor<f32>
    %229 = stablehlo.negate %228 : tensor<f32>
    %cst_56 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %230 = stablehlo.negate %cst_56 : tensor<f32>
    %cst_57 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %231 = stablehlo.divide %230, %cst_57 : tensor<f32>
    %232 = stablehlo.broadcast_in_dim %231, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %233 = call @take_along_axis_2(%226#1, %232) : (tensor<4x16x1x1xi32>, tensor<4x16x1xf32>) -> tensor<4x16x22xf32>
    %234 = call @log_softmax_3(%224#1, %224#2, %233) : (tensor<4x16x22xf32>, tensor<4x16x1xf32>, tensor<4x16x22xf32>) -> tensor<4x16x22xf32>
    %235 = stablehlo.dot_general %234, %222, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x22xf32>, tensor<4x16x32xf32>) -> tensor<22x32xf32>
    %236 = stablehlo.transpose %235, dims = [1, 0] : (tensor<22x32xf32>) -> tensor<32x22xf32>
    %237 = stablehlo.dot_general %234, %arg15, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x22xf32>, tensor<32x22xf32>) -> tensor<4x16x32xf32>
    %238 = stablehlo.multiply %207, %237 : tensor<4x16x32xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %239 = stablehlo.reduce(%238 init: %cst_58) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %240 = stablehlo.reshape %239 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %241 = stablehlo.broadcast_in_dim %217, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %242 = stablehlo.multiply %237, %241 : tensor<4x16x32xf32>
    %243 = stablehlo.multiply %240, %220 : tensor<4x16x1xf32>
    %cst_59 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %244 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %245 = stablehlo.divide %243, %244 : tensor<4x16x1xf32>
    %cst_60 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %246 = stablehlo.reduce(%245 init: %cst_60) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %247 = stablehlo.broadcast_in_dim %246, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %248 = stablehlo.multiply %247, %210 : tensor<4x16x32xf32>
    %249 = stablehlo.broadcast_in_dim %205, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %250 = stablehlo.multiply %249, %242 : tensor<4x16x32xf32>
    %251 = stablehlo.add %248, %250 : tensor<4x16x32xf32>
    %252 = stablehlo.multiply %242, %204 : tensor<4x16x32xf32>
    %cst_61 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %253 = stablehlo.reduce(%252 init: %cst_61) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %254 = stablehlo.reshape %253 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %cst_62 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %255 = stablehlo.reduce(%254 init: %cst_62) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %256 = stablehlo.negate %251 : tensor<4x16x32xf32>
    %cst_63 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %257 = stablehlo.reduce(%256 init: %cst_63) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %258 = stablehlo.reshape %257 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %cst_64 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %259 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %260 = stablehlo.divide %258, %259 : tensor<4x16x1xf32>
    %cst_65 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %261 = stablehlo.reduce(%260 init: %cst_65) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %262 = stablehlo.broadcast_in_dim %261, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %263 = stablehlo.add %251, %262 : tensor<4x16x32xf32>
    %264 = stablehlo.dot_general %263, %196, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<4x16x128xf32>) -> tensor<32x128xf32>
    %265 = stablehlo.transpose %264, dims = [1, 0] : (tensor<32x128xf32>) -> tensor<128x32xf32>
    %266 = stablehlo.dot_general %263, %arg12, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<128x32xf32>) -> tensor<4x16x128xf32>
    %267 = stablehlo.multiply %188, %266 : tensor<4x16x128xf32>
    %268 = stablehlo.multiply %266, %192 : tensor<4x16x128xf32>
    %cst_66 = stablehlo.constant dense<-1.12837923> : tensor<f32>
    %269 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %270 = stablehlo.multiply %269, %267 : tensor<4x16x128xf32>
    %271 = stablehlo.multiply %270, %195 : tensor<4x16x128xf32>
    %cst_67 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %272 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %273 = stablehlo.multiply %271, %272 : tensor<4x16x128xf32>
    %274 = stablehlo.negate %273 : tensor<4x16x128xf32>
    %cst_68 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %275 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %276 = stablehlo.multiply %275, %268 : tensor<4x16x128xf32>
    %277 = stablehlo.add %274, %276 : tensor<4x16x128xf32>
    %278 = stablehlo.dot_general %277, %185, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x128xf32>, tensor<4x16x32xf32>) -> tensor<128x32xf32>
    %279 = stablehlo.transpose %278, dims = [1, 0] : (tensor<128x32xf32>) -> tensor<32x128xf32>
    %280 = stablehlo.dot_general %277, %arg14, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x128xf32>, tensor<32x128xf32>) -> tensor<4x16x32xf32>
    %281 = stablehlo.multiply %170, %280 : tensor<4x16x32xf32>
    %cst_69 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %282 = stablehlo.reduce(%281 init: %cst_69) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %283 = stablehlo.reshape %282 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %284 = stablehlo.broadcast_in_dim %180, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %285 = stablehlo.multiply %280, %284 : tensor<4x16x32xf32>
    %286 = stablehlo.multiply %283, %183 : tensor<4x16x1xf32>
    %cst_70 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %287 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %288 = stablehlo.divide %286, %287 : tensor<4x16x1xf32>
    %cst_71 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %289 = stablehlo.reduce(%288 init: %cst_71) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %290 = stablehlo.broadcast_in_dim %289, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %291 = stablehlo.multiply %290, %173 : tensor<4x16x32xf32>
    %292 = stablehlo.broadcast_in_dim %168, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %293 = stablehlo.multiply %292, %285 : tensor<4x16x32xf32>
    %294 = stablehlo.add %291, %293 : tensor<4x16x32xf32>
    %295 = stablehlo.multiply %285, %167 : tensor<4x16x32xf32>
    %cst_72 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %296 = stablehlo.reduce(%295 init: %cst_72) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %297 = stablehlo.reshape %296 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %cst_73 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %298 = stablehlo.reduce(%297 init: %cst_73) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %299 = stablehlo.negate %294 : tensor<4x16x32xf32>
    %cst_74 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %300 = stablehlo.reduce(%299 init: %cst_74) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %301 = stablehlo.reshape %300 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %302 = stablehlo.add %263, %294 : tensor<4x16x32xf32>
    %cst_75 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %303 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %304 = stablehlo.divide %301, %303 : tensor<4x16x1xf32>
    %cst_76 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %305 = stablehlo.reduce(%304 init: %cst_76) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %306 = stablehlo.broadcast_in_dim %305, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %307 = stablehlo.add %302, %306 : tensor<4x16x32xf32>
    %308 = stablehlo.dot_general %307, %159, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<4x16x32xf32>) -> tensor<32x32xf32>
    %309 = stablehlo.transpose %308, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %310 = stablehlo.dot_general %307, %arg13, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x32xf32>) -> tensor<4x16x32xf32>
    %311 = stablehlo.reshape %310 : (tensor<4x16x32xf32>) -> tensor<4x16x2x16xf32>
    %312 = stablehlo.transpose %311, dims = [0, 2, 3, 1] : (tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %313 = stablehlo.dot_general %312, %136, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x2x16x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %314 = stablehlo.dot_general %312, %153, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x2x16x16xf32>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %315 = stablehlo.transpose %314, dims = [0, 3, 1, 2] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %316 = stablehlo.broadcast_in_dim %156, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %317 = stablehlo.multiply %313, %316 : tensor<4x2x16x16xf32>
    %318 = stablehlo.multiply %317, %149 : tensor<4x2x16x16xf32>
    %cst_77 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %319 = stablehlo.reduce(%318 init: %cst_77) applies stablehlo.add across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %320 = stablehlo.reshape %319 : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %321 = stablehlo.negate %320 : tensor<4x2x16x1xf32>
    %322 = stablehlo.broadcast_in_dim %151, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %323 = stablehlo.divide %313, %322 : tensor<4x2x16x16xf32>
    %cst_78 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %324 = stablehlo.reduce(%321 init: %cst_78) applies stablehlo.add across dimensions = [3] : (tensor<4x2x16x1xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %325 = stablehlo.broadcast_in_dim %324, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x16xf32>
    %326 = stablehlo.add %323, %325 : tensor<4x2x16x16xf32>
    %327 = stablehlo.multiply %326, %149 : tensor<4x2x16x16xf32>
    %328 = call @_where_4(%142#1, %327) : (tensor<4x2x16x16xi1>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %cst_79 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %329 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<4x2x16x16xf32>
    %330 = stablehlo.multiply %328, %329 : tensor<4x2x16x16xf32>
    %331 = stablehlo.dot_general %330, %132, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x2x16x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %332 = stablehlo.transpose %331, dims = [0, 2, 1, 3] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %333 = stablehlo.dot_general %330, %134, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x2x16x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %334 = stablehlo.transpose %333, dims = [0, 2, 1, 3] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %335 = stablehlo.broadcast_in_dim %315, dims = [0, 1, 3, 4] : (tensor<4x16x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %cst_80 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %336 = stablehlo.pad %335, %cst_80, low = [0, 0, 2, 0, 0], high = [0, 0, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<4x16x1x2x16xf32>, tensor<f32>) -> tensor<4x16x3x2x16xf32>
    %337 = stablehlo.broadcast_in_dim %332, dims = [0, 1, 3, 4] : (tensor<4x16x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %cst_81 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %338 = stablehlo.pad %337, %cst_81, low = [0, 0, 1, 0, 0], high = [0, 0, 1, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<4x16x1x2x16xf32>, tensor<f32>) -> tensor<4x16x3x2x16xf32>
    %339 = stablehlo.add %336, %338 : tensor<4x16x3x2x16xf32>
    %340 = stablehlo.broadcast_in_dim %334, dims = [0, 1, 3, 4] : (tensor<4x16x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %cst_82 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %341 = stablehlo.pad %340, %cst_82, low = [0, 0, 0, 0, 0], high = [0, 0, 2, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<4x16x1x2x16xf32>, tensor<f32>) -> tensor<4x16x3x2x16xf32>
    %342 = stablehlo.add %339, %341 : tensor<4x16x3x2x16xf32>
    %343 = stablehlo.reshape %342 : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x96xf32>
    %344 = stablehlo.dot_general %343, %128, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x96xf32>, tensor<4x16x32xf32>) -> tensor<96x32xf32>
    %345 = stablehlo.transpose %344, dims = [1, 0] : (tensor<96x32xf32>) -> tensor<32x96xf32>
    %346 = stablehlo.dot_general %343, %arg9, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x96xf32>, tensor<32x96xf32>) -> tensor<4x16x32xf32>
    %347 = stablehlo.multiply %113, %346 : tensor<4x16x32xf32>
    %cst_83 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %348 = stablehlo.reduce(%347 init: %cst_83) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %349 = stablehlo.reshape %348 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %350 = stablehlo.broadcast_in_dim %123, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %351 = stablehlo.multiply %346, %350 : tensor<4x16x32xf32>
    %352 = stablehlo.multiply %349, %126 : tensor<4x16x1xf32>
    %cst_84 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %353 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %354 = stablehlo.divide %352, %353 : tensor<4x16x1xf32>
    %cst_85 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %355 = stablehlo.reduce(%354 init: %cst_85) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %356 = stablehlo.broadcast_in_dim %355, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %357 = stablehlo.multiply %356, %116 : tensor<4x16x32xf32>
    %358 = stablehlo.broadcast_in_dim %111, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %359 = stablehlo.multiply %358, %351 : tensor<4x16x32xf32>
    %360 = stablehlo.add %357, %359 : tensor<4x16x32xf32>
    %361 = stablehlo.multiply %351, %110 : tensor<4x16x32xf32>
    %cst_86 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %362 = stablehlo.reduce(%361 init: %cst_86) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %363 = stablehlo.reshape %362 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %cst_87 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %364 = stablehlo.reduce(%363 init: %cst_87) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %365 = stablehlo.negate %360 : tensor<4x16x32xf32>
    %cst_88 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %366 = stablehlo.reduce(%365 init: %cst_88) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %367 = stablehlo.reshape %366 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %368 = stablehlo.add %307, %360 : tensor<4x16x32xf32>
    %cst_89 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %369 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %370 = stablehlo.divide %367, %369 : tensor<4x16x1xf32>
    %cst_90 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %371 = stablehlo.reduce(%370 init: %cst_90) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %372 = stablehlo.broadcast_in_dim %371, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %373 = stablehlo.add %368, %372 : tensor<4x16x32xf32>
    %374 = stablehlo.dot_general %373, %102, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<4x16x128xf32>) -> tensor<32x128xf32>
    %375 = stablehlo.transpose %374, dims = [1, 0] : (tensor<32x128xf32>) -> tensor<128x32xf32>
    %376 = stablehlo.dot_general %373, %arg6, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<128x32xf32>) -> tensor<4x16x128xf32>
    %377 = stablehlo.multiply %94, %376 : tensor<4x16x128xf32>
    %378 = stablehlo.multiply %376, %98 : tensor<4x16x128xf32>
    %cst_91 = stablehlo.constant dense<-1.12837923> : tensor<f32>
    %379 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %380 = stablehlo.multiply %379, %377 : tensor<4x16x128xf32>
    %381 = stablehlo.multiply %380, %101 : tensor<4x16x128xf32>
    %cst_92 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %382 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %383 = stablehlo.multiply %381, %382 : tensor<4x16x128xf32>
    %384 = stablehlo.negate %383 : tensor<4x16x128xf32>
    %cst_93 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %385 = stablehlo.broadcast_in_dim %cst_93, dims = [] : (tensor<f32>) -> tensor<4x16x128xf32>
    %386 = stablehlo.multiply %385, %378 : tensor<4x16x128xf32>
    %387 = stablehlo.add %384, %386 : tensor<4x16x128xf32>
    %388 = stablehlo.dot_general %387, %91, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x128xf32>, tensor<4x16x32xf32>) -> tensor<128x32xf32>
    %389 = stablehlo.transpose %388, dims = [1, 0] : (tensor<128x32xf32>) -> tensor<32x128xf32>
    %390 = stablehlo.dot_general %387, %arg8, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x128xf32>, tensor<32x128xf32>) -> tensor<4x16x32xf32>
    %391 = stablehlo.multiply %76, %390 : tensor<4x16x32xf32>
    %cst_94 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %392 = stablehlo.reduce(%391 init: %cst_94) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %393 = stablehlo.reshape %392 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %394 = stablehlo.broadcast_in_dim %86, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %395 = stablehlo.multiply %390, %394 : tensor<4x16x32xf32>
    %396 = stablehlo.multiply %393, %89 : tensor<4x16x1xf32>
    %cst_95 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %397 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %398 = stablehlo.divide %396, %397 : tensor<4x16x1xf32>
    %cst_96 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %399 = stablehlo.reduce(%398 init: %cst_96) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %400 = stablehlo.broadcast_in_dim %399, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %401 = stablehlo.multiply %400, %79 : tensor<4x16x32xf32>
    %402 = stablehlo.broadcast_in_dim %74, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %403 = stablehlo.multiply %402, %395 : tensor<4x16x32xf32>
    %404 = stablehlo.add %401, %403 : tensor<4x16x32xf32>
    %405 = stablehlo.multiply %395, %73 : tensor<4x16x32xf32>
    %cst_97 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %406 = stablehlo.reduce(%405 init: %cst_97) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %407 = stablehlo.reshape %406 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %cst_98 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %408 = stablehlo.reduce(%407 init: %cst_98) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %409 = stablehlo.negate %404 : tensor<4x16x32xf32>
    %cst_99 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %410 = stablehlo.reduce(%409 init: %cst_99) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %411 = stablehlo.reshape %410 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %412 = stablehlo.add %373, %404 : tensor<4x16x32xf32>
    %cst_100 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %413 = stablehlo.broadcast_in_dim %cst_100, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %414 = stablehlo.divide %411, %413 : tensor<4x16x1xf32>
    %cst_101 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %415 = stablehlo.reduce(%414 init: %cst_101) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %416 = stablehlo.broadcast_in_dim %415, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %417 = stablehlo.add %412, %416 : tensor<4x16x32xf32>
    %418 = stablehlo.dot_general %417, %65, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<4x16x32xf32>) -> tensor<32x32xf32>
    %419 = stablehlo.transpose %418, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %420 = stablehlo.dot_general %417, %arg7, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x32xf32>, tensor<32x32xf32>) -> tensor<4x16x32xf32>
    %421 = stablehlo.reshape %420 : (tensor<4x16x32xf32>) -> tensor<4x16x2x16xf32>
    %422 = stablehlo.transpose %421, dims = [0, 2, 3, 1] : (tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %423 = stablehlo.dot_general %422, %42, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x2x16x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %424 = stablehlo.dot_general %422, %59, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x2x16x16xf32>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %425 = stablehlo.transpose %424, dims = [0, 3, 1, 2] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %426 = stablehlo.broadcast_in_dim %62, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %427 = stablehlo.multiply %423, %426 : tensor<4x2x16x16xf32>
    %428 = stablehlo.multiply %427, %55 : tensor<4x2x16x16xf32>
    %cst_102 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %429 = stablehlo.reduce(%428 init: %cst_102) applies stablehlo.add across dimensions = [3] : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %430 = stablehlo.reshape %429 : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %431 = stablehlo.negate %430 : tensor<4x2x16x1xf32>
    %432 = stablehlo.broadcast_in_dim %57, dims = [0, 1, 2, 3] : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %433 = stablehlo.divide %423, %432 : tensor<4x2x16x16xf32>
    %cst_103 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %434 = stablehlo.reduce(%431 init: %cst_103) applies stablehlo.add across dimensions = [3] : (tensor<4x2x16x1xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %435 = stablehlo.broadcast_in_dim %434, dims = [0, 1, 2] : (tensor<4x2x16xf32>) -> tensor<4x2x16x16xf32>
    %436 = stablehlo.add %433, %435 : tensor<4x2x16x16xf32>
    %437 = stablehlo.multiply %436, %55 : tensor<4x2x16x16xf32>
    %438 = call @_where_4(%48#1, %437) : (tensor<4x2x16x16xi1>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %cst_104 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %439 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<f32>) -> tensor<4x2x16x16xf32>
    %440 = stablehlo.multiply %438, %439 : tensor<4x2x16x16xf32>
    %441 = stablehlo.dot_general %440, %38, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x2x16x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %442 = stablehlo.transpose %441, dims = [0, 2, 1, 3] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %443 = stablehlo.dot_general %440, %40, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x2x16x16xf32>, tensor<4x16x2x16xf32>) -> tensor<4x2x16x16xf32>
    %444 = stablehlo.transpose %443, dims = [0, 2, 1, 3] : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %445 = stablehlo.broadcast_in_dim %425, dims = [0, 1, 3, 4] : (tensor<4x16x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %cst_105 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %446 = stablehlo.pad %445, %cst_105, low = [0, 0, 2, 0, 0], high = [0, 0, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<4x16x1x2x16xf32>, tensor<f32>) -> tensor<4x16x3x2x16xf32>
    %447 = stablehlo.broadcast_in_dim %442, dims = [0, 1, 3, 4] : (tensor<4x16x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %cst_106 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %448 = stablehlo.pad %447, %cst_106, low = [0, 0, 1, 0, 0], high = [0, 0, 1, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<4x16x1x2x16xf32>, tensor<f32>) -> tensor<4x16x3x2x16xf32>
    %449 = stablehlo.add %446, %448 : tensor<4x16x3x2x16xf32>
    %450 = stablehlo.broadcast_in_dim %444, dims = [0, 1, 3, 4] : (tensor<4x16x2x16xf32>) -> tensor<4x16x1x2x16xf32>
    %cst_107 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %451 = stablehlo.pad %450, %cst_107, low = [0, 0, 0, 0, 0], high = [0, 0, 2, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<4x16x1x2x16xf32>, tensor<f32>) -> tensor<4x16x3x2x16xf32>
    %452 = stablehlo.add %449, %451 : tensor<4x16x3x2x16xf32>
    %453 = stablehlo.reshape %452 : (tensor<4x16x3x2x16xf32>) -> tensor<4x16x96xf32>
    %454 = stablehlo.dot_general %453, %34, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x96xf32>, tensor<4x16x32xf32>) -> tensor<96x32xf32>
    %455 = stablehlo.transpose %454, dims = [1, 0] : (tensor<96x32xf32>) -> tensor<32x96xf32>
    %456 = stablehlo.dot_general %453, %arg3, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x96xf32>, tensor<32x96xf32>) -> tensor<4x16x32xf32>
    %457 = stablehlo.multiply %19, %456 : tensor<4x16x32xf32>
    %cst_108 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %458 = stablehlo.reduce(%457 init: %cst_108) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %459 = stablehlo.reshape %458 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %460 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
    %461 = stablehlo.multiply %456, %460 : tensor<4x16x32xf32>
    %462 = stablehlo.multiply %459, %32 : tensor<4x16x1xf32>
    %cst_109 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %463 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %464 = stablehlo.divide %462, %463 : tensor<4x16x1xf32>
    %cst_110 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %465 = stablehlo.reduce(%464 init: %cst_110) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %466 = stablehlo.broadcast_in_dim %465, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %467 = stablehlo.multiply %466, %22 : tensor<4x16x32xf32>
    %468 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x16x32xf32>
    %469 = stablehlo.multiply %468, %461 : tensor<4x16x32xf32>
    %470 = stablehlo.add %467, %469 : tensor<4x16x32xf32>
    %471 = stablehlo.multiply %461, %16 : tensor<4x16x32xf32>
    %cst_111 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %472 = stablehlo.reduce(%471 init: %cst_111) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %473 = stablehlo.reshape %472 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %cst_112 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %474 = stablehlo.reduce(%473 init: %cst_112) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %475 = stablehlo.negate %470 : tensor<4x16x32xf32>
    %cst_113 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %476 = stablehlo.reduce(%475 init: %cst_113) applies stablehlo.add across dimensions = [2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<4x16xf32>
    %477 = stablehlo.reshape %476 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
    %478 = stablehlo.add %417, %470 : tensor<4x16x32xf32>
    %cst_114 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %479 = stablehlo.broadcast_in_dim %cst_114, dims = [] : (tensor<f32>) -> tensor<4x16x1xf32>
    %480 = stablehlo.divide %477, %479 : tensor<4x16x1xf32>
    %cst_115 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %481 = stablehlo.reduce(%480 init: %cst_115) applies stablehlo.add across dimensions = [2] : (tensor<4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %482 = stablehlo.broadcast_in_dim %481, dims = [0, 1] : (tensor<4x16xf32>) -> tensor<4x16x32xf32>
    %483 = stablehlo.add %478, %482 : tensor<4x16x32xf32>
    %cst_116 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %484 = stablehlo.reduce(%483 init: %cst_116) applies stablehlo.add across dimensions = [0] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
    %485 = stablehlo.reshape %484 : (tensor<16x32xf32>) -> tensor<1x16x32xf32>
    %cst_117 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %486 = stablehlo.reduce(%485 init: %cst_117) applies stablehlo.add across dimensions = [0] : (tensor<1x16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
    %cst_118 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %487 = stablehlo.broadcast_in_dim %cst_118, dims = [] : (tensor<f32>) -> tensor<22x32xf32>
    %488 = "stablehlo.scatter"(%487, %6, %483) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg52: tensor<f32>, %arg53: tensor<f32>):
      %913 = stablehlo.add %arg52, %arg53 : tensor<f32>
      stablehlo.return %913 : tensor<f32>
    }) : (tensor<22x32xf32>, tensor<4x16x1xi32>, tensor<4x16x32xf32>) -> tensor<22x32xf32>
    %cst_119 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %489 = stablehlo.broadcast_in_dim %cst_119, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %490 = stablehlo.multiply %489, %arg19 : tensor<32x96xf32>
    %cst_120 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %491 = stablehlo.broadcast_in_dim %cst_120, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %492 = stablehlo.multiply %491, %455 : tensor<32x96xf32>
    %493 = stablehlo.add %490, %492 : tensor<32x96xf32>
    %cst_121 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %494 = stablehlo.broadcast_in_dim %cst_121, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %495 = stablehlo.multiply %494, %arg20 : tensor<32xf32>
    %cst_122 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %496 = stablehlo.broadcast_in_dim %cst_122, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %497 = stablehlo.multiply %496, %474 : tensor<32xf32>
    %498 = stablehlo.add %495, %497 : tensor<32xf32>
    %cst_123 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %499 = stablehlo.broadcast_in_dim %cst_123, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %500 = stablehlo.multiply %499, %arg21 : tensor<32xf32>
    %cst_124 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %501 = stablehlo.broadcast_in_dim %cst_124, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %502 = stablehlo.multiply %501, %408 : tensor<32xf32>
    %503 = stablehlo.add %500, %502 : tensor<32xf32>
    %cst_125 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %504 = stablehlo.broadcast_in_dim %cst_125, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %505 = stablehlo.multiply %504, %arg22 : tensor<128x32xf32>
    %cst_126 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %506 = stablehlo.broadcast_in_dim %cst_126, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %507 = stablehlo.multiply %506, %375 : tensor<128x32xf32>
    %508 = stablehlo.add %505, %507 : tensor<128x32xf32>
    %cst_127 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %509 = stablehlo.broadcast_in_dim %cst_127, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %510 = stablehlo.multiply %509, %arg23 : tensor<32x32xf32>
    %cst_128 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %511 = stablehlo.broadcast_in_dim %cst_128, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %512 = stablehlo.multiply %511, %419 : tensor<32x32xf32>
    %513 = stablehlo.add %510, %512 : tensor<32x32xf32>
    %cst_129 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %514 = stablehlo.broadcast_in_dim %cst_129, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %515 = stablehlo.multiply %514, %arg24 : tensor<32x128xf32>
    %cst_130 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %516 = stablehlo.broadcast_in_dim %cst_130, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %517 = stablehlo.multiply %516, %389 : tensor<32x128xf32>
    %518 = stablehlo.add %515, %517 : tensor<32x128xf32>
    %cst_131 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %519 = stablehlo.broadcast_in_dim %cst_131, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %520 = stablehlo.multiply %519, %arg25 : tensor<32x96xf32>
    %cst_132 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %521 = stablehlo.broadcast_in_dim %cst_132, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %522 = stablehlo.multiply %521, %345 : tensor<32x96xf32>
    %523 = stablehlo.add %520, %522 : tensor<32x96xf32>
    %cst_133 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %524 = stablehlo.broadcast_in_dim %cst_133, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %525 = stablehlo.multiply %524, %arg26 : tensor<32xf32>
    %cst_134 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %526 = stablehlo.broadcast_in_dim %cst_134, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %527 = stablehlo.multiply %526, %364 : tensor<32xf32>
    %528 = stablehlo.add %525, %527 : tensor<32xf32>
    %cst_135 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %529 = stablehlo.broadcast_in_dim %cst_135, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %530 = stablehlo.multiply %529, %arg27 : tensor<32xf32>
    %cst_136 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %531 = stablehlo.broadcast_in_dim %cst_136, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %532 = stablehlo.multiply %531, %298 : tensor<32xf32>
    %533 = stablehlo.add %530, %532 : tensor<32xf32>
    %cst_137 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %534 = stablehlo.broadcast_in_dim %cst_137, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %535 = stablehlo.multiply %534, %arg28 : tensor<128x32xf32>
    %cst_138 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %536 = stablehlo.broadcast_in_dim %cst_138, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %537 = stablehlo.multiply %536, %265 : tensor<128x32xf32>
    %538 = stablehlo.add %535, %537 : tensor<128x32xf32>
    %cst_139 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %539 = stablehlo.broadcast_in_dim %cst_139, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %540 = stablehlo.multiply %539, %arg29 : tensor<32x32xf32>
    %cst_140 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %541 = stablehlo.broadcast_in_dim %cst_140, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %542 = stablehlo.multiply %541, %309 : tensor<32x32xf32>
    %543 = stablehlo.add %540, %542 : tensor<32x32xf32>
    %cst_141 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %544 = stablehlo.broadcast_in_dim %cst_141, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %545 = stablehlo.multiply %544, %arg30 : tensor<32x128xf32>
    %cst_142 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %546 = stablehlo.broadcast_in_dim %cst_142, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %547 = stablehlo.multiply %546, %279 : tensor<32x128xf32>
    %548 = stablehlo.add %545, %547 : tensor<32x128xf32>
    %cst_143 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %549 = stablehlo.broadcast_in_dim %cst_143, dims = [] : (tensor<f32>) -> tensor<32x22xf32>
    %550 = stablehlo.multiply %549, %arg31 : tensor<32x22xf32>
    %cst_144 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %551 = stablehlo.broadcast_in_dim %cst_144, dims = [] : (tensor<f32>) -> tensor<32x22xf32>
    %552 = stablehlo.multiply %551, %236 : tensor<32x22xf32>
    %553 = stablehlo.add %550, %552 : tensor<32x22xf32>
    %cst_145 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %554 = stablehlo.broadcast_in_dim %cst_145, dims = [] : (tensor<f32>) -> tensor<22x32xf32>
    %555 = stablehlo.multiply %554, %arg32 : tensor<22x32xf32>
    %cst_146 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %556 = stablehlo.broadcast_in_dim %cst_146, dims = [] : (tensor<f32>) -> tensor<22x32xf32>
    %557 = stablehlo.multiply %556, %488 : tensor<22x32xf32>
    %558 = stablehlo.add %555, %557 : tensor<22x32xf32>
    %cst_147 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %559 = stablehlo.broadcast_in_dim %cst_147, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %560 = stablehlo.multiply %559, %arg33 : tensor<32xf32>
    %cst_148 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %561 = stablehlo.broadcast_in_dim %cst_148, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %562 = stablehlo.multiply %561, %255 : tensor<32xf32>
    %563 = stablehlo.add %560, %562 : tensor<32xf32>
    %cst_149 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %564 = stablehlo.broadcast_in_dim %cst_149, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %565 = stablehlo.multiply %564, %arg34 : tensor<16x32xf32>
    %cst_150 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %566 = stablehlo.broadcast_in_dim %cst_150, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %567 = stablehlo.multiply %566, %486 : tensor<16x32xf32>
    %568 = stablehlo.add %565, %567 : tensor<16x32xf32>
    %cst_151 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %569 = stablehlo.broadcast_in_dim %cst_151, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %570 = stablehlo.multiply %569, %arg35 : tensor<32x96xf32>
    %cst_152 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %571 = stablehlo.broadcast_in_dim %cst_152, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %572 = stablehlo.multiply %571, %455 : tensor<32x96xf32>
    %573 = stablehlo.multiply %572, %455 : tensor<32x96xf32>
    %574 = stablehlo.add %570, %573 : tensor<32x96xf32>
    %cst_153 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %575 = stablehlo.broadcast_in_dim %cst_153, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %576 = stablehlo.multiply %575, %arg36 : tensor<32xf32>
    %cst_154 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %577 = stablehlo.broadcast_in_dim %cst_154, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %578 = stablehlo.multiply %577, %474 : tensor<32xf32>
    %579 = stablehlo.multiply %578, %474 : tensor<32xf32>
    %580 = stablehlo.add %576, %579 : tensor<32xf32>
    %cst_155 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %581 = stablehlo.broadcast_in_dim %cst_155, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %582 = stablehlo.multiply %581, %arg37 : tensor<32xf32>
    %cst_156 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %583 = stablehlo.broadcast_in_dim %cst_156, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %584 = stablehlo.multiply %583, %408 : tensor<32xf32>
    %585 = stablehlo.multiply %584, %408 : tensor<32xf32>
    %586 = stablehlo.add %582, %585 : tensor<32xf32>
    %cst_157 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %587 = stablehlo.broadcast_in_dim %cst_157, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %588 = stablehlo.multiply %587, %arg38 : tensor<128x32xf32>
    %cst_158 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %589 = stablehlo.broadcast_in_dim %cst_158, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %590 = stablehlo.multiply %589, %375 : tensor<128x32xf32>
    %591 = stablehlo.multiply %590, %375 : tensor<128x32xf32>
    %592 = stablehlo.add %588, %591 : tensor<128x32xf32>
    %cst_159 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %593 = stablehlo.broadcast_in_dim %cst_159, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %594 = stablehlo.multiply %593, %arg39 : tensor<32x32xf32>
    %cst_160 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %595 = stablehlo.broadcast_in_dim %cst_160, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %596 = stablehlo.multiply %595, %419 : tensor<32x32xf32>
    %597 = stablehlo.multiply %596, %419 : tensor<32x32xf32>
    %598 = stablehlo.add %594, %597 : tensor<32x32xf32>
    %cst_161 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %599 = stablehlo.broadcast_in_dim %cst_161, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %600 = stablehlo.multiply %599, %arg40 : tensor<32x128xf32>
    %cst_162 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %601 = stablehlo.broadcast_in_dim %cst_162, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %602 = stablehlo.multiply %601, %389 : tensor<32x128xf32>
    %603 = stablehlo.multiply %602, %389 : tensor<32x128xf32>
    %604 = stablehlo.add %600, %603 : tensor<32x128xf32>
    %cst_163 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %605 = stablehlo.broadcast_in_dim %cst_163, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %606 = stablehlo.multiply %605, %arg41 : tensor<32x96xf32>
    %cst_164 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %607 = stablehlo.broadcast_in_dim %cst_164, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %608 = stablehlo.multiply %607, %345 : tensor<32x96xf32>
    %609 = stablehlo.multiply %608, %345 : tensor<32x96xf32>
    %610 = stablehlo.add %606, %609 : tensor<32x96xf32>
    %cst_165 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %611 = stablehlo.broadcast_in_dim %cst_165, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %612 = stablehlo.multiply %611, %arg42 : tensor<32xf32>
    %cst_166 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %613 = stablehlo.broadcast_in_dim %cst_166, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %614 = stablehlo.multiply %613, %364 : tensor<32xf32>
    %615 = stablehlo.multiply %614, %364 : tensor<32xf32>
    %616 = stablehlo.add %612, %615 : tensor<32xf32>
    %cst_167 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %617 = stablehlo.broadcast_in_dim %cst_167, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %618 = stablehlo.multiply %617, %arg43 : tensor<32xf32>
    %cst_168 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %619 = stablehlo.broadcast_in_dim %cst_168, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %620 = stablehlo.multiply %619, %298 : tensor<32xf32>
    %621 = stablehlo.multiply %620, %298 : tensor<32xf32>
    %622 = stablehlo.add %618, %621 : tensor<32xf32>
    %cst_169 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %623 = stablehlo.broadcast_in_dim %cst_169, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %624 = stablehlo.multiply %623, %arg44 : tensor<128x32xf32>
    %cst_170 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %625 = stablehlo.broadcast_in_dim %cst_170, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %626 = stablehlo.multiply %625, %265 : tensor<128x32xf32>
    %627 = stablehlo.multiply %626, %265 : tensor<128x32xf32>
    %628 = stablehlo.add %624, %627 : tensor<128x32xf32>
    %cst_171 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %629 = stablehlo.broadcast_in_dim %cst_171, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %630 = stablehlo.multiply %629, %arg45 : tensor<32x32xf32>
    %cst_172 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %631 = stablehlo.broadcast_in_dim %cst_172, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %632 = stablehlo.multiply %631, %309 : tensor<32x32xf32>
    %633 = stablehlo.multiply %632, %309 : tensor<32x32xf32>
    %634 = stablehlo.add %630, %633 : tensor<32x32xf32>
    %cst_173 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %635 = stablehlo.broadcast_in_dim %cst_173, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %636 = stablehlo.multiply %635, %arg46 : tensor<32x128xf32>
    %cst_174 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %637 = stablehlo.broadcast_in_dim %cst_174, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %638 = stablehlo.multiply %637, %279 : tensor<32x128xf32>
    %639 = stablehlo.multiply %638, %279 : tensor<32x128xf32>
    %640 = stablehlo.add %636, %639 : tensor<32x128xf32>
    %cst_175 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %641 = stablehlo.broadcast_in_dim %cst_175, dims = [] : (tensor<f32>) -> tensor<32x22xf32>
    %642 = stablehlo.multiply %641, %arg47 : tensor<32x22xf32>
    %cst_176 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %643 = stablehlo.broadcast_in_dim %cst_176, dims = [] : (tensor<f32>) -> tensor<32x22xf32>
    %644 = stablehlo.multiply %643, %236 : tensor<32x22xf32>
    %645 = stablehlo.multiply %644, %236 : tensor<32x22xf32>
    %646 = stablehlo.add %642, %645 : tensor<32x22xf32>
    %cst_177 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %647 = stablehlo.broadcast_in_dim %cst_177, dims = [] : (tensor<f32>) -> tensor<22x32xf32>
    %648 = stablehlo.multiply %647, %arg48 : tensor<22x32xf32>
    %cst_178 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %649 = stablehlo.broadcast_in_dim %cst_178, dims = [] : (tensor<f32>) -> tensor<22x32xf32>
    %650 = stablehlo.multiply %649, %488 : tensor<22x32xf32>
    %651 = stablehlo.multiply %650, %488 : tensor<22x32xf32>
    %652 = stablehlo.add %648, %651 : tensor<22x32xf32>
    %cst_179 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %653 = stablehlo.broadcast_in_dim %cst_179, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %654 = stablehlo.multiply %653, %arg49 : tensor<32xf32>
    %cst_180 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %655 = stablehlo.broadcast_in_dim %cst_180, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %656 = stablehlo.multiply %655, %255 : tensor<32xf32>
    %657 = stablehlo.multiply %656, %255 : tensor<32xf32>
    %658 = stablehlo.add %654, %657 : tensor<32xf32>
    %cst_181 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %659 = stablehlo.broadcast_in_dim %cst_181, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %660 = stablehlo.multiply %659, %arg50 : tensor<16x32xf32>
    %cst_182 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %661 = stablehlo.broadcast_in_dim %cst_182, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %662 = stablehlo.multiply %661, %486 : tensor<16x32xf32>
    %663 = stablehlo.multiply %662, %486 : tensor<16x32xf32>
    %664 = stablehlo.add %660, %663 : tensor<16x32xf32>
    %c_183 = stablehlo.constant dense<1> : tensor<i32>
    %665 = stablehlo.add %arg2, %c_183 : tensor<i32>
    %666 = stablehlo.convert %665 : (tensor<i32>) -> tensor<f32>
    %cst_184 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %667 = stablehlo.power %cst_184, %666 : tensor<f32>
    %cst_185 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %668 = stablehlo.subtract %cst_185, %667 : tensor<f32>
    %669 = stablehlo.broadcast_in_dim %668, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %670 = stablehlo.divide %493, %669 : tensor<32x96xf32>
    %cst_186 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %671 = stablehlo.broadcast_in_dim %cst_186, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %672 = stablehlo.multiply %671, %670 : tensor<32x96xf32>
    %cst_187 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %673 = stablehlo.power %cst_187, %666 : tensor<f32>
    %cst_188 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %674 = stablehlo.subtract %cst_188, %673 : tensor<f32>
    %675 = stablehlo.broadcast_in_dim %674, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %676 = stablehlo.divide %574, %675 : tensor<32x96xf32>
    %677 = stablehlo.sqrt %676 : tensor<32x96xf32>
    %cst_189 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %678 = stablehlo.broadcast_in_dim %cst_189, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %679 = stablehlo.add %677, %678 : tensor<32x96xf32>
    %680 = stablehlo.divide %672, %679 : tensor<32x96xf32>
    %681 = stablehlo.subtract %arg3, %680 : tensor<32x96xf32>
    %cst_190 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %682 = stablehlo.power %cst_190, %666 : tensor<f32>
    %cst_191 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %683 = stablehlo.subtract %cst_191, %682 : tensor<f32>
    %684 = stablehlo.broadcast_in_dim %683, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %685 = stablehlo.divide %498, %684 : tensor<32xf32>
    %cst_192 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %686 = stablehlo.broadcast_in_dim %cst_192, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %687 = stablehlo.multiply %686, %685 : tensor<32xf32>
    %cst_193 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %688 = stablehlo.power %cst_193, %666 : tensor<f32>
    %cst_194 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %689 = stablehlo.subtract %cst_194, %688 : tensor<f32>
    %690 = stablehlo.broadcast_in_dim %689, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %691 = stablehlo.divide %580, %690 : tensor<32xf32>
    %692 = stablehlo.sqrt %691 : tensor<32xf32>
    %cst_195 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %693 = stablehlo.broadcast_in_dim %cst_195, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %694 = stablehlo.add %692, %693 : tensor<32xf32>
    %695 = stablehlo.divide %687, %694 : tensor<32xf32>
    %696 = stablehlo.subtract %arg4, %695 : tensor<32xf32>
    %cst_196 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %697 = stablehlo.power %cst_196, %666 : tensor<f32>
    %cst_197 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %698 = stablehlo.subtract %cst_197, %697 : tensor<f32>
    %699 = stablehlo.broadcast_in_dim %698, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %700 = stablehlo.divide %503, %699 : tensor<32xf32>
    %cst_198 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %701 = stablehlo.broadcast_in_dim %cst_198, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %702 = stablehlo.multiply %701, %700 : tensor<32xf32>
    %cst_199 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %703 = stablehlo.power %cst_199, %666 : tensor<f32>
    %cst_200 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %704 = stablehlo.subtract %cst_200, %703 : tensor<f32>
    %705 = stablehlo.broadcast_in_dim %704, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %706 = stablehlo.divide %586, %705 : tensor<32xf32>
    %707 = stablehlo.sqrt %706 : tensor<32xf32>
    %cst_201 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %708 = stablehlo.broadcast_in_dim %cst_201, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %709 = stablehlo.add %707, %708 : tensor<32xf32>
    %710 = stablehlo.divide %702, %709 : tensor<32xf32>
    %711 = stablehlo.subtract %arg5, %710 : tensor<32xf32>
    %cst_202 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %712 = stablehlo.power %cst_202, %666 : tensor<f32>
    %cst_203 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %713 = stablehlo.subtract %cst_203, %712 : tensor<f32>
    %714 = stablehlo.broadcast_in_dim %713, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %715 = stablehlo.divide %508, %714 : tensor<128x32xf32>
    %cst_204 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %716 = stablehlo.broadcast_in_dim %cst_204, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %717 = stablehlo.multiply %716, %715 : tensor<128x32xf32>
    %cst_205 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %718 = stablehlo.power %cst_205, %666 : tensor<f32>
    %cst_206 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %719 = stablehlo.subtract %cst_206, %718 : tensor<f32>
    %720 = stablehlo.broadcast_in_dim %719, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %721 = stablehlo.divide %592, %720 : tensor<128x32xf32>
    %722 = stablehlo.sqrt %721 : tensor<128x32xf32>
    %cst_207 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %723 = stablehlo.broadcast_in_dim %cst_207, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %724 = stablehlo.add %722, %723 : tensor<128x32xf32>
    %725 = stablehlo.divide %717, %724 : tensor<128x32xf32>
    %726 = stablehlo.subtract %arg6, %725 : tensor<128x32xf32>
    %cst_208 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %727 = stablehlo.power %cst_208, %666 : tensor<f32>
    %cst_209 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %728 = stablehlo.subtract %cst_209, %727 : tensor<f32>
    %729 = stablehlo.broadcast_in_dim %728, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %730 = stablehlo.divide %513, %729 : tensor<32x32xf32>
    %cst_210 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %731 = stablehlo.broadcast_in_dim %cst_210, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %732 = stablehlo.multiply %731, %730 : tensor<32x32xf32>
    %cst_211 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %733 = stablehlo.power %cst_211, %666 : tensor<f32>
    %cst_212 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %734 = stablehlo.subtract %cst_212, %733 : tensor<f32>
    %735 = stablehlo.broadcast_in_dim %734, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %736 = stablehlo.divide %598, %735 : tensor<32x32xf32>
    %737 = stablehlo.sqrt %736 : tensor<32x32xf32>
    %cst_213 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %738 = stablehlo.broadcast_in_dim %cst_213, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %739 = stablehlo.add %737, %738 : tensor<32x32xf32>
    %740 = stablehlo.divide %732, %739 : tensor<32x32xf32>
    %741 = stablehlo.subtract %arg7, %740 : tensor<32x32xf32>
    %cst_214 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %742 = stablehlo.power %cst_214, %666 : tensor<f32>
    %cst_215 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %743 = stablehlo.subtract %cst_215, %742 : tensor<f32>
    %744 = stablehlo.broadcast_in_dim %743, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %745 = stablehlo.divide %518, %744 : tensor<32x128xf32>
    %cst_216 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %746 = stablehlo.broadcast_in_dim %cst_216, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %747 = stablehlo.multiply %746, %745 : tensor<32x128xf32>
    %cst_217 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %748 = stablehlo.power %cst_217, %666 : tensor<f32>
    %cst_218 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %749 = stablehlo.subtract %cst_218, %748 : tensor<f32>
    %750 = stablehlo.broadcast_in_dim %749, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %751 = stablehlo.divide %604, %750 : tensor<32x128xf32>
    %752 = stablehlo.sqrt %751 : tensor<32x128xf32>
    %cst_219 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %753 = stablehlo.broadcast_in_dim %cst_219, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %754 = stablehlo.add %752, %753 : tensor<32x128xf32>
    %755 = stablehlo.divide %747, %754 : tensor<32x128xf32>
    %756 = stablehlo.subtract %arg8, %755 : tensor<32x128xf32>
    %cst_220 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %757 = stablehlo.power %cst_220, %666 : tensor<f32>
    %cst_221 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %758 = stablehlo.subtract %cst_221, %757 : tensor<f32>
    %759 = stablehlo.broadcast_in_dim %758, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %760 = stablehlo.divide %523, %759 : tensor<32x96xf32>
    %cst_222 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %761 = stablehlo.broadcast_in_dim %cst_222, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %762 = stablehlo.multiply %761, %760 : tensor<32x96xf32>
    %cst_223 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %763 = stablehlo.power %cst_223, %666 : tensor<f32>
    %cst_224 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %764 = stablehlo.subtract %cst_224, %763 : tensor<f32>
    %765 = stablehlo.broadcast_in_dim %764, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %766 = stablehlo.divide %610, %765 : tensor<32x96xf32>
    %767 = stablehlo.sqrt %766 : tensor<32x96xf32>
    %cst_225 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %768 = stablehlo.broadcast_in_dim %cst_225, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %769 = stablehlo.add %767, %768 : tensor<32x96xf32>
    %770 = stablehlo.divide %762, %769 : tensor<32x96xf32>
    %771 = stablehlo.subtract %arg9, %770 : tensor<32x96xf32>
    %cst_226 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %772 = stablehlo.power %cst_226, %666 : tensor<f32>
    %cst_227 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %773 = stablehlo.subtract %cst_227, %772 : tensor<f32>
    %774 = stablehlo.broadcast_in_dim %773, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %775 = stablehlo.divide %528, %774 : tensor<32xf32>
    %cst_228 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %776 = stablehlo.broadcast_in_dim %cst_228, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %777 = stablehlo.multiply %776, %775 : tensor<32xf32>
    %cst_229 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %778 = stablehlo.power %cst_229, %666 : tensor<f32>
    %cst_230 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %779 = stablehlo.subtract %cst_230, %778 : tensor<f32>
    %780 = stablehlo.broadcast_in_dim %779, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %781 = stablehlo.divide %616, %780 : tensor<32xf32>
    %782 = stablehlo.sqrt %781 : tensor<32xf32>
    %cst_231 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %783 = stablehlo.broadcast_in_dim %cst_231, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %784 = stablehlo.add %782, %783 : tensor<32xf32>
    %785 = stablehlo.divide %777, %784 : tensor<32xf32>
    %786 = stablehlo.subtract %arg10, %785 : tensor<32xf32>
    %cst_232 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %787 = stablehlo.power %cst_232, %666 : tensor<f32>
    %cst_233 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %788 = stablehlo.subtract %cst_233, %787 : tensor<f32>
    %789 = stablehlo.broadcast_in_dim %788, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %790 = stablehlo.divide %533, %789 : tensor<32xf32>
    %cst_234 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %791 = stablehlo.broadcast_in_dim %cst_234, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %792 = stablehlo.multiply %791, %790 : tensor<32xf32>
    %cst_235 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %793 = stablehlo.power %cst_235, %666 : tensor<f32>
    %cst_236 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %794 = stablehlo.subtract %cst_236, %793 : tensor<f32>
    %795 = stablehlo.broadcast_in_dim %794, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %796 = stablehlo.divide %622, %795 : tensor<32xf32>
    %797 = stablehlo.sqrt %796 : tensor<32xf32>
    %cst_237 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %798 = stablehlo.broadcast_in_dim %cst_237, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %799 = stablehlo.add %797, %798 : tensor<32xf32>
    %800 = stablehlo.divide %792, %799 : tensor<32xf32>
    %801 = stablehlo.subtract %arg11, %800 : tensor<32xf32>
    %cst_238 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %802 = stablehlo.power %cst_238, %666 : tensor<f32>
    %cst_239 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %803 = stablehlo.subtract %cst_239, %802 : tensor<f32>
    %804 = stablehlo.broadcast_in_dim %803, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %805 = stablehlo.divide %538, %804 : tensor<128x32xf32>
    %cst_240 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %806 = stablehlo.broadcast_in_dim %cst_240, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %807 = stablehlo.multiply %806, %805 : tensor<128x32xf32>
    %cst_241 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %808 = stablehlo.power %cst_241, %666 : tensor<f32>
    %cst_242 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %809 = stablehlo.subtract %cst_242, %808 : tensor<f32>
    %810 = stablehlo.broadcast_in_dim %809, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %811 = stablehlo.divide %628, %810 : tensor<128x32xf32>
    %812 = stablehlo.sqrt %811 : tensor<128x32xf32>
    %cst_243 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %813 = stablehlo.broadcast_in_dim %cst_243, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
    %814 = stablehlo.add %812, %813 : tensor<128x32xf32>
    %815 = stablehlo.divide %807, %814 : tensor<128x32xf32>
    %816 = stablehlo.subtract %arg12, %815 : tensor<128x32xf32>
    %cst_244 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %817 = stablehlo.power %cst_244, %666 : tensor<f32>
    %cst_245 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %818 = stablehlo.subtract %cst_245, %817 : tensor<f32>
    %819 = stablehlo.broadcast_in_dim %818, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %820 = stablehlo.divide %543, %819 : tensor<32x32xf32>
    %cst_246 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %821 = stablehlo.broadcast_in_dim %cst_246, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %822 = stablehlo.multiply %821, %820 : tensor<32x32xf32>
    %cst_247 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %823 = stablehlo.power %cst_247, %666 : tensor<f32>
    %cst_248 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %824 = stablehlo.subtract %cst_248, %823 : tensor<f32>
    %825 = stablehlo.broadcast_in_dim %824, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %826 = stablehlo.divide %634, %825 : tensor<32x32xf32>
    %827 = stablehlo.sqrt %826 : tensor<32x32xf32>
    %cst_249 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %828 = stablehlo.broadcast_in_dim %cst_249, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %829 = stablehlo.add %827, %828 : tensor<32x32xf32>
    %830 = stablehlo.divide %822, %829 : tensor<32x32xf32>
    %831 = stablehlo.subtract %arg13, %830 : tensor<32x32xf32>
    %cst_250 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %832 = stablehlo.power %cst_250, %666 : tensor<f32>
    %cst_251 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %833 = stablehlo.subtract %cst_251, %832 : tensor<f32>
    %834 = stablehlo.broadcast_in_dim %833, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %835 = stablehlo.divide %548, %834 : tensor<32x128xf32>
    %cst_252 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %836 = stablehlo.broadcast_in_dim %cst_252, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %837 = stablehlo.multiply %836, %835 : tensor<32x128xf32>
    %cst_253 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %838 = stablehlo.power %cst_253, %666 : tensor<f32>
    %cst_254 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %839 = stablehlo.subtract %cst_254, %838 : tensor<f32>
    %840 = stablehlo.broadcast_in_dim %839, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %841 = stablehlo.divide %640, %840 : tensor<32x128xf32>
    %842 = stablehlo.sqrt %841 : tensor<32x128xf32>
    %cst_255 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %843 = stablehlo.broadcast_in_dim %cst_255, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %844 = stablehlo.add %842, %843 : tensor<32x128xf32>
    %845 = stablehlo.divide %837, %844 : tensor<32x128xf32>
    %846 = stablehlo.subtract %arg14, %845 : tensor<32x128xf32>
    %cst_256 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %847 = stablehlo.power %cst_256, %666 : tensor<f32>
    %cst_257 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %848 = stablehlo.subtract %cst_257, %847 : tensor<f32>
    %849 = stablehlo.broadcast_in_dim %848, dims = [] : (tensor<f32>) -> tensor<32x22xf32>
    %850 = stablehlo.divide %553, %849 : tensor<32x22xf32>
    %cst_258 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %851 = stablehlo.broadcast_in_dim %cst_258, dims = [] : (tensor<f32>) -> tensor<32x22xf32>
    %852 = stablehlo.multiply %851, %850 : tensor<32x22xf32>
    %cst_259 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %853 = stablehlo.power %cst_259, %666 : tensor<f32>
    %cst_260 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %854 = stablehlo.subtract %cst_260, %853 : tensor<f32>
    %855 = stablehlo.broadcast_in_dim %854, dims = [] : (tensor<f32>) -> tensor<32x22xf32>
    %856 = stablehlo.divide %646, %855 : tensor<32x22xf32>
    %857 = stablehlo.sqrt %856 : tensor<32x22xf32>
    %cst_261 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %858 = stablehlo.broadcast_in_dim %cst_261, dims = [] : (tensor<f32>) -> tensor<32x22xf32>
    %859 = stablehlo.add %857, %858 : tensor<32x22xf32>
    %860 = stablehlo.divide %852, %859 : tensor<32x22xf32>
    %861 = stablehlo.subtract %arg15, %860 : tensor<32x22xf32>
    %cst_262 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %862 = stablehlo.power %cst_262, %666 : tensor<f32>
    %cst_263 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %863 = stablehlo.subtract %cst_263, %862 : tensor<f32>
    %864 = stablehlo.broadcast_in_dim %863, dims = [] : (tensor<f32>) -> tensor<22x32xf32>
    %865 = stablehlo.divide %558, %864 : tensor<22x32xf32>
    %cst_264 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %866 = stablehlo.broadcast_in_dim %cst_264, dims = [] : (tensor<f32>) -> tensor<22x32xf32>
    %867 = stablehlo.multiply %866, %865 : tensor<22x32xf32>
    %cst_265 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %868 = stablehlo.power %cst_265, %666 : tensor<f32>
    %cst_266 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %869 = stablehlo.subtract %cst_266, %868 : tensor<f32>
    %870 = stablehlo.broadcast_in_dim %869, dims = [] : (tensor<f32>) -> tensor<22x32xf32>
    %871 = stablehlo.divide %652, %870 : tensor<22x32xf32>
    %872 = stablehlo.sqrt %871 : tensor<22x32xf32>
    %cst_267 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %873 = stablehlo.broadcast_in_dim %cst_267, dims = [] : (tensor<f32>) -> tensor<22x32xf32>
    %874 = stablehlo.add %872, %873 : tensor<22x32xf32>
    %875 = stablehlo.divide %867, %874 : tensor<22x32xf32>
    %876 = stablehlo.subtract %arg16, %875 : tensor<22x32xf32>
    %cst_268 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %877 = stablehlo.power %cst_268, %666 : tensor<f32>
    %cst_269 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %878 = stablehlo.subtract %cst_269, %877 : tensor<f32>
    %879 = stablehlo.broadcast_in_dim %878, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %880 = stablehlo.divide %563, %879 : tensor<32xf32>
    %cst_270 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %881 = stablehlo.broadcast_in_dim %cst_270, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %882 = stablehlo.multiply %881, %880 : tensor<32xf32>
    %cst_271 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %883 = stablehlo.power %cst_271, %666 : tensor<f32>
    %cst_272 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %884 = stablehlo.subtract %cst_272, %883 : tensor<f32>
    %885 = stablehlo.broadcast_in_dim %884, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %886 = stablehlo.divide %658, %885 : tensor<32xf32>
    %887 = stablehlo.sqrt %886 : tensor<32xf32>
    %cst_273 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %888 = stablehlo.broadcast_in_dim %cst_273, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %889 = stablehlo.add %887, %888 : tensor<32xf32>
    %890 = stablehlo.divide %882, %889 : tensor<32xf32>
    %891 = stablehlo.subtract %arg17, %890 : tensor<32xf32>
    %cst_274 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %892 = stablehlo.power %cst_274, %666 : tensor<f32>
    %cst_275 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %893 = stablehlo.subtract %cst_275, %892 : tensor<f32>
    %894 = stablehlo.broadcast_in_dim %893, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %895 = stablehlo.divide %568, %894 : tensor<16x32xf32>
    %cst_276 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %896 = stablehlo.broadcast_in_dim %cst_276, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %897 = stablehlo.multiply %896, %895 : tensor<16x32xf32>
    %cst_277 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %898 = stablehlo.power %cst_277, %666 : tensor<f32>
    %cst_278 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %899 = stablehlo.subtract %cst_278, %898 : tensor<f32>
    %900 = stablehlo.broadcast_in_dim %899, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %901 = stablehlo.divide %664, %900 : tensor<16x32xf32>
    %902 = stablehlo.sqrt %901 : tensor<16x32xf32>
    %cst_279 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %903 = stablehlo.broadcast_in_dim %cst_279, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %904 = stablehlo.add %902, %903 : tensor<16x32xf32>
    %905 = stablehlo.divide %897, %904 : tensor<16x32xf32>
    %906 = stablehlo.subtract %arg18, %905 : tensor<16x32xf32>
    %c_280 = stablehlo.constant dense<0> : tensor<i32>
    %907 = stablehlo.compare LT, %arg2, %c_280, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_281 = stablehlo.constant dense<8> : tensor<i32>
    %908 = stablehlo.add %arg2, %c_281 : tensor<i32>
    %909 = stablehlo.select %907, %908, %arg2 : tensor<i1>, tensor<i32>
    %910 = stablehlo.convert %909 : tensor<i32>
    %911 = stablehlo.broadcast_in_dim %910, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %912 = "stablehlo.scatter"(%arg51, %911, %229) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg52: tensor<f32>, %arg53: tensor<f32>):
      stablehlo.return %arg53 : tensor<f32>
    }) : (tensor<8xf32>, tensor<1xi32>, tensor<f32>) -> tensor<8xf32>
    return %0, %681, %696, %711, %726, %741, %756, %771, %786, %801, %816, %831, %846, %861, %876, %891, %906, %493, %498, %503, %508, %513, %518, %523, %528, %533, %538, %543, %548, %553, %558, %563, %568, %574, %580, %586, %592, %598, %604, %610, %616, %622, %628, %634, %640, %646, %652, %658, %664, %912 : tensor<i32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x22xf32>, tensor<22x32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x22xf32>, tensor<22x32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x96xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x22xf32>, tensor<22x32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<8xf32>
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
  func.func private @_where_1(%arg0: tensor<16x16xi1>, %arg1: tensor<4x2x16x16xf32>, %arg2: tensor<f32>) -> (tensor<4x2x16x16xf32>, tensor<4x2x16x16xi1>) {
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
  func.func private @take_along_axis_2(%arg0: tensor<4x16x1x1xi32>, %arg1: tensor<4x16x1xf32>) -> tensor<4x16x22xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16x22xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x16x22xf32>, tensor<4x16x1x1xi32>, tensor<4x16x1xf32>) -> tensor<4x16x22xf32>
    return %1 : tensor<4x16x22xf32>
  }
  func.func private @log_softmax_3(%arg0: tensor<4x16x22xf32>, %arg1: tensor<4x16x1xf32>, %arg2: tensor<4x16x22xf32>) -> tensor<4x16x22xf32> {
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
  func.func private @_where_4(%arg0: tensor<4x2x16x16xi1>, %arg1: tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x2x16x16xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<4x2x16x16xi1>, tensor<4x2x16x16xf32>
    return %1 : tensor<4x2x16x16xf32>
  }
  func.func private @_where_5(%arg0: tensor<16x16xi1>, %arg1: tensor<4x2x16x16xf32>, %arg2: tensor<f32>) -> tensor<4x2x16x16xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<16x16xi1>) -> tensor<4x2x16x16xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x2x16x16xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<4x2x16x16xi1>, tensor<4x2x16x16xf32>
    return %3 : tensor<4x2x16x16xf32>
  }
  func.func private @log_softmax_6(%arg0: tensor<4x16x22xf32>) -> tensor<4x16x22xf32> {
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
  func.func private @take_along_axis_7(%arg0: tensor<4x16x22xf32>, %arg1: tensor<4x16x1xi32>) -> tensor<4x16x1xf32> {
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
