;; Four frames of bytes side by side: byte i of each becomes the four bytes of
;; pixel i. After a change: deno run -A buffers/testdata/stack_kernel.ts
(module
  (import "env" "memory" (memory 1))

  ;; $a to $d  frames of $size bytes, and up to 15 more that may be anything
  ;; $out      four times as many bytes, and up to 60 more that are written
  (func (export "interleave")
    (param $a i32) (param $b i32) (param $c i32) (param $d i32)
    (param $out i32) (param $size i32)
    (local $end i32)
    (local $va v128) (local $vb v128) (local $vc v128) (local $vd v128)
    (local $ab v128) (local $cd v128)
    (local.set $end (i32.add (local.get $a) (local.get $size)))
    (loop $vectors
      (local.set $va (v128.load (local.get $a)))
      (local.set $vb (v128.load (local.get $b)))
      (local.set $vc (v128.load (local.get $c)))
      (local.set $vd (v128.load (local.get $d)))
      ;; Pairs of bytes of the first eight pixels, then pairs of pairs.
      (local.set $ab
        (i8x16.shuffle 0 16 1 17 2 18 3 19 4 20 5 21 6 22 7 23
          (local.get $va) (local.get $vb)))
      (local.set $cd
        (i8x16.shuffle 0 16 1 17 2 18 3 19 4 20 5 21 6 22 7 23
          (local.get $vc) (local.get $vd)))
      (v128.store (local.get $out)
        (i8x16.shuffle 0 1 16 17 2 3 18 19 4 5 20 21 6 7 22 23
          (local.get $ab) (local.get $cd)))
      (v128.store offset=16 (local.get $out)
        (i8x16.shuffle 8 9 24 25 10 11 26 27 12 13 28 29 14 15 30 31
          (local.get $ab) (local.get $cd)))
      ;; The same of the last eight.
      (local.set $ab
        (i8x16.shuffle 8 24 9 25 10 26 11 27 12 28 13 29 14 30 15 31
          (local.get $va) (local.get $vb)))
      (local.set $cd
        (i8x16.shuffle 8 24 9 25 10 26 11 27 12 28 13 29 14 30 15 31
          (local.get $vc) (local.get $vd)))
      (v128.store offset=32 (local.get $out)
        (i8x16.shuffle 0 1 16 17 2 3 18 19 4 5 20 21 6 7 22 23
          (local.get $ab) (local.get $cd)))
      (v128.store offset=48 (local.get $out)
        (i8x16.shuffle 8 9 24 25 10 11 26 27 12 13 28 29 14 15 30 31
          (local.get $ab) (local.get $cd)))
      (local.set $a (i32.add (local.get $a) (i32.const 16)))
      (local.set $b (i32.add (local.get $b) (i32.const 16)))
      (local.set $c (i32.add (local.get $c) (i32.const 16)))
      (local.set $d (i32.add (local.get $d) (i32.const 16)))
      (local.set $out (i32.add (local.get $out) (i32.const 64)))
      (br_if $vectors (i32.lt_u (local.get $a) (local.get $end))))))
