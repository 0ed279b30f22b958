;; libyuv's color conversion on WebAssembly SIMD. `video-kernel.ts` documents the arguments, `video-kernel-js.ts` is the same in
;; plain JavaScript; `node scripts/build-kernels.mjs` compiles this file.
(module
  (memory (export "memory") 1)

  ;; Sixteen pixels at a time, of eight chroma samples. Sums saturate at 16 bits, which a shift by 6 and the clamp to 255 do not show.
  (func (export "convert")
    (param $y i32) (param $u i32) (param $v i32) (param $interleaved i32) (param $count i32) (param $target i32)
    (param $gain i32) (param $bias i32) (param $blueU i32) (param $greenU i32) (param $greenV i32) (param $redV i32)
    (local $end i32) (local $luma v128) (local $us v128) (local $vs v128) (local $low v128) (local $high v128)
    (local $r v128) (local $g v128) (local $b v128) (local $rg v128) (local $bx v128)
    (local $gains v128) (local $biases v128) (local $blueUs v128) (local $greenUs v128) (local $greenVs v128) (local $redVs v128)
    (local $middle v128)
    (local.set $gains (i16x8.splat (local.get $gain)))
    (local.set $biases (i16x8.splat (local.get $bias)))
    (local.set $blueUs (i16x8.splat (local.get $blueU)))
    (local.set $greenUs (i16x8.splat (local.get $greenU)))
    (local.set $greenVs (i16x8.splat (local.get $greenV)))
    (local.set $redVs (i16x8.splat (local.get $redV)))
    (local.set $middle (v128.const i16x8 128 128 128 128 128 128 128 128))
    (local.set $end (i32.add (local.get $y) (local.get $count)))
    (loop $pixels
      (if (local.get $interleaved)
        (then
          (local.set $luma (v128.load align=1 (local.get $u)))
          (local.set $us (v128.and (local.get $luma) (v128.const i16x8 255 255 255 255 255 255 255 255)))
          (local.set $vs (i16x8.shr_u (local.get $luma) (i32.const 8)))
          (local.set $u (i32.add (local.get $u) (i32.const 16))))
        (else
          (local.set $us (v128.load8x8_u (local.get $u)))
          (local.set $vs (v128.load8x8_u (local.get $v)))
          (local.set $u (i32.add (local.get $u) (i32.const 8)))
          (local.set $v (i32.add (local.get $v) (i32.const 8)))))
      (local.set $us (i16x8.sub (local.get $us) (local.get $middle)))
      (local.set $vs (i16x8.sub (local.get $vs) (local.get $middle)))
      (local.set $r (i16x8.mul (local.get $vs) (local.get $redVs)))
      (local.set $g (i16x8.add (i16x8.mul (local.get $us) (local.get $greenUs)) (i16x8.mul (local.get $vs) (local.get $greenVs))))
      (local.set $b (i16x8.mul (local.get $us) (local.get $blueUs)))

      ;; luma * 257 * gain, of which the upper 16 bits of 32 are taken.
      (local.set $luma (v128.load align=1 (local.get $y)))
      (local.set $low (i8x16.shuffle 0 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7 (local.get $luma) (local.get $luma)))
      (local.set $high (i8x16.shuffle 8 8 9 9 10 10 11 11 12 12 13 13 14 14 15 15 (local.get $luma) (local.get $luma)))
      (local.set $low (i16x8.add (local.get $biases) (i8x16.shuffle 2 3 6 7 10 11 14 15 18 19 22 23 26 27 30 31
        (i32x4.extmul_low_i16x8_u (local.get $low) (local.get $gains)) (i32x4.extmul_high_i16x8_u (local.get $low) (local.get $gains)))))
      (local.set $high (i16x8.add (local.get $biases) (i8x16.shuffle 2 3 6 7 10 11 14 15 18 19 22 23 26 27 30 31
        (i32x4.extmul_low_i16x8_u (local.get $high) (local.get $gains)) (i32x4.extmul_high_i16x8_u (local.get $high) (local.get $gains)))))

      ;; Each chroma sample serves two pixels.
      (local.set $r (i8x16.narrow_i16x8_u
        (i16x8.shr_s (i16x8.add_sat_s (local.get $low) (i8x16.shuffle 0 1 0 1 2 3 2 3 4 5 4 5 6 7 6 7 (local.get $r) (local.get $r))) (i32.const 6))
        (i16x8.shr_s (i16x8.add_sat_s (local.get $high) (i8x16.shuffle 8 9 8 9 10 11 10 11 12 13 12 13 14 15 14 15 (local.get $r) (local.get $r))) (i32.const 6))))
      (local.set $g (i8x16.narrow_i16x8_u
        (i16x8.shr_s (i16x8.sub_sat_s (local.get $low) (i8x16.shuffle 0 1 0 1 2 3 2 3 4 5 4 5 6 7 6 7 (local.get $g) (local.get $g))) (i32.const 6))
        (i16x8.shr_s (i16x8.sub_sat_s (local.get $high) (i8x16.shuffle 8 9 8 9 10 11 10 11 12 13 12 13 14 15 14 15 (local.get $g) (local.get $g))) (i32.const 6))))
      (local.set $b (i8x16.narrow_i16x8_u
        (i16x8.shr_s (i16x8.add_sat_s (local.get $low) (i8x16.shuffle 0 1 0 1 2 3 2 3 4 5 4 5 6 7 6 7 (local.get $b) (local.get $b))) (i32.const 6))
        (i16x8.shr_s (i16x8.add_sat_s (local.get $high) (i8x16.shuffle 8 9 8 9 10 11 10 11 12 13 12 13 14 15 14 15 (local.get $b) (local.get $b))) (i32.const 6))))

      (local.set $rg (i8x16.shuffle 0 16 1 17 2 18 3 19 4 20 5 21 6 22 7 23 (local.get $r) (local.get $g)))
      (local.set $bx (i8x16.shuffle 0 16 1 17 2 18 3 19 4 20 5 21 6 22 7 23 (local.get $b) (local.get $b)))
      (v128.store align=1 (local.get $target) (i8x16.shuffle 0 1 16 17 2 3 18 19 4 5 20 21 6 7 22 23 (local.get $rg) (local.get $bx)))
      (v128.store offset=16 align=1 (local.get $target) (i8x16.shuffle 8 9 24 25 10 11 26 27 12 13 28 29 14 15 30 31 (local.get $rg) (local.get $bx)))
      (local.set $rg (i8x16.shuffle 8 24 9 25 10 26 11 27 12 28 13 29 14 30 15 31 (local.get $r) (local.get $g)))
      (local.set $bx (i8x16.shuffle 8 24 9 25 10 26 11 27 12 28 13 29 14 30 15 31 (local.get $b) (local.get $b)))
      (v128.store offset=32 align=1 (local.get $target) (i8x16.shuffle 0 1 16 17 2 3 18 19 4 5 20 21 6 7 22 23 (local.get $rg) (local.get $bx)))
      (v128.store offset=48 align=1 (local.get $target) (i8x16.shuffle 8 9 24 25 10 11 26 27 12 13 28 29 14 15 30 31 (local.get $rg) (local.get $bx)))
      (local.set $target (i32.add (local.get $target) (i32.const 64)))
      (br_if $pixels (i32.lt_u (local.tee $y (i32.add (local.get $y) (i32.const 16))) (local.get $end))))))
