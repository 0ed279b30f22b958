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

  ;; With b = u - 128, r = v - 128, and factors of 16 bits, which i32x4.dot_i16x8_s takes, on pairs (b, r):
  ;;   R = y +     r + (            26345 r + 2^15 >> 16)
  ;;   G = y -     r + (-22554 b + 18734 r + 2^15 >> 16)
  ;;   B = y + 2 * b + (-14942 b           + 2^15 >> 16)
  (func (export "convert")
    (param $y i32) (param $u i32) (param $v i32) (param $count i32) (param $target i32)
    (local $end i32) (local $luma v128) (local $b v128) (local $r v128) (local $low v128) (local $high v128)
    (local $red v128) (local $green v128) (local $blue v128) (local $rg v128) (local $bx v128) (local $half v128) (local $zero v128)
    (local.set $half (v128.const i32x4 32768 32768 32768 32768))
    (local.set $zero (v128.const i16x8 128 128 128 128 128 128 128 128))
    (local.set $end (i32.add (local.get $y) (local.get $count)))
    (loop $pixels
      (local.set $luma (v128.load8x8_u (local.get $y)))
      (local.set $b (i16x8.sub (v128.load8x8_u (local.get $u)) (local.get $zero)))
      (local.set $r (i16x8.sub (v128.load8x8_u (local.get $v)) (local.get $zero)))
      (local.set $low (i8x16.shuffle 0 1 16 17 2 3 18 19 4 5 20 21 6 7 22 23 (local.get $b) (local.get $r)))
      (local.set $high (i8x16.shuffle 8 9 24 25 10 11 26 27 12 13 28 29 14 15 30 31 (local.get $b) (local.get $r)))
      (local.set $red
        (i16x8.add (i16x8.add (local.get $luma) (local.get $r))
          (i16x8.narrow_i32x4_s
            (i32x4.shr_s (i32x4.add (i32x4.dot_i16x8_s (local.get $low) (v128.const i16x8 0 26345 0 26345 0 26345 0 26345)) (local.get $half)) (i32.const 16))
            (i32x4.shr_s (i32x4.add (i32x4.dot_i16x8_s (local.get $high) (v128.const i16x8 0 26345 0 26345 0 26345 0 26345)) (local.get $half)) (i32.const 16)))))
      (local.set $green
        (i16x8.add (i16x8.sub (local.get $luma) (local.get $r))
          (i16x8.narrow_i32x4_s
            (i32x4.shr_s (i32x4.add (i32x4.dot_i16x8_s (local.get $low) (v128.const i16x8 -22554 18734 -22554 18734 -22554 18734 -22554 18734)) (local.get $half)) (i32.const 16))
            (i32x4.shr_s (i32x4.add (i32x4.dot_i16x8_s (local.get $high) (v128.const i16x8 -22554 18734 -22554 18734 -22554 18734 -22554 18734)) (local.get $half)) (i32.const 16)))))
      (local.set $blue
        (i16x8.add (i16x8.add (local.get $luma) (i16x8.add (local.get $b) (local.get $b)))
          (i16x8.narrow_i32x4_s
            (i32x4.shr_s (i32x4.add (i32x4.dot_i16x8_s (local.get $low) (v128.const i16x8 -14942 0 -14942 0 -14942 0 -14942 0)) (local.get $half)) (i32.const 16))
            (i32x4.shr_s (i32x4.add (i32x4.dot_i16x8_s (local.get $high) (v128.const i16x8 -14942 0 -14942 0 -14942 0 -14942 0)) (local.get $half)) (i32.const 16)))))
      ;; Narrowing clamps.
      (local.set $rg (i8x16.narrow_i16x8_u (local.get $red) (local.get $green)))
      (local.set $bx (i8x16.narrow_i16x8_u (local.get $blue) (local.get $blue)))
      (v128.store align=1 (local.get $target) (i8x16.shuffle 0 8 16 24 1 9 17 25 2 10 18 26 3 11 19 27 (local.get $rg) (local.get $bx)))
      (v128.store offset=16 align=1 (local.get $target) (i8x16.shuffle 4 12 20 28 5 13 21 29 6 14 22 30 7 15 23 31 (local.get $rg) (local.get $bx)))
      (local.set $u (i32.add (local.get $u) (i32.const 8)))
      (local.set $v (i32.add (local.get $v) (i32.const 8)))
      (local.set $target (i32.add (local.get $target) (i32.const 32)))
      (br_if $pixels (i32.lt_u (local.tee $y (i32.add (local.get $y) (i32.const 8))) (local.get $end))))))
