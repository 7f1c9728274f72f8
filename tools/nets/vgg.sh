# vgg.sh - nets of 3 x 3 convolutions only, in five stages.

# stage NUMBER CONVOLUTIONS CHANNELS: each stage halves height and width at its end.
stage() {
    for i in $(seq "$2"); do
        conv "conv$1_$i" "$3" 3 'pad: 1'
        relu "relu$1_$i"
    done
    pool "pool$1" MAX 'kernel_size: 2' 'stride: 2'
}

hidden() { # NUMBER
    fc "fc$1" 4096
    relu "relu$1"
    dropout "drop$1" 0.5
}

write() {
    deep=4 classes=1000 set=ilsvrc12 of='column E'
    case $1 in
    vgg16) deep=3 title=VGG16 count='138 357 544' of='column D' ;;
    vgg19) title=VGG19 count='143 667 240' ;;
    vgg19-22k) title=VGG19-22K count='229 052 817' classes=21841 set=imagenet22k ;;
    esac
    cat <<END
# $title: Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image Recognition",
# arXiv 1409.1556, $of of table 1. 224 x 224 pixels, $classes classes, $count parameters.
#
# Written by tools/net; README.md beside this file has the recipe. Names of files are seen from where the
# command runs.
name: "$1"
END
    data 224 32 25 "$set" "$means"
    filler='type: "xavier"'
    bias='type: "constant" value: 0'
    stage 1 2 64
    stage 2 2 128
    stage 3 "$deep" 256
    stage 4 "$deep" 512
    stage 5 "$deep" 512
    filler='type: "gaussian" std: 0.005'
    hidden 6
    hidden 7
    filler='type: "gaussian" std: 0.01'
    fc fc8 "$classes"
    loss
}
