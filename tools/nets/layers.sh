# layers.sh - layers as text, for the nets beside this file.
#
# A net is a chain: each function reads the blob $at, and leaves there the name of the one it makes. A
# branch begins by setting it. What most layers of a net have in common are variables, set before the
# first layer:
#
#     filler, bias   weight_filler and bias_filler of the next layers, as fields of a FillerParameter
#     eps            of normalizations over the batch; empty: Caffe's
#     only           a field of every layer, such as an include rule; empty: none

at=data
only=

# open NAME TYPE TOP BOTTOM...
open() {
    printf 'layer {\n  name: "%s"\n  type: "%s"\n' "$1" "$2"
    top=$3
    shift 3
    for bottom; do printf '  bottom: "%s"\n' "$bottom"; done
    printf '  top: "%s"\n' "$top"
    [ -z "$only" ] || printf '  %s\n' "$only"
}

# The lines on standard input as the layer's message NAME, and the layer's end.
message() {
    printf '  %s {\n' "$1"
    sed 's/^/    /'
    printf '  }\n}\n'
}

# Weights learn and decay; biases learn twice as fast, and do not decay.
rates() {
    echo '  param { lr_mult: 1 decay_mult: 1 }'
    [ "${1-}" = no-bias ] || echo '  param { lr_mult: 2 decay_mult: 0 }'
}

fillers() {
    echo "weight_filler { $filler }"
    echo "bias_filler { $bias }"
}

# data CROP TRAIN-BATCH TEST-BATCH SET MORE: images of a database, in both phases. MORE are lines of the
# transform_param.
data() {
    data_of TRAIN true "$1" "$2" "$4_train_lmdb" "$5"
    data_of TEST false "$1" "$3" "$4_val_lmdb" "$5"
}

data_of() { # PHASE MIRROR CROP BATCH SOURCE MORE
    cat <<END
layer {
  name: "data"
  type: "Data"
  top: "data"
  top: "label"
  include { phase: $1 }
  transform_param {
    mirror: $2
    crop_size: $3
$(printf '%s\n' "$6" | sed 's/^/    /')
  }
  data_param {
    source: "$5"
    batch_size: $4
    backend: LMDB
  }
}
END
}

# The mean colour of ImageNet in the order of OpenCV: blue, green, red.
means='mean_value: 104
mean_value: 117
mean_value: 123'

# conv NAME OUTPUTS KERNEL [FIELD]...: a FIELD is "pad: 1", and KERNEL may be 1x7.
conv() {
    open "$1" Convolution "$1" "$at"
    rates
    at=$1
    { conv_fields "$@" && fillers; } | message convolution_param
}

conv_fields() {
    echo "num_output: $2"
    case $3 in
    *x*) printf 'kernel_h: %s\nkernel_w: %s\n' "${3%x*}" "${3#*x}" ;;
    *) echo "kernel_size: $3" ;;
    esac
    shift 3
    for field; do [ -z "$field" ] || echo "$field"; done
}

# normed NAME OUTPUTS KERNEL [FIELD]...: a convolution whose channels are normalized over the batch, then
# scaled and shifted, as $1/bn and $1/scale; in place. It needs no bias of its own.
normed() {
    open "$1" Convolution "$1" "$at"
    rates no-bias
    at=$1
    { conv_fields "$@" && echo 'bias_term: false' && echo "weight_filler { $filler }"; } |
        message convolution_param
    open "$at/bn" BatchNorm "$at" "$at"
    if [ -n "${eps-}" ]; then echo "eps: $eps" | message batch_norm_param; else echo '}'; fi
    open "$at/scale" Scale "$at" "$at"
    echo 'bias_term: true' | message scale_param
}

# relu NAME, dropout NAME RATIO: in place.
relu() {
    open "$1" ReLU "$at" "$at"
    echo '}'
}

dropout() {
    open "$1" Dropout "$at" "$at"
    echo "dropout_ratio: $2" | message dropout_param
}

# pool NAME MAX|AVE [FIELD]...
pool() {
    open "$1" Pooling "$1" "$at"
    at=$1
    {
        echo "pool: $2"
        shift 2
        for field; do [ -z "$field" ] || echo "$field"; done
    } | message pooling_param
}

# norm NAME: over five neighbouring channels.
norm() {
    open "$1" LRN "$1" "$at"
    printf 'local_size: 5\nalpha: 0.0001\nbeta: 0.75\n' | message lrn_param
    at=$1
}

# fc NAME OUTPUTS
fc() {
    open "$1" InnerProduct "$1" "$at"
    rates
    { echo "num_output: $2" && fillers; } | message inner_product_param
    at=$1
}

# concat NAME BOTTOM...
concat() {
    name=$1
    shift
    open "$name" Concat "$name" "$@"
    echo '}'
    at=$name
}

# loss: what is learned from the scores $at, and how often they are right.
loss() {
    for k in 1 5; do
        open "accuracy/top-$k" Accuracy "accuracy/top-$k" "$at" label
        echo '  include { phase: TEST }'
        echo "top_k: $k" | message accuracy_param
    done
    open loss SoftmaxWithLoss loss "$at" label
    echo '}'
}
