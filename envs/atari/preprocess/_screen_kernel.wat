;; From two screens of palette indexes to gray, and from gray to 84 by 84.
;;
;; After a change: deno run -A envs/atari/preprocess/testdata/assemble.ts
;;
;; All numbers here are exact integers, so that the plain form in TypeScript
;; gives the same bytes. Where things lie in memory is told by the arguments.
(module
  (import "env" "memory" (memory 1))

  ;; The gray of each pair of pixels of two screens.
  ;;
  ;; $a, $b   screens of palette indexes, a multiple of 16 bytes
  ;; $end     where $a ends
  ;; $out     as many grays
  ;; $pairs   256 by 256 grays: of each two palette indexes
  (func (export "gray")
    (param $a i32) (param $b i32) (param $end i32) (param $out i32)
    (param $pairs i32)
    (local $va v128) (local $vb v128)
    (local $lastA v128) (local $lastB v128)
    (local $low v128) (local $high v128)
    (local $grays v128)
    ;; The last vectors are all zeros: these are their grays.
    (local.set $grays (i8x16.splat (i32.load8_u (local.get $pairs))))
    (loop $vectors
      (local.set $va (v128.load (local.get $a)))
      (local.set $vb (v128.load (local.get $b)))
      ;; Most of a screen is background: it is looked up once.
      (if
        (v128.any_true
          (v128.or
            (v128.xor (local.get $va) (local.get $lastA))
            (v128.xor (local.get $vb) (local.get $lastB))))
        (then
          (local.set $lastA (local.get $va))
          (local.set $lastB (local.get $vb))
          ;; Each pair's place in the table, as 16 bits.
          (local.set $low
            (i16x8.add
              (i16x8.shl (i16x8.extend_low_i8x16_u (local.get $va)) (i32.const 8))
              (i16x8.extend_low_i8x16_u (local.get $vb))))
          (local.set $high
            (i16x8.add
              (i16x8.shl (i16x8.extend_high_i8x16_u (local.get $va)) (i32.const 8))
              (i16x8.extend_high_i8x16_u (local.get $vb))))
          (local.set $grays
            (v128.load8_lane 0
              (i32.add (local.get $pairs) (i16x8.extract_lane_u 0 (local.get $low)))
              (local.get $grays)))
          (local.set $grays
            (v128.load8_lane 1
              (i32.add (local.get $pairs) (i16x8.extract_lane_u 1 (local.get $low)))
              (local.get $grays)))
          (local.set $grays
            (v128.load8_lane 2
              (i32.add (local.get $pairs) (i16x8.extract_lane_u 2 (local.get $low)))
              (local.get $grays)))
          (local.set $grays
            (v128.load8_lane 3
              (i32.add (local.get $pairs) (i16x8.extract_lane_u 3 (local.get $low)))
              (local.get $grays)))
          (local.set $grays
            (v128.load8_lane 4
              (i32.add (local.get $pairs) (i16x8.extract_lane_u 4 (local.get $low)))
              (local.get $grays)))
          (local.set $grays
            (v128.load8_lane 5
              (i32.add (local.get $pairs) (i16x8.extract_lane_u 5 (local.get $low)))
              (local.get $grays)))
          (local.set $grays
            (v128.load8_lane 6
              (i32.add (local.get $pairs) (i16x8.extract_lane_u 6 (local.get $low)))
              (local.get $grays)))
          (local.set $grays
            (v128.load8_lane 7
              (i32.add (local.get $pairs) (i16x8.extract_lane_u 7 (local.get $low)))
              (local.get $grays)))
          (local.set $grays
            (v128.load8_lane 8
              (i32.add (local.get $pairs) (i16x8.extract_lane_u 0 (local.get $high)))
              (local.get $grays)))
          (local.set $grays
            (v128.load8_lane 9
              (i32.add (local.get $pairs) (i16x8.extract_lane_u 1 (local.get $high)))
              (local.get $grays)))
          (local.set $grays
            (v128.load8_lane 10
              (i32.add (local.get $pairs) (i16x8.extract_lane_u 2 (local.get $high)))
              (local.get $grays)))
          (local.set $grays
            (v128.load8_lane 11
              (i32.add (local.get $pairs) (i16x8.extract_lane_u 3 (local.get $high)))
              (local.get $grays)))
          (local.set $grays
            (v128.load8_lane 12
              (i32.add (local.get $pairs) (i16x8.extract_lane_u 4 (local.get $high)))
              (local.get $grays)))
          (local.set $grays
            (v128.load8_lane 13
              (i32.add (local.get $pairs) (i16x8.extract_lane_u 5 (local.get $high)))
              (local.get $grays)))
          (local.set $grays
            (v128.load8_lane 14
              (i32.add (local.get $pairs) (i16x8.extract_lane_u 6 (local.get $high)))
              (local.get $grays)))
          (local.set $grays
            (v128.load8_lane 15
              (i32.add (local.get $pairs) (i16x8.extract_lane_u 7 (local.get $high)))
              (local.get $grays)))))
      (v128.store (local.get $out) (local.get $grays))
      (local.set $b (i32.add (local.get $b) (i32.const 16)))
      (local.set $out (i32.add (local.get $out) (i32.const 16)))
      (local.set $a (i32.add (local.get $a) (i32.const 16)))
      (br_if $vectors (i32.lt_u (local.get $a) (local.get $end)))))

  ;; A 200th of each number, rounded to the nearest, ties to even.
  (func $average (param $sums v128) (result v128)
    (local $raised v128)
    (local $quotients v128)
    (local $ties v128)
    (local.set $raised
      (i16x8.add (local.get $sums) (v128.const i16x8 100 100 100 100 100 100 100 100)))
    ;; An 8th first, so that 10486 / 2^18 is near enough to a 25th.
    (local.set $quotients (i16x8.shr_u (local.get $raised) (i32.const 3)))
    (local.set $quotients
      (i16x8.narrow_i32x4_u
        (i32x4.shr_u
          (i32x4.extmul_low_i16x8_u
            (local.get $quotients)
            (v128.const i16x8 10486 10486 10486 10486 10486 10486 10486 10486))
          (i32.const 18))
        (i32x4.shr_u
          (i32x4.extmul_high_i16x8_u
            (local.get $quotients)
            (v128.const i16x8 10486 10486 10486 10486 10486 10486 10486 10486))
          (i32.const 18))))
    (local.set $ties
      (i16x8.eq
        (i16x8.mul
          (local.get $quotients)
          (v128.const i16x8 200 200 200 200 200 200 200 200))
        (local.get $raised)))
    (i16x8.sub
      (local.get $quotients)
      (v128.and
        (v128.and (local.get $ties) (local.get $quotients))
        (v128.const i16x8 1 1 1 1 1 1 1 1))))

  ;; Eight numbers of 16 bits, picked from sixteen.
  (func $pick
    (param $from i32) (param $low v128) (param $high v128)
    (result v128)
    (v128.or
      (i8x16.swizzle (v128.load offset=0 (local.get $from)) (local.get $low))
      (i8x16.swizzle (v128.load offset=16 (local.get $from)) (local.get $high))))

  ;; Eight sums of two or three neighbours each, weighted.
  (func $weigh
    (param $from i32) (param $low v128) (param $high v128)
    (param $w0 v128) (param $w1 v128) (param $w2 v128)
    (result v128)
    (i16x8.add
      (i16x8.add
        (i16x8.mul
          (call $pick (local.get $from) (local.get $low) (local.get $high))
          (local.get $w0))
        (i16x8.mul
          (call $pick
            (i32.add (local.get $from) (i32.const 2))
            (local.get $low) (local.get $high))
          (local.get $w1)))
      (i16x8.mul
        (call $pick
          (i32.add (local.get $from) (i32.const 4))
          (local.get $low) (local.get $high))
        (local.get $w2))))

  ;; The area averages of 210 rows of 160 grays: 84 rows of 84.
  ;;
  ;; Two rows of the result stand for five of the source; a half of the middle
  ;; one goes to each. Twice the sums of columns are at most 1275, and 40 times
  ;; that is below 2^16.
  ;;
  ;; $gray    210 rows of 160 bytes
  ;; $out     84 rows of 84 bytes
  ;; $sums    room for two rows of 160 numbers of 16 bits and 16 more
  ;; $taps    what makes eight columns, 11 times: 96 bytes with the first column
  ;;          of the result, twice the first one of the source, the picks of two
  ;;          vectors and the weights of three neighbours
  (func (export "resize")
    (param $gray i32) (param $out i32) (param $sums i32) (param $taps i32)
    (local $rows i32) (local $x i32) (local $at i32) (local $tap i32)
    (local $low v128) (local $high v128)
    (local $w0 v128) (local $w1 v128) (local $w2 v128)
    (local $r0 v128) (local $r1 v128) (local $r2 v128) (local $r3 v128) (local $r4 v128)
    (local $averages v128)
    (loop $fives
      (local.set $x (i32.const 0))
      (loop $columns
        (local.set $at (i32.add (local.get $gray) (local.get $x)))
        (local.set $r0 (v128.load offset=0 (local.get $at)))
        (local.set $r1 (v128.load offset=160 (local.get $at)))
        (local.set $r2 (v128.load offset=320 (local.get $at)))
        (local.set $r3 (v128.load offset=480 (local.get $at)))
        (local.set $r4 (v128.load offset=640 (local.get $at)))
        (local.set $at
          (i32.add (local.get $sums) (i32.shl (local.get $x) (i32.const 1))))
        (local.set $low (i16x8.extend_low_i8x16_u (local.get $r2)))
        (local.set $high (i16x8.extend_high_i8x16_u (local.get $r2)))
        (v128.store offset=0 (local.get $at)
          (i16x8.add
            (i16x8.shl
              (i16x8.add
                (i16x8.extend_low_i8x16_u (local.get $r0))
                (i16x8.extend_low_i8x16_u (local.get $r1)))
              (i32.const 1))
            (local.get $low)))
        (v128.store offset=16 (local.get $at)
          (i16x8.add
            (i16x8.shl
              (i16x8.add
                (i16x8.extend_high_i8x16_u (local.get $r0))
                (i16x8.extend_high_i8x16_u (local.get $r1)))
              (i32.const 1))
            (local.get $high)))
        (v128.store offset=352 (local.get $at)
          (i16x8.add
            (i16x8.shl
              (i16x8.add
                (i16x8.extend_low_i8x16_u (local.get $r3))
                (i16x8.extend_low_i8x16_u (local.get $r4)))
              (i32.const 1))
            (local.get $low)))
        (v128.store offset=368 (local.get $at)
          (i16x8.add
            (i16x8.shl
              (i16x8.add
                (i16x8.extend_high_i8x16_u (local.get $r3))
                (i16x8.extend_high_i8x16_u (local.get $r4)))
              (i32.const 1))
            (local.get $high)))
        (br_if $columns
          (i32.lt_u
            (local.tee $x (i32.add (local.get $x) (i32.const 16)))
            (i32.const 160))))
      (local.set $tap (local.get $taps))
      (local.set $x (i32.const 0))
      (loop $eights
        (local.set $low (v128.load offset=16 (local.get $tap)))
        (local.set $high (v128.load offset=32 (local.get $tap)))
        (local.set $w0 (v128.load offset=48 (local.get $tap)))
        (local.set $w1 (v128.load offset=64 (local.get $tap)))
        (local.set $w2 (v128.load offset=80 (local.get $tap)))
        (local.set $at
          (i32.add (local.get $sums) (i32.load offset=4 (local.get $tap))))
        (local.set $averages
          (i8x16.narrow_i16x8_u
            (call $average
              (call $weigh (local.get $at) (local.get $low) (local.get $high)
                (local.get $w0) (local.get $w1) (local.get $w2)))
            (call $average
              (call $weigh (i32.add (local.get $at) (i32.const 352))
                (local.get $low) (local.get $high)
                (local.get $w0) (local.get $w1) (local.get $w2)))))
        (local.set $at
          (i32.add (local.get $out) (i32.load offset=0 (local.get $tap))))
        (v128.store64_lane offset=0 0 (local.get $at) (local.get $averages))
        (v128.store64_lane offset=84 1 (local.get $at) (local.get $averages))
        (local.set $tap (i32.add (local.get $tap) (i32.const 96)))
        (br_if $eights
          (i32.lt_u
            (local.tee $x (i32.add (local.get $x) (i32.const 1)))
            (i32.const 11))))
      (local.set $gray (i32.add (local.get $gray) (i32.const 800)))
      (local.set $out (i32.add (local.get $out) (i32.const 168)))
      (br_if $fives
        (i32.lt_u
          (local.tee $rows (i32.add (local.get $rows) (i32.const 1)))
          (i32.const 42)))))
)
