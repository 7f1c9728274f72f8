#!/bin/sh
# simulate.sh - do simulated clusters do what published ones did?
#
# VGG19-22K, batch 32, 40 Gbit/s, Titan X: speed-ups published for Poseidon (ATC'17, on Caffe), for
# its overlap alone and for a parameter server without it, beside ours. Overlap alone gets one fitted
# number: the bytes a second that its links really carried, such that 8 nodes come out as published.
# POSEIDON names the program.
set -e
poseidon=${POSEIDON:-build/gcc/poseidon}

# speedup SCHEME NODES BANDWIDTH MODEL
speedup() {
    "$poseidon" simulate --model "$4" --profile "$profile" --nodes "$2" --bandwidth "$3" \
        --scheme "$1" --iterations 2 --format csv |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /speed/) at = i } NR == 2 { print $at }'
}

profile=titan-x-caffe
low=1 high=40 # Gbit/s
for step in 1 2 3 4 5 6 7 8 9 10; do
    middle=$(echo "$low $high" | awk '{ printf "%.4f", ($1 + $2) / 2 }')
    if [ "$(speedup servers 8 "${middle}Gbit" vgg19-22k)" \< 6.12 ]; then low=$middle; else high=$middle; fi
done
echo "VGG19-22K at 40 Gbit/s, speed-up over one node"
echo "overlap alone is fitted at 8 nodes: its links carry $high Gbit/s"
printf '%6s  %9s %8s %9s  %9s %8s  %9s %8s\n' nodes published hybrid unfitted published overlap published servers
while read -r nodes full overlap server; do
    printf '%6s  %9s %8s %9s  %9s %8s  %9s %8s\n' "$nodes" \
        "$full" "$(speedup hybrid "$nodes" 40Gbit vgg19-22k)" \
        "$(speedup servers "$nodes" 40Gbit vgg19-22k)" \
        "$overlap" "$(speedup servers "$nodes" "${high}Gbit" vgg19-22k)" \
        "$server" "$(speedup servers-no-overlap "$nodes" 40Gbit vgg19-22k)"
done <<TABLE
2 1.96 1.78 1.01
4 3.83 3.28 1.47
8 7.63 6.12 2.16
16 15.03 11.56 2.82
32 29.45 21.37 4.42
TABLE
profile=titan-x
echo
echo "hybrid, rebuilding charged                       published   ours"
echo "VGG19-22K     32 nodes, 40 Gbit/s    29.45    $(speedup hybrid 32 40Gbit vgg19-22k)"
echo "Inception-V3  32 nodes, 40 Gbit/s    31.5     $(speedup hybrid 32 40Gbit inception-v3)"
echo "VGG19-22K     16 nodes, 10 Gbit/s    15.5     $(speedup hybrid 16 10Gbit vgg19-22k)"
