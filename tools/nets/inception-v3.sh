# inception-v3.sh - several ways side by side, whose channels are joined at the end of a block.
#
#           .-- 1x1 ----------------.
#     $at --+-- 1x1 -- 5x5 ---------+--> concat
#           +-- 1x1 -- 3x3 -- 3x3 --+
#           '-- mean 3x3 -- 1x1 ----'
#
# The names of blocks are those of the authors' code, 5b to 7c; a size such as 1x7 is height and width.

# unit NAME OUTPUTS KERNEL [FIELD]...: what every convolution of this net is.
unit() {
    normed "$block/$@"
    relu "$at/relu"
}

# Begins a block, begins a way at the block's input, and ends the block with what its ways have made.
begin() {
    block=$1
    from=$at
}

way() {
    at=$from
}

join() {
    for way; do
        set -- "$@" "$block/$way"
        shift
    done
    concat "$block" "$@"
}

mean() { # the mean of 3 x 3 neighbours
    at=$from
    pool "$block/mean" AVE 'kernel_size: 3' 'stride: 1' 'pad: 1'
}

largest() {
    at=$from
    pool "$block/max" MAX 'kernel_size: 3' 'stride: 2'
}

grid35() { # BLOCK POOLED: 35 x 35 places, 5 x 5 neighbours
    begin "$1"
    way && unit 1x1 64 1
    way && unit 5x5_1 48 1 && unit 5x5_2 64 5 'pad: 2'
    way && unit 3x3dbl_1 64 1 && unit 3x3dbl_2 96 3 'pad: 1' && unit 3x3dbl_3 96 3 'pad: 1'
    mean && unit pool "$2" 1
    join 1x1 5x5_2 3x3dbl_3 pool
}

to17() { # from 35 x 35 places to 17 x 17
    begin 6a
    way && unit 3x3 384 3 'stride: 2'
    way && unit 3x3dbl_1 64 1 && unit 3x3dbl_2 96 3 'pad: 1' && unit 3x3dbl_3 96 3 'stride: 2'
    largest
    join 3x3 3x3dbl_3 max
}

row() { # NAME OUTPUTS LENGTH: neighbours in a row; column: in a column
    unit "$1" "$2" "1x$3" "pad_w: $(($3 / 2))"
}

column() {
    unit "$1" "$2" "$3x1" "pad_h: $(($3 / 2))"
}

grid17() { # BLOCK CHANNELS: rows and columns of seven neighbours
    begin "$1"
    way && unit 1x1 192 1
    way && unit 7x7_1 "$2" 1 && row 7x7_2 "$2" 7 && column 7x7_3 192 7
    way && unit 7x7dbl_1 "$2" 1 && column 7x7dbl_2 "$2" 7 && row 7x7dbl_3 "$2" 7
    column 7x7dbl_4 "$2" 7 && row 7x7dbl_5 192 7
    mean && unit pool 192 1
    join 1x1 7x7_3 7x7dbl_5 pool
}

# The auxiliary head: a loss of its own half way up, in training only.
helper() {
    trunk=$at
    only='include { phase: TRAIN }'
    block=aux
    pool aux/mean AVE 'kernel_size: 5' 'stride: 3'
    unit conv0 128 1
    unit conv1 768 5
    fc aux/fc 1000
    open aux/loss SoftmaxWithLoss aux/loss "$at" label
    printf '  loss_weight: 0.4\n}\n'
    only=
    at=$trunk
}

to8() { # from 17 x 17 places to 8 x 8
    begin 7a
    way && unit 3x3_1 192 1 && unit 3x3_2 320 3 'stride: 2'
    way && unit 7x7x3_1 192 1 && row 7x7x3_2 192 7 && column 7x7x3_3 192 7
    unit 7x7x3_4 192 3 'stride: 2'
    largest
    join 3x3_2 7x7x3_4 max
}

# Reads $at twice: three neighbours in a row beside three in a column.
fork() { # NAME
    stem=$at
    row "$1a" 384 3
    at=$stem
    column "$1b" 384 3
}

grid8() { # BLOCK
    begin "$1"
    way && unit 1x1 320 1
    way && unit 3x3_1 384 1 && fork 3x3_2
    way && unit 3x3dbl_1 448 1 && unit 3x3dbl_2 384 3 'pad: 1' && fork 3x3dbl_3
    mean && unit pool 192 1
    join 1x1 3x3_2a 3x3_2b 3x3dbl_3a 3x3dbl_3b pool
}

stem() { # from 299 x 299 pixels to 35 x 35 places
    normed 1a_3x3 32 3 'stride: 2' && relu 1a_3x3/relu
    normed 2a_3x3 32 3 && relu 2a_3x3/relu
    normed 2b_3x3 64 3 'pad: 1' && relu 2b_3x3/relu
    pool 3a MAX 'kernel_size: 3' 'stride: 2'
    normed 3b_1x1 80 1 && relu 3b_1x1/relu
    normed 4a_3x3 192 3 && relu 4a_3x3/relu
    pool 5a MAX 'kernel_size: 3' 'stride: 2'
}

write() {
    filler='type: "msra"'
    bias='type: "constant" value: 0'
    eps=0.001
    cat <<'END'
# Inception-V3: Szegedy, Vanhoucke, Ioffe, Shlens and Wojna, "Rethinking the Inception Architecture for
# Computer Vision", arXiv 1512.00567, with the auxiliary head. 299 x 299 pixels, 1000 classes, 27 161 264
# parameters, of which 3 326 696 are the head's.
#
# Written by tools/net; README.md beside this file has the recipe. Names of files are seen from where the
# command runs.
name: "inception-v3"
END
    data 299 32 25 ilsvrc12 'mean_value: 128
scale: 0.0078125'
    stem
    grid35 5b 32
    grid35 5c 64
    grid35 5d 64
    to17
    grid17 6b 128
    grid17 6c 160
    grid17 6d 160
    grid17 6e 192
    helper
    to8
    grid8 7b
    grid8 7c
    pool pool8 AVE 'global_pooling: true'
    dropout drop 0.2
    fc fc 1000
    loss
}
