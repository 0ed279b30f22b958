;; The two passes of bilinear sampling in float64, on WebAssembly SIMD. `interpolate-kernel.ts` documents the arguments,
;; `interpolate-kernel-js.ts` is the same in plain JavaScript; `node scripts/build-kernels.mjs` compiles this file.
(module
  (memory (export "memory") 1)

  ;; One pixel at a time. The next one is read once.
  (func (export "pairs")
    (param $source i32) (param $step i32) (param $count i32) (param $target i32)
    (local $end i32) (local $value f64) (local $next f64)
    (local.set $end (i32.add (local.get $target) (i32.shl (local.get $count) (i32.const 4))))
    (local.set $value (f64.promote_f32 (f32.load (local.get $source))))
    (loop $pixel
      (local.set $source (i32.add (local.get $source) (local.get $step)))
      (local.set $next (f64.promote_f32 (f32.load (local.get $source))))
      (f64.store (local.get $target) (local.get $value))
      (f64.store offset=8 (local.get $target) (f64.sub (local.get $next) (local.get $value)))
      (local.set $value (local.get $next))
      (br_if $pixel (i32.lt_u (local.tee $target (i32.add (local.get $target) (i32.const 16))) (local.get $end)))))

  ;; Two columns at a time: value + difference * weight.
  (func (export "across")
    (param $pairs i32) (param $left i32) (param $weight i32) (param $count i32) (param $target i32)
    (local $end i32) (local $a v128) (local $b v128)
    (local.set $end (i32.add (local.get $target) (i32.shl (local.get $count) (i32.const 3))))
    (loop $two
      (local.set $a (v128.load align=8 (i32.add (local.get $pairs) (i32.load (local.get $left)))))
      (local.set $b (v128.load align=8 (i32.add (local.get $pairs) (i32.load offset=4 (local.get $left)))))
      (v128.store align=8 (local.get $target)
        (f64x2.add (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $a) (local.get $b))
          (f64x2.mul (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $a) (local.get $b))
            (v128.load align=8 (local.get $weight)))))
      (local.set $left (i32.add (local.get $left) (i32.const 8)))
      (local.set $weight (i32.add (local.get $weight) (i32.const 16)))
      (br_if $two (i32.lt_u (local.tee $target (i32.add (local.get $target) (i32.const 16))) (local.get $end)))))

  (func (export "down")
    (param $above i32) (param $below i32) (param $weight f64) (param $count i32) (param $target i32)
    (local $end i32) (local $weights v128) (local $a v128)
    (local.set $weights (f64x2.splat (local.get $weight)))
    (local.set $end (i32.add (local.get $target) (i32.shl (local.get $count) (i32.const 3))))
    (loop $pair
      (local.set $a (v128.load align=8 (local.get $above)))
      (v128.store align=8 (local.get $target)
        (f64x2.add (local.get $a)
          (f64x2.mul (f64x2.sub (v128.load align=8 (local.get $below)) (local.get $a)) (local.get $weights))))
      (local.set $above (i32.add (local.get $above) (i32.const 16)))
      (local.set $below (i32.add (local.get $below) (i32.const 16)))
      (br_if $pair (i32.lt_u (local.tee $target (i32.add (local.get $target) (i32.const 16))) (local.get $end)))))

  ;; Four columns of all rows at a time, rounded to float32.
  (func (export "downToFloats")
    (param $above i32) (param $below i32) (param $weights i32) (param $rows i32) (param $count i32) (param $target i32) (param $stride i32)
    (local $end i32) (local $left i32) (local $w i32) (local $to i32)
    (local $a v128) (local $b v128) (local $da v128) (local $db v128) (local $weight v128)
    (local.set $end (i32.add (local.get $target) (i32.shl (local.get $count) (i32.const 2))))
    (loop $four
      (local.set $a (v128.load align=8 (local.get $above)))
      (local.set $b (v128.load offset=16 align=8 (local.get $above)))
      (local.set $da (f64x2.sub (v128.load align=8 (local.get $below)) (local.get $a)))
      (local.set $db (f64x2.sub (v128.load offset=16 align=8 (local.get $below)) (local.get $b)))
      (local.set $left (local.get $rows))
      (local.set $w (local.get $weights))
      (local.set $to (local.get $target))
      (loop $row
        (local.set $weight (v128.load64_splat (local.get $w)))
        (v128.store align=4 (local.get $to)
          (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
            (f32x4.demote_f64x2_zero (f64x2.add (local.get $a) (f64x2.mul (local.get $da) (local.get $weight))))
            (f32x4.demote_f64x2_zero (f64x2.add (local.get $b) (f64x2.mul (local.get $db) (local.get $weight))))))
        (local.set $w (i32.add (local.get $w) (i32.const 8)))
        (local.set $to (i32.add (local.get $to) (local.get $stride)))
        (br_if $row (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
      (local.set $above (i32.add (local.get $above) (i32.const 32)))
      (local.set $below (i32.add (local.get $below) (i32.const 32)))
      (br_if $four (i32.lt_u (local.tee $target (i32.add (local.get $target) (i32.const 16))) (local.get $end))))))
