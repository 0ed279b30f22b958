;; libjpeg's chroma upsampling and color conversion on WebAssembly SIMD. `color-kernel.ts` documents the arguments,
;; `color-kernel-js.ts` is the same in plain JavaScript; `node scripts/build-kernels.mjs` compiles this file.
(module
  (memory (export "memory") 1)

  (func (export "upsample")
    (param $near i32) (param $far i32) (param $count i32) (param $left i32) (param $right i32) (param $sums i32) (param $target i32)
    (local $i i32) (local $at i32) (local $here v128) (local $lefts v128) (local $rights v128)
    (local.set $lefts (i16x8.splat (local.get $left)))
    (local.set $rights (i16x8.splat (local.get $right)))
    ;; Down: sums[1 + i] = 3 * near[i] + far[i], eight at a time.
    (local.set $at (i32.add (local.get $sums) (i32.const 2)))
    (loop $down
      (v128.store align=2 (local.get $at)
        (i16x8.add
          (i16x8.mul (v128.load8x8_u (i32.add (local.get $near) (local.get $i))) (v128.const i16x8 3 3 3 3 3 3 3 3))
          (v128.load8x8_u (i32.add (local.get $far) (local.get $i)))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $down (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 8))) (local.get $count))))
    ;; The edges' sums are repeated.
    (i32.store16 (local.get $sums) (i32.load16_u offset=2 (local.get $sums)))
    (local.set $at (i32.add (local.get $sums) (i32.shl (local.get $count) (i32.const 1))))
    (i32.store16 offset=2 (local.get $at) (i32.load16_u (local.get $at)))
    ;; Across: eight sums give sixteen samples.
    (local.set $i (i32.const 0))
    (local.set $at (local.get $sums))
    (loop $across
      (local.set $here (i16x8.mul (v128.load offset=2 align=2 (local.get $at)) (v128.const i16x8 3 3 3 3 3 3 3 3)))
      ;; Both are below 256, so the right ones fit into the upper bytes.
      (v128.store align=1 (i32.add (local.get $target) (i32.shl (local.get $i) (i32.const 1)))
        (v128.or
          (i16x8.shr_u (i16x8.add (i16x8.add (local.get $here) (v128.load align=2 (local.get $at))) (local.get $lefts)) (i32.const 4))
          (i16x8.shl
            (i16x8.shr_u (i16x8.add (i16x8.add (local.get $here) (v128.load offset=4 align=2 (local.get $at))) (local.get $rights)) (i32.const 4))
            (i32.const 8))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $across (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 8))) (local.get $count)))))

  ;; With b = u - 128, r = v - 128, and libjpeg's factors in units of 2^-16:
  ;;   R = y + (91881 r + 2^15 >> 16)
  ;;   G = y - r + (-22554 b + 18734 r + 2^15 >> 16)
  ;;   B = y + (116130 b + 2^15 >> 16)
  ;; i32x4.dot_i16x8_s computes G's sum on pairs (b, r). For the 256 values of r and b, what is added for R is (2r * 22971 + 2^14 >> 15), and for B
  ;; (2b * 29033 + 2^14 >> 15), which i16x8.q15mulr_sat_s computes. Two times eight pixels are converted, then sixteen written.
  (func (export "convert")
    (param $y i32) (param $u i32) (param $v i32) (param $count i32) (param $target i32)
    (local $end i32) (local $luma v128) (local $b v128) (local $r v128)
    (local $red0 v128) (local $green0 v128) (local $blue0 v128) (local $red1 v128) (local $green1 v128) (local $blue1 v128)
    (local $rg v128) (local $bx v128)
    (local $zero v128) (local $round v128) (local $ofR v128) (local $ofB v128) (local $ofBR v128)
    (local.set $zero (i16x8.splat (i32.const 128)))
    (local.set $round (i32x4.splat (i32.const 32768)))
    (local.set $ofR (i16x8.splat (i32.const 22971)))
    (local.set $ofB (i16x8.splat (i32.const 29033)))
    (local.set $ofBR (v128.const i16x8 -22554 18734 -22554 18734 -22554 18734 -22554 18734))
    (local.set $end (i32.add (local.get $y) (local.get $count)))
    (loop $pixels
      (local.set $luma (v128.load8x8_u (local.get $y)))
      (local.set $b (i16x8.sub (v128.load8x8_u (local.get $u)) (local.get $zero)))
      (local.set $r (i16x8.sub (v128.load8x8_u (local.get $v)) (local.get $zero)))
      (local.set $red0 (i16x8.add (local.get $luma) (i16x8.q15mulr_sat_s (i16x8.shl (local.get $r) (i32.const 1)) (local.get $ofR))))
      (local.set $blue0 (i16x8.add (local.get $luma) (i16x8.q15mulr_sat_s (i16x8.shl (local.get $b) (i32.const 1)) (local.get $ofB))))
      (local.set $green0
        (i16x8.add (i16x8.sub (local.get $luma) (local.get $r))
          (i16x8.narrow_i32x4_s
            (i32x4.shr_s (i32x4.add (local.get $round)
              (i32x4.dot_i16x8_s (i8x16.shuffle 0 1 16 17 2 3 18 19 4 5 20 21 6 7 22 23 (local.get $b) (local.get $r)) (local.get $ofBR))) (i32.const 16))
            (i32x4.shr_s (i32x4.add (local.get $round)
              (i32x4.dot_i16x8_s (i8x16.shuffle 8 9 24 25 10 11 26 27 12 13 28 29 14 15 30 31 (local.get $b) (local.get $r)) (local.get $ofBR))) (i32.const 16)))))
      (local.set $luma (v128.load8x8_u offset=8 (local.get $y)))
      (local.set $b (i16x8.sub (v128.load8x8_u offset=8 (local.get $u)) (local.get $zero)))
      (local.set $r (i16x8.sub (v128.load8x8_u offset=8 (local.get $v)) (local.get $zero)))
      (local.set $red1 (i16x8.add (local.get $luma) (i16x8.q15mulr_sat_s (i16x8.shl (local.get $r) (i32.const 1)) (local.get $ofR))))
      (local.set $blue1 (i16x8.add (local.get $luma) (i16x8.q15mulr_sat_s (i16x8.shl (local.get $b) (i32.const 1)) (local.get $ofB))))
      (local.set $green1
        (i16x8.add (i16x8.sub (local.get $luma) (local.get $r))
          (i16x8.narrow_i32x4_s
            (i32x4.shr_s (i32x4.add (local.get $round)
              (i32x4.dot_i16x8_s (i8x16.shuffle 0 1 16 17 2 3 18 19 4 5 20 21 6 7 22 23 (local.get $b) (local.get $r)) (local.get $ofBR))) (i32.const 16))
            (i32x4.shr_s (i32x4.add (local.get $round)
              (i32x4.dot_i16x8_s (i8x16.shuffle 8 9 24 25 10 11 26 27 12 13 28 29 14 15 30 31 (local.get $b) (local.get $r)) (local.get $ofBR))) (i32.const 16)))))
      ;; Narrowing clamps.
      (local.set $red0 (i8x16.narrow_i16x8_u (local.get $red0) (local.get $red1)))
      (local.set $green0 (i8x16.narrow_i16x8_u (local.get $green0) (local.get $green1)))
      (local.set $blue0 (i8x16.narrow_i16x8_u (local.get $blue0) (local.get $blue1)))
      (local.set $rg (i8x16.shuffle 0 16 1 17 2 18 3 19 4 20 5 21 6 22 7 23 (local.get $red0) (local.get $green0)))
      (local.set $bx (i8x16.shuffle 0 16 1 17 2 18 3 19 4 20 5 21 6 22 7 23 (local.get $blue0) (local.get $blue0)))
      (v128.store align=1 (local.get $target) (i8x16.shuffle 0 1 16 17 2 3 18 19 4 5 20 21 6 7 22 23 (local.get $rg) (local.get $bx)))
      (v128.store offset=16 align=1 (local.get $target) (i8x16.shuffle 8 9 24 25 10 11 26 27 12 13 28 29 14 15 30 31 (local.get $rg) (local.get $bx)))
      (local.set $rg (i8x16.shuffle 8 24 9 25 10 26 11 27 12 28 13 29 14 30 15 31 (local.get $red0) (local.get $green0)))
      (local.set $bx (i8x16.shuffle 8 24 9 25 10 26 11 27 12 28 13 29 14 30 15 31 (local.get $blue0) (local.get $blue0)))
      (v128.store offset=32 align=1 (local.get $target) (i8x16.shuffle 0 1 16 17 2 3 18 19 4 5 20 21 6 7 22 23 (local.get $rg) (local.get $bx)))
      (v128.store offset=48 align=1 (local.get $target) (i8x16.shuffle 8 9 24 25 10 11 26 27 12 13 28 29 14 15 30 31 (local.get $rg) (local.get $bx)))
      (local.set $u (i32.add (local.get $u) (i32.const 16)))
      (local.set $v (i32.add (local.get $v) (i32.const 16)))
      (local.set $target (i32.add (local.get $target) (i32.const 64)))
      (br_if $pixels (i32.lt_u (local.tee $y (i32.add (local.get $y) (i32.const 16))) (local.get $end))))))
