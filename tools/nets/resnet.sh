# resnet.sh - residual nets of bottlenecks: what a block computes is added to what it reads.
#
#     $at --+--- 1x1 --- 3x3 --- 1x1 ---+--> sum, relu
#           '--- as it is, or 1x1 ------'
#
# Names are those of the authors' own nets: res3b_branch2a is the first convolution of the second block of
# stage 3.

# block NAME CHANNELS STRIDE: the first of a stage, whose shortcut has a convolution, gives a stride.
block() {
    from=$at
    short=$at
    if [ -n "$3" ]; then
        normed "$1_branch1" $(($2 * 4)) 1 "$3"
        short=$at
    fi
    at=$from
    normed "$1_branch2a" "$2" 1 "$3"
    relu "$1_branch2a/relu"
    normed "$1_branch2b" "$2" 3 'pad: 1'
    relu "$1_branch2b/relu"
    normed "$1_branch2c" $(($2 * 4)) 1
    open "$1" Eltwise "$1" "$short" "$at"
    echo 'operation: SUM' | message eltwise_param
    at=$1
    relu "$1/relu"
}

# stage NUMBER CHANNELS STRIDE NAME...: a block for each name.
stage() {
    number=$1 channels=$2 stride=$3
    shift 3
    for name; do
        block "res$number$name" "$channels" "$stride"
        stride=
    done
}

# The names of N blocks when a letter is not enough: a b1 b2 ...
many() {
    echo a
    seq -f 'b%.0f' $(($1 - 1))
}

write() {
    filler='type: "msra"'
    bias='type: "constant" value: 0'
    case $1 in
    resnet50) depth=50 count='25 557 032' third='a b c d' fourth='a b c d e f' ;;
    resnet152) depth=152 count='60 192 808' third=$(many 8) fourth=$(many 36) ;;
    esac
    cat <<END
# ResNet-$depth: He, Zhang, Ren and Sun, "Deep Residual Learning for Image Recognition", arXiv 1512.03385,
# table 1, with the stride in the first convolution of a stage's first block. 224 x 224 pixels, 1000
# classes, $count parameters.
#
# Written by tools/net; README.md beside this file has the recipe. Names of files are seen from where the
# command runs.
name: "$1"
END
    data 224 32 25 ilsvrc12 "$means"
    normed conv1 64 7 'pad: 3' 'stride: 2'
    relu conv1/relu
    pool pool1 MAX 'kernel_size: 3' 'stride: 2'
    stage 2 64 'stride: 1' a b c
    stage 3 128 'stride: 2' $third
    stage 4 256 'stride: 2' $fourth
    stage 5 512 'stride: 2' a b c
    pool pool5 AVE 'global_pooling: true'
    fc fc1000 1000
    loss
}
