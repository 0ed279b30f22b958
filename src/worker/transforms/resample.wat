;; The two passes of Pillow's 8-bit resampling on WebAssembly SIMD, and the pass that makes the tensor. `resample-kernel.ts` documents the arguments,
;; `resample-kernel-js.ts` is the same in plain JavaScript; `node scripts/build-kernels.mjs` compiles this file.
;;
;; A weight w has up to 24 bits and i32x4.dot_i16x8_s takes 16, so w = high * 2^15 + low, and
;; sum(w * p) = (sum(high * p) << 15) + sum(low * p). All of it is arithmetic modulo 2^32 and the total fits 32 bits,
;; so it is exact however many taps there are.
;;
;; The weights of four taps 0..3 lie in memory as int16 high0 high1 high2 high3 low0 low1 low2 low3.
(module
  (memory (export "memory") 1)

  ;; Pixels of four bytes. One dot product adds two taps for four channels: a swizzle spreads two pixels to int16 c0 c0' c1 c1' c2 c2' c3 c3'.
  ;; The rows are taken two at a time, which halves the loads of weights. The last two taps of an odd number of pairs are not computed.
  (func (export "horizontal4")
    (param $source i32) (param $sourceStride i32) (param $target i32) (param $targetStride i32) (param $rows i32)
    (param $starts i32) (param $weights i32) (param $outputs i32) (param $pairs i32)
    (local $x i32) (local $left i32) (local $w i32) (local $s i32) (local $to i32)
    (local $high01 v128) (local $high23 v128) (local $low01 v128) (local $low23 v128)
    (local $a v128) (local $b v128) (local $p v128)
    (local $high v128) (local $low v128) (local $nextHigh v128) (local $nextLow v128)
    (loop $row
      (local.set $x (i32.const 0))
      (local.set $w (local.get $weights))
      (local.set $to (local.get $target))
      (loop $output
        (local.set $s (i32.add (local.get $source) (i32.load (i32.add (local.get $starts) (i32.shl (local.get $x) (i32.const 2))))))
        (local.set $high (v128.const i32x4 0 0 0 0))
        (local.set $low (v128.const i32x4 0x200000 0x200000 0x200000 0x200000))
        (local.set $nextHigh (local.get $high))
        (local.set $nextLow (local.get $low))
        (local.set $left (local.get $pairs))
        (block $lastPair
          (br_if $lastPair (i32.lt_s (local.get $left) (i32.const 2)))
          (loop $group
            (local.set $high01 (v128.load32_splat (local.get $w)))
            (local.set $high23 (v128.load32_splat offset=4 (local.get $w)))
            (local.set $low01 (v128.load32_splat offset=8 (local.get $w)))
            (local.set $low23 (v128.load32_splat offset=12 (local.get $w)))

            (local.set $p (v128.load (local.get $s)))
            (local.set $a (i8x16.swizzle (local.get $p) (v128.const i8x16 0 -1 4 -1 1 -1 5 -1 2 -1 6 -1 3 -1 7 -1)))
            (local.set $b (i8x16.swizzle (local.get $p) (v128.const i8x16 8 -1 12 -1 9 -1 13 -1 10 -1 14 -1 11 -1 15 -1)))
            (local.set $high (i32x4.add (local.get $high) (i32x4.dot_i16x8_s (local.get $a) (local.get $high01))))
            (local.set $low (i32x4.add (local.get $low) (i32x4.dot_i16x8_s (local.get $a) (local.get $low01))))
            (local.set $high (i32x4.add (local.get $high) (i32x4.dot_i16x8_s (local.get $b) (local.get $high23))))
            (local.set $low (i32x4.add (local.get $low) (i32x4.dot_i16x8_s (local.get $b) (local.get $low23))))

            (local.set $p (v128.load (i32.add (local.get $s) (local.get $sourceStride))))
            (local.set $a (i8x16.swizzle (local.get $p) (v128.const i8x16 0 -1 4 -1 1 -1 5 -1 2 -1 6 -1 3 -1 7 -1)))
            (local.set $b (i8x16.swizzle (local.get $p) (v128.const i8x16 8 -1 12 -1 9 -1 13 -1 10 -1 14 -1 11 -1 15 -1)))
            (local.set $nextHigh (i32x4.add (local.get $nextHigh) (i32x4.dot_i16x8_s (local.get $a) (local.get $high01))))
            (local.set $nextLow (i32x4.add (local.get $nextLow) (i32x4.dot_i16x8_s (local.get $a) (local.get $low01))))
            (local.set $nextHigh (i32x4.add (local.get $nextHigh) (i32x4.dot_i16x8_s (local.get $b) (local.get $high23))))
            (local.set $nextLow (i32x4.add (local.get $nextLow) (i32x4.dot_i16x8_s (local.get $b) (local.get $low23))))

            (local.set $s (i32.add (local.get $s) (i32.const 16)))
            (local.set $w (i32.add (local.get $w) (i32.const 16)))
            (br_if $group (i32.gt_s (local.tee $left (i32.sub (local.get $left) (i32.const 2))) (i32.const 1)))))
        (if (local.get $left)
          (then
            (local.set $high01 (v128.load32_splat (local.get $w)))
            (local.set $low01 (v128.load32_splat offset=8 (local.get $w)))
            (local.set $a (i8x16.swizzle (v128.load64_zero (local.get $s)) (v128.const i8x16 0 -1 4 -1 1 -1 5 -1 2 -1 6 -1 3 -1 7 -1)))
            (local.set $b (i8x16.swizzle (v128.load64_zero (i32.add (local.get $s) (local.get $sourceStride))) (v128.const i8x16 0 -1 4 -1 1 -1 5 -1 2 -1 6 -1 3 -1 7 -1)))
            (local.set $high (i32x4.add (local.get $high) (i32x4.dot_i16x8_s (local.get $a) (local.get $high01))))
            (local.set $low (i32x4.add (local.get $low) (i32x4.dot_i16x8_s (local.get $a) (local.get $low01))))
            (local.set $nextHigh (i32x4.add (local.get $nextHigh) (i32x4.dot_i16x8_s (local.get $b) (local.get $high01))))
            (local.set $nextLow (i32x4.add (local.get $nextLow) (i32x4.dot_i16x8_s (local.get $b) (local.get $low01))))
            (local.set $w (i32.add (local.get $w) (i32.const 16)))))
        (local.set $p (i16x8.narrow_i32x4_s
          (i32x4.shr_s (i32x4.add (i32x4.shl (local.get $high) (i32.const 15)) (local.get $low)) (i32.const 22))
          (i32x4.shr_s (i32x4.add (i32x4.shl (local.get $nextHigh) (i32.const 15)) (local.get $nextLow)) (i32.const 22))))
        (local.set $p (i8x16.narrow_i16x8_u (local.get $p) (local.get $p)))
        (v128.store32_lane 0 (local.get $to) (local.get $p))
        (v128.store32_lane 1 (i32.add (local.get $to) (local.get $targetStride)) (local.get $p))
        (local.set $to (i32.add (local.get $to) (i32.const 4)))
        (br_if $output (i32.lt_u (local.tee $x (i32.add (local.get $x) (i32.const 1))) (local.get $outputs))))
      (local.set $source (i32.add (local.get $source) (i32.shl (local.get $sourceStride) (i32.const 1))))
      (local.set $target (i32.add (local.get $target) (i32.shl (local.get $targetStride) (i32.const 1))))
      (br_if $row (i32.gt_s (local.tee $rows (i32.sub (local.get $rows) (i32.const 2))) (i32.const 0)))))

  ;; The same for pixels of one or three bytes, with an order of bytes that depends on their number.
  (func (export "horizontal")
    (param $source i32) (param $sourceStride i32) (param $target i32) (param $targetStride i32) (param $rows i32)
    (param $starts i32) (param $weights i32) (param $outputs i32) (param $groups i32) (param $step i32)
    (local $order v128) (local $x i32) (local $g i32) (local $w i32) (local $s i32) (local $advance i32) (local $to i32)
    (local $high01 v128) (local $high23 v128) (local $low01 v128) (local $low23 v128)
    (local $a v128) (local $b v128) (local $p v128)
    (local $high v128) (local $low v128) (local $nextHigh v128) (local $nextLow v128)
    (local.set $order (v128.const i8x16 0 3 1 4 2 5 2 5 6 9 7 10 8 11 8 11))
    (if (i32.eq (local.get $step) (i32.const 1))
      (then (local.set $order (v128.const i8x16 0 1 0 1 0 1 0 1 2 3 2 3 2 3 2 3))))
    (local.set $advance (i32.shl (local.get $step) (i32.const 2)))
    (loop $row
      (local.set $x (i32.const 0))
      (local.set $w (local.get $weights))
      (local.set $to (local.get $target))
      (loop $output
        (local.set $s (i32.add (local.get $source) (i32.load (i32.add (local.get $starts) (i32.shl (local.get $x) (i32.const 2))))))
        (local.set $high (v128.const i32x4 0 0 0 0))
        (local.set $low (v128.const i32x4 0x200000 0x200000 0x200000 0x200000))
        (local.set $nextHigh (local.get $high))
        (local.set $nextLow (local.get $low))
        (local.set $g (local.get $groups))
        (loop $group
          (local.set $high01 (v128.load32_splat (local.get $w)))
          (local.set $high23 (v128.load32_splat offset=4 (local.get $w)))
          (local.set $low01 (v128.load32_splat offset=8 (local.get $w)))
          (local.set $low23 (v128.load32_splat offset=12 (local.get $w)))

          (local.set $p (i8x16.swizzle (v128.load (local.get $s)) (local.get $order)))
          (local.set $a (i16x8.extend_low_i8x16_u (local.get $p)))
          (local.set $b (i16x8.extend_high_i8x16_u (local.get $p)))
          (local.set $high (i32x4.add (local.get $high) (i32x4.dot_i16x8_s (local.get $a) (local.get $high01))))
          (local.set $low (i32x4.add (local.get $low) (i32x4.dot_i16x8_s (local.get $a) (local.get $low01))))
          (local.set $high (i32x4.add (local.get $high) (i32x4.dot_i16x8_s (local.get $b) (local.get $high23))))
          (local.set $low (i32x4.add (local.get $low) (i32x4.dot_i16x8_s (local.get $b) (local.get $low23))))

          (local.set $p (i8x16.swizzle (v128.load (i32.add (local.get $s) (local.get $sourceStride))) (local.get $order)))
          (local.set $a (i16x8.extend_low_i8x16_u (local.get $p)))
          (local.set $b (i16x8.extend_high_i8x16_u (local.get $p)))
          (local.set $nextHigh (i32x4.add (local.get $nextHigh) (i32x4.dot_i16x8_s (local.get $a) (local.get $high01))))
          (local.set $nextLow (i32x4.add (local.get $nextLow) (i32x4.dot_i16x8_s (local.get $a) (local.get $low01))))
          (local.set $nextHigh (i32x4.add (local.get $nextHigh) (i32x4.dot_i16x8_s (local.get $b) (local.get $high23))))
          (local.set $nextLow (i32x4.add (local.get $nextLow) (i32x4.dot_i16x8_s (local.get $b) (local.get $low23))))

          (local.set $s (i32.add (local.get $s) (local.get $advance)))
          (local.set $w (i32.add (local.get $w) (i32.const 16)))
          (br_if $group (local.tee $g (i32.sub (local.get $g) (i32.const 1)))))
        ;; Four bytes are written whatever the step: what is too much is overwritten by the next pixel, or falls into the padding of the row.
        (local.set $p (i16x8.narrow_i32x4_s
          (i32x4.shr_s (i32x4.add (i32x4.shl (local.get $high) (i32.const 15)) (local.get $low)) (i32.const 22))
          (i32x4.shr_s (i32x4.add (i32x4.shl (local.get $nextHigh) (i32.const 15)) (local.get $nextLow)) (i32.const 22))))
        (local.set $p (i8x16.narrow_i16x8_u (local.get $p) (local.get $p)))
        (v128.store32_lane 0 (local.get $to) (local.get $p))
        (v128.store32_lane 1 (i32.add (local.get $to) (local.get $targetStride)) (local.get $p))
        (local.set $to (i32.add (local.get $to) (local.get $step)))
        (br_if $output (i32.lt_u (local.tee $x (i32.add (local.get $x) (i32.const 1))) (local.get $outputs))))
      (local.set $source (i32.add (local.get $source) (i32.shl (local.get $sourceStride) (i32.const 1))))
      (local.set $target (i32.add (local.get $target) (i32.shl (local.get $targetStride) (i32.const 1))))
      (br_if $row (i32.gt_s (local.tee $rows (i32.sub (local.get $rows) (i32.const 2))) (i32.const 0)))))

  ;; Rows are plain bytes here, sixteen at a time: two rows are interleaved, and one dot product adds two taps for four bytes.
  (func (export "vertical")
    (param $source i32) (param $stride i32) (param $target i32) (param $rows i32)
    (param $starts i32) (param $weights i32) (param $groups i32) (param $pairs i32)
    (local $x i32) (local $y i32) (local $g i32) (local $w i32) (local $s i32)
    (local $k v128) (local $l v128) (local $r0 v128) (local $r1 v128) (local $p v128) (local $q v128)
    (local $h0 v128) (local $h1 v128) (local $h2 v128) (local $h3 v128)
    (local $l0 v128) (local $l1 v128) (local $l2 v128) (local $l3 v128)
    (loop $row
      (local.set $x (i32.const 0))
      (loop $block
        (local.set $s (i32.add (i32.add (local.get $source) (local.get $x))
          (i32.load (i32.add (local.get $starts) (i32.shl (local.get $y) (i32.const 2))))))
        (local.set $w (local.get $weights))
        (local.set $h0 (v128.const i32x4 0 0 0 0))
        (local.set $h1 (local.get $h0)) (local.set $h2 (local.get $h0)) (local.set $h3 (local.get $h0))
        (local.set $l0 (v128.const i32x4 0x200000 0x200000 0x200000 0x200000))
        (local.set $l1 (local.get $l0)) (local.set $l2 (local.get $l0)) (local.set $l3 (local.get $l0))
        (local.set $g (i32.const 0))
        (loop $pair
          (local.set $k (v128.load32_splat (local.get $w)))
          (local.set $l (v128.load32_splat offset=8 (local.get $w)))
          (local.set $r0 (v128.load (local.get $s)))
          (local.set $r1 (v128.load (local.tee $s (i32.add (local.get $s) (local.get $stride)))))
          (local.set $s (i32.add (local.get $s) (local.get $stride)))
          (local.set $p (i8x16.shuffle 0 16 1 17 2 18 3 19 4 20 5 21 6 22 7 23 (local.get $r0) (local.get $r1)))
          (local.set $q (i16x8.extend_low_i8x16_u (local.get $p)))
          (local.set $h0 (i32x4.add (local.get $h0) (i32x4.dot_i16x8_s (local.get $q) (local.get $k))))
          (local.set $l0 (i32x4.add (local.get $l0) (i32x4.dot_i16x8_s (local.get $q) (local.get $l))))
          (local.set $q (i16x8.extend_high_i8x16_u (local.get $p)))
          (local.set $h1 (i32x4.add (local.get $h1) (i32x4.dot_i16x8_s (local.get $q) (local.get $k))))
          (local.set $l1 (i32x4.add (local.get $l1) (i32x4.dot_i16x8_s (local.get $q) (local.get $l))))
          (local.set $p (i8x16.shuffle 8 24 9 25 10 26 11 27 12 28 13 29 14 30 15 31 (local.get $r0) (local.get $r1)))
          (local.set $q (i16x8.extend_low_i8x16_u (local.get $p)))
          (local.set $h2 (i32x4.add (local.get $h2) (i32x4.dot_i16x8_s (local.get $q) (local.get $k))))
          (local.set $l2 (i32x4.add (local.get $l2) (i32x4.dot_i16x8_s (local.get $q) (local.get $l))))
          (local.set $q (i16x8.extend_high_i8x16_u (local.get $p)))
          (local.set $h3 (i32x4.add (local.get $h3) (i32x4.dot_i16x8_s (local.get $q) (local.get $k))))
          (local.set $l3 (i32x4.add (local.get $l3) (i32x4.dot_i16x8_s (local.get $q) (local.get $l))))
          ;; The pairs of a group lie 4 bytes apart, the groups 16.
          (local.set $w (i32.add (local.get $w) (select (i32.const 12) (i32.const 4) (i32.and (local.get $g) (i32.const 1)))))
          (br_if $pair (i32.lt_s (local.tee $g (i32.add (local.get $g) (i32.const 1))) (local.get $pairs))))
        (v128.store (i32.add (local.get $target) (local.get $x)) (i8x16.narrow_i16x8_u
          (i16x8.narrow_i32x4_s
            (i32x4.shr_s (i32x4.add (i32x4.shl (local.get $h0) (i32.const 15)) (local.get $l0)) (i32.const 22))
            (i32x4.shr_s (i32x4.add (i32x4.shl (local.get $h1) (i32.const 15)) (local.get $l1)) (i32.const 22)))
          (i16x8.narrow_i32x4_s
            (i32x4.shr_s (i32x4.add (i32x4.shl (local.get $h2) (i32.const 15)) (local.get $l2)) (i32.const 22))
            (i32x4.shr_s (i32x4.add (i32x4.shl (local.get $h3) (i32.const 15)) (local.get $l3)) (i32.const 22)))))
        (br_if $block (i32.lt_u (local.tee $x (i32.add (local.get $x) (i32.const 16))) (local.get $stride))))
      (local.set $weights (i32.add (local.get $weights) (i32.shl (local.get $groups) (i32.const 4))))
      (local.set $target (i32.add (local.get $target) (local.get $stride)))
      (br_if $row (i32.lt_u (local.tee $y (i32.add (local.get $y) (i32.const 1))) (local.get $rows)))))

  ;; Four numbers at a time.
  (func (export "lookUp")
    (param $source i32) (param $step i32) (param $count i32) (param $table i32) (param $target i32) (param $advance i32)
    (local.set $advance (i32.shl (local.get $advance) (i32.const 2)))
    (loop $four
      (f32.store (local.get $target) (f32.load (i32.add (local.get $table) (i32.shl (i32.load8_u (local.get $source)) (i32.const 2)))))
      (f32.store (local.tee $target (i32.add (local.get $target) (local.get $advance)))
        (f32.load (i32.add (local.get $table) (i32.shl (i32.load8_u (local.tee $source (i32.add (local.get $source) (local.get $step)))) (i32.const 2)))))
      (f32.store (local.tee $target (i32.add (local.get $target) (local.get $advance)))
        (f32.load (i32.add (local.get $table) (i32.shl (i32.load8_u (local.tee $source (i32.add (local.get $source) (local.get $step)))) (i32.const 2)))))
      (f32.store (local.tee $target (i32.add (local.get $target) (local.get $advance)))
        (f32.load (i32.add (local.get $table) (i32.shl (i32.load8_u (local.tee $source (i32.add (local.get $source) (local.get $step)))) (i32.const 2)))))
      (local.set $target (i32.add (local.get $target) (local.get $advance)))
      (local.set $source (i32.add (local.get $source) (local.get $step)))
      (br_if $four (i32.gt_s (local.tee $count (i32.sub (local.get $count) (i32.const 4))) (i32.const 0))))))
