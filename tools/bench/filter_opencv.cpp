// The jobs with OpenCV, as a user of it would write them. Functions that are not threaded run on
// strips, by cv::parallel_for_. docs/bench.md says what each row compares.
// SPDX-License-Identifier: BSD-2-Clause
#include "tools/bench/filter_jobs.h"

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <algorithm>

namespace {

using cv::Mat;

// Wraps a plane. OpenCV's input is never written to.
Mat mat_of(const MotusPlane &p, int channels = 1) {
    return Mat(p.height, p.width / channels, CV_8UC(channels), p.data, (size_t)p.stride);
}

Mat mat_of(const MotusCoefs &c) { return Mat(c.height, c.width, CV_16S, c.data, (size_t)c.stride); }

// Calls work(range of rows) for strips of `unit` rows.
template <class StripWork> void in_strips(int height, int unit, StripWork work) {
    cv::parallel_for_(cv::Range(0, (height + unit - 1) / unit), [&](const cv::Range &range) {
        for (int i = range.start; i < range.end; i++)
            work(cv::Range(i * unit, std::min(height, (i + 1) * unit)));
    });
}

// Transforms a strip of 8 rows. OpenCV has no call for many blocks; DCT_ROWS over groups of 8
// samples, transposed between the passes, is faster than cv::dct block by block.
void transform(Mat &strip, int inverse) {
    Mat rows = strip.reshape(1, strip.cols), turned;
    cv::dct(rows, rows, cv::DCT_ROWS | inverse);
    cv::transpose(strip, turned);
    cv::dct(turned, turned, cv::DCT_ROWS | inverse);
    cv::transpose(turned, strip);
}

// Repeats the quantization table for each block of a strip.
Mat steps_of(const MotusFilterJob *s) {
    Mat one(8, 8, CV_32F);
    for (int k = 0; k < 64; k++) one.at<float>(k / 8, k % 8) = s->table[k];
    return cv::repeat(one, 1, s->width / 8);
}

void forward(const MotusFilterJob *s, const Mat &samples, Mat levels) {
    const Mat factors = 1 / steps_of(s);
    in_strips(s->height, 8, [&](const cv::Range &rows) {
        Mat strip, to = levels.rowRange(rows);
        samples.rowRange(rows).convertTo(strip, CV_32F, 1, -128);
        transform(strip, 0);
        cv::multiply(strip, factors, strip);
        strip.convertTo(to, CV_16S);
    });
}

void inverse(const MotusFilterJob *s, const Mat &levels, Mat samples) {
    const Mat steps = steps_of(s);
    in_strips(s->height, 8, [&](const cv::Range &rows) {
        Mat strip, to = samples.rowRange(rows);
        levels.rowRange(rows).convertTo(strip, CV_32F);
        cv::multiply(strip, steps, strip);
        transform(strip, cv::DCT_INVERSE);
        strip.convertTo(to, CV_8U, 1, 128);
    });
}

// Keys with hue in units of two degrees, saturation and value in 1/255, rounded: a pixel near a
// threshold can fall on the other side. The key's hue must exceed its range.
void key(const MotusFilterJob *s, const Mat &fg, const Mat &bg, Mat mix) {
    const MotusKeyConfig &k = s->key;
    const auto bound = [&k](int sign) {
        return cv::Scalar((k.hue + sign * k.hue_range) / 32,
                          (k.saturation + sign * k.sat_range) * 255 / 1024,
                          (k.value + sign * k.value_range) * 255 / 1024);
    };
    const cv::Scalar low = bound(-1), high = bound(1);
    in_strips(s->height, 16, [&](const cv::Range &rows) {
        Mat hsv, mask, to = mix.rowRange(rows);
        cv::cvtColor(fg.rowRange(rows), hsv, cv::COLOR_RGB2HSV);
        cv::inRange(hsv, low, high, mask);
        fg.rowRange(rows).copyTo(to);
        bg.rowRange(rows).copyTo(to, mask);
    });
}

MotusStatus run(const MotusFilterJob *s, const void *in, void *out, void *scratch) {
    Mat src = mat_of(motus_filter_job_plane(in, s->width, s->height)),
        dst = mat_of(motus_filter_job_plane(out, s->width, s->height));
    const bool whole = s->width % 8 == 0 && s->height % 8 == 0;
    switch (s->kind) {
    case JOB_DCT:
        if (!whole) return MOTUS_ERR_UNSUPPORTED;
        forward(s, src, mat_of(motus_filter_job_coefs(s, out)));
        return MOTUS_OK;
    case JOB_IDCT:
        if (!whole) return MOTUS_ERR_UNSUPPORTED;
        inverse(s, mat_of(motus_filter_job_coefs(s, in)), dst);
        return MOTUS_OK;
    case JOB_DCT_ROUND:
        if (!whole) return MOTUS_ERR_UNSUPPORTED;
        forward(s, src, mat_of(motus_filter_job_coefs(s, scratch)));
        inverse(s, mat_of(motus_filter_job_coefs(s, scratch)), dst);
        return MOTUS_OK;
    case JOB_EQUALIZE:
        cv::equalizeHist(src, dst);
        return MOTUS_OK;
    case JOB_CLAHE: {
        const MotusEqualizeConfig &c = s->equalize;
        cv::createCLAHE(c.clip_q8 / 256.0, cv::Size(c.tiles_x, c.tiles_y))->apply(src, dst);
        return MOTUS_OK;
    }
    case JOB_KEY_RGB: {
        Mat fg = mat_of(motus_filter_job_plane(in, 3 * s->width, s->height), 3);
        Mat bg = mat_of(motus_filter_job_plane(static_cast<const uint8_t *>(in) + s->in_bytes / 2,
                                               3 * s->width, s->height),
                        3);
        key(s, fg, bg, mat_of(motus_filter_job_plane(out, 3 * s->width, s->height), 3));
        return MOTUS_OK;
    }
    default:
        return MOTUS_ERR_UNSUPPORTED;
    }
}

} // namespace

extern "C" const char *motus_opencv_version(void) { return CV_VERSION; }

extern "C" MotusStatus motus_opencv_run(const MotusFilterJob *job, const void *in, void *out,
                                        void *scratch, int threads) {
    try {
        cv::setNumThreads(threads ? threads : -1);
        return run(job, in, out, scratch);
    } catch (...) {
        return MOTUS_ERR_MEMORY;
    }
}
