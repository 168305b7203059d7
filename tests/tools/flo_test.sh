#!/usr/bin/env bash
# OpenCV's cv::readOpticalFlow reads the .flo files of motus search: the same samples.
#   flo_test.sh MOTUS
# Skipped (77) where OpenCV or a C++ compiler is not installed.
# SPDX-License-Identifier: BSD-2-Clause
set -eu
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
motus=$(realpath "$1")
needs pkg-config c++
pkg-config --exists opencv4 || skip 'OpenCV is not installed'
work_folder
cat >read.cpp <<'CPP'
#include <cstdio>
#include <opencv2/video/tracking.hpp>
int main(int, char **argv) {
    const cv::Mat flow = cv::readOpticalFlow(argv[1]);
    std::fprintf(stderr, "%d %d %d\n", flow.cols, flow.rows, flow.type() == CV_32FC2);
    return std::fwrite(flow.data, sizeof(float), 2 * flow.total(), stdout) != 2 * flow.total();
}
CPP
read -ra flags <<<"$(pkg-config --cflags opencv4)"
c++ -std=c++17 read.cpp "${flags[@]}" -lopencv_video -lopencv_core -o read
"$motus" synth in.y4m --size 70x50 --frames 2 --pan 5.5,-3.25 --objects 2
"$motus" search in.y4m -o one.flo --lambda 1500 --backend cpu --quiet
./read one.flo >theirs 2>size
[ "$(cat size)" = '70 50 1' ] || die "OpenCV reads $(cat size)"
tail -c +13 one.flo | cmp - theirs
