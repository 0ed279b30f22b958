;; Bilinear sampling of a turned rectangle, on WebAssembly SIMD. `crop-kernel.ts` documents the arguments, `crop-region.ts` has the same in
;; plain JavaScript; `node scripts/build-kernels.mjs` compiles this file.
;;
;; As in the JavaScript, places are float64, and colors and weights float32, in the same order, so that both return the same bytes.
(module
  (memory (export "memory") 1)

  (func (export "sample")
    (param $from i32) (param $stride i32) (param $width i32) (param $height i32) (param $border i32) (param $isBgr i32)
    (param $a f64) (param $b f64) (param $c f64) (param $d f64) (param $e f64) (param $f f64)
    (param $columns i32) (param $rows i32) (param $to i32)
    (local $u i32) (local $v i32) (local $left i32) (local $top i32) (local $lastColumn i32) (local $lastRow i32)
    (local $x0 i32) (local $x1 i32) (local $y0 i32) (local $y1 i32)
    (local $ad v128) (local $be v128) (local $cf v128) (local $last v128) (local $row v128)
    (local $place v128) (local $floor v128) (local $after v128) (local $before v128) (local $after32 v128) (local $before32 v128)
    (local $ws v128) (local $es v128) (local $order v128)
    (local.set $order (v128.const i8x16 0 4 8 12 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1))
    (if (local.get $isBgr) (then (local.set $order (v128.const i8x16 8 4 0 12 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1))))
    (local.set $lastColumn (i32.sub (local.get $width) (i32.const 1)))
    (local.set $lastRow (i32.sub (local.get $height) (i32.const 1)))
    ;; Two numbers of float64: that of x, and that of y.
    (local.set $ad (f64x2.replace_lane 1 (f64x2.splat (local.get $a)) (local.get $d)))
    (local.set $be (f64x2.replace_lane 1 (f64x2.splat (local.get $b)) (local.get $e)))
    (local.set $cf (f64x2.replace_lane 1 (f64x2.splat (local.get $c)) (local.get $f)))
    (local.set $last (f64x2.convert_low_i32x4_s (i32x4.replace_lane 1 (i32x4.splat (local.get $lastColumn)) (local.get $lastRow))))
    (loop $rows
      (local.set $row (f64x2.mul (local.get $be) (f64x2.splat (f64.convert_i32_s (local.get $v)))))
      (local.set $u (i32.const 0))
      (loop $pixels
        (local.set $place (f64x2.add
          (f64x2.add (f64x2.mul (local.get $ad) (f64x2.splat (f64.convert_i32_s (local.get $u)))) (local.get $row))
          (local.get $cf)))
        (block $sampled
          (if (i32.eq (local.get $border) (i32.const 2))
            (then
              (if (v128.any_true (v128.or
                    (f64x2.lt (local.get $place) (v128.const f64x2 0 0))
                    (f64x2.gt (local.get $place) (local.get $last))))
                (then
                  (i32.store align=1 (local.get $to) (i32.const 0))
                  (br $sampled)))))
          (local.set $floor (f64x2.floor (local.get $place)))
          (local.set $after (f64x2.sub (local.get $place) (local.get $floor)))
          (local.set $before (f64x2.sub (v128.const f64x2 1 1) (local.get $after)))
          (local.set $after32 (f32x4.demote_f64x2_zero (local.get $after)))
          (local.set $before32 (f32x4.demote_f64x2_zero (local.get $before)))
          (local.set $floor (f64x2.add (local.get $floor) (v128.const f64x2 6755399441055744 6755399441055744)))
          (local.set $left (i32x4.extract_lane 0 (local.get $floor)))
          (local.set $top (i32x4.extract_lane 2 (local.get $floor)))
          (local.set $x0 (local.get $left))
          (local.set $x1 (i32.add (local.get $left) (i32.const 1)))
          (local.set $y0 (local.get $top))
          (local.set $y1 (i32.add (local.get $top) (i32.const 1)))
          ;; As unsigned numbers, those below 0 are large.
          (if (i32.or (i32.ge_u (local.get $left) (local.get $lastColumn)) (i32.ge_u (local.get $top) (local.get $lastRow)))
            (then
              (local.set $x0 (select (local.get $lastColumn) (local.get $x0) (i32.gt_s (local.get $x0) (local.get $lastColumn))))
              (local.set $x0 (select (i32.const 0) (local.get $x0) (i32.lt_s (local.get $x0) (i32.const 0))))
              (local.set $x1 (select (local.get $lastColumn) (local.get $x1) (i32.gt_s (local.get $x1) (local.get $lastColumn))))
              (local.set $x1 (select (i32.const 0) (local.get $x1) (i32.lt_s (local.get $x1) (i32.const 0))))
              (local.set $y0 (select (local.get $lastRow) (local.get $y0) (i32.gt_s (local.get $y0) (local.get $lastRow))))
              (local.set $y0 (select (i32.const 0) (local.get $y0) (i32.lt_s (local.get $y0) (i32.const 0))))
              (local.set $y1 (select (local.get $lastRow) (local.get $y1) (i32.gt_s (local.get $y1) (local.get $lastRow))))
              (local.set $y1 (select (i32.const 0) (local.get $y1) (i32.lt_s (local.get $y1) (i32.const 0))))
              (if (local.get $border)
                (then
                  (if (i32.ne (local.get $x0) (local.get $left))
                    (then (local.set $before32 (f32x4.replace_lane 0 (local.get $before32) (f32.const 0)))))
                  (if (i32.ne (local.get $y0) (local.get $top))
                    (then (local.set $before32 (f32x4.replace_lane 1 (local.get $before32) (f32.const 0)))))
                  (if (i32.ne (local.get $x1) (i32.add (local.get $left) (i32.const 1)))
                    (then (local.set $after32 (f32x4.replace_lane 0 (local.get $after32) (f32.const 0)))))
                  (if (i32.ne (local.get $y1) (i32.add (local.get $top) (i32.const 1)))
                    (then (local.set $after32 (f32x4.replace_lane 1 (local.get $after32) (f32.const 0)))))))))
          (local.set $x0 (i32.shl (local.get $x0) (i32.const 2)))
          (local.set $x1 (i32.shl (local.get $x1) (i32.const 2)))
          (local.set $y0 (i32.add (local.get $from) (i32.mul (local.get $y0) (local.get $stride))))
          (local.set $y1 (i32.add (local.get $from) (i32.mul (local.get $y1) (local.get $stride))))
          (local.set $ws (i8x16.shuffle 0 1 2 3 0 1 2 3 0 1 2 3 0 1 2 3 (local.get $before32) (local.get $before32)))
          (local.set $es (i8x16.shuffle 0 1 2 3 0 1 2 3 0 1 2 3 0 1 2 3 (local.get $after32) (local.get $after32)))
          ;; 1.5 · 2^23 more leaves no digits behind the point: it rounds halves to even numbers, and the lowest byte is the number. The fourth
          ;; byte is overwritten by the next pixel.
          (v128.store32_lane align=1 0 (local.get $to) (i8x16.swizzle
            (f32x4.add (v128.const f32x4 12582912 12582912 12582912 12582912) (f32x4.add
              (f32x4.mul (i8x16.shuffle 4 5 6 7 4 5 6 7 4 5 6 7 4 5 6 7 (local.get $before32) (local.get $before32)) (f32x4.add
                (f32x4.mul (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_u (i16x8.extend_low_i8x16_u (v128.load32_zero align=1 (i32.add (local.get $y0) (local.get $x0)))))) (local.get $ws))
                (f32x4.mul (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_u (i16x8.extend_low_i8x16_u (v128.load32_zero align=1 (i32.add (local.get $y0) (local.get $x1)))))) (local.get $es))))
              (f32x4.mul (i8x16.shuffle 4 5 6 7 4 5 6 7 4 5 6 7 4 5 6 7 (local.get $after32) (local.get $after32)) (f32x4.add
                (f32x4.mul (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_u (i16x8.extend_low_i8x16_u (v128.load32_zero align=1 (i32.add (local.get $y1) (local.get $x0)))))) (local.get $ws))
                (f32x4.mul (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_u (i16x8.extend_low_i8x16_u (v128.load32_zero align=1 (i32.add (local.get $y1) (local.get $x1)))))) (local.get $es))))))
            (local.get $order))))
        (local.set $to (i32.add (local.get $to) (i32.const 3)))
        (br_if $pixels (i32.lt_s (local.tee $u (i32.add (local.get $u) (i32.const 1))) (local.get $columns))))
      (br_if $rows (i32.lt_s (local.tee $v (i32.add (local.get $v) (i32.const 1))) (local.get $rows))))))
