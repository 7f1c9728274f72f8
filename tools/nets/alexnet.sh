# alexnet.sh - the net that won ILSVRC 2012, and Caffe's own version of it.

# Normalization and pooling change places between the two.
shrink() { # NUMBER
    if [ "$net" = alexnet ]; then
        norm "norm$1"
        pool "pool$1" MAX 'kernel_size: 3' 'stride: 2'
    else
        pool "pool$1" MAX 'kernel_size: 3' 'stride: 2'
        norm "norm$1"
    fi
}

hidden() { # NUMBER
    filler='type: "gaussian" std: 0.005'
    bias="$some"
    fc "fc$1" 4096
    relu "relu$1"
    dropout "drop$1" 0.5
}

head_alexnet() {
    cat <<'END'
# AlexNet: Krizhevsky, Sutskever and Hinton, "ImageNet Classification with Deep Convolutional Neural
# Networks", NIPS 2012, in one column: the two halves of the paper, one for each GPU, are the groups of
# conv2, conv4 and conv5. 227 x 227 pixels, 1000 classes, 60 965 224 parameters.
END
}

head_caffenet() {
    cat <<'END'
# CaffeNet: AlexNet (Krizhevsky, Sutskever and Hinton, NIPS 2012) as Caffe's reference net has it: pooled
# before it is normalized, which costs less. 227 x 227 pixels, 1000 classes, 60 965 224 parameters.
END
}

write() {
    net=$1
    none='type: "constant" value: 0'
    some='type: "constant" value: 0.1'
    if [ "$net" = caffenet ]; then
        some='type: "constant" value: 1'
    fi
    "head_$net"
    cat <<END
#
# Written by tools/net; README.md beside this file has the recipe. Names of files are seen from where the
# command runs.
name: "$net"
END
    data 227 256 50 ilsvrc12 "$means"
    filler='type: "gaussian" std: 0.01'
    bias=$none
    conv conv1 96 11 'stride: 4'
    relu relu1
    shrink 1
    bias=$some
    conv conv2 256 5 'pad: 2' 'group: 2'
    relu relu2
    shrink 2
    bias=$none
    conv conv3 384 3 'pad: 1'
    relu relu3
    bias=$some
    conv conv4 384 3 'pad: 1' 'group: 2'
    relu relu4
    conv conv5 256 3 'pad: 1' 'group: 2'
    relu relu5
    pool pool5 MAX 'kernel_size: 3' 'stride: 2'
    hidden 6
    hidden 7
    filler='type: "gaussian" std: 0.01'
    bias=$none
    fc fc8 1000
    loss
}
