// motus-mpi encode on rank 0: from the options to the finished output.
// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
#include "tools/cli/cmd.h"
#include "tools/cli/options.h"
#include "tools/cli/read_ahead.h"
#include "tools/cli/signals.h"
#include "tools/cli/system.h"
#include "tools/mpi/fingerprint.h"
#include "tools/mpi/master.h"

#define LEAST_PART 4                      // pictures of a part, where GOPs are shorter
#define CREDIT_BYTES ((int64_t)256 << 20) // of frames on their way to a worker
#define LANES_CUDA 8 // counted for a rank's memory where their number is not given

static int is_file(const char *path) {
    struct stat st;
    return strcmp(path, "-") && !stat(path, &st) && S_ISREG(st.st_mode);
}

// A bitrate is met by two passes, so that no picture waits for others and any number of ranks makes
// the same stream.
static int takes_two_passes(const MotusEncoderConfig *c) {
    return c->rate == MOTUS_RATE_BITRATE && !c->pass && !c->vbv_maxrate;
}

static void tell(void *opaque, MotusTold kind, const char *line) {
    const MotusMaster *m = opaque;
    if (m->pass->first) return; // the last pass tells it
    if (kind == MOTUS_TOLD_NOTE && m->options->quiet) return;
    motus_progress_wipe(&m->progress);
    motus_warn("%s", line);
}

// ---- Opening ------------------------------------------------------------------------------------

// What several machines cannot do yet.
static MotusStatus check(const MotusMaster *m, const MotusMpiOptions *own, MotusError *error) {
    const MotusEncodeOptions *o = m->options;
    const MotusEncoderConfig *c = &o->config;
    const char *what = o->outputs.recon                  ? "--recon"
                       : o->outputs.stats                ? "--stats"
                       : o->outputs.mvs                  ? "--mvs"
                       : o->outputs.field                ? "--field"
                       : o->mvs_in                       ? "--mvs-in"
                       : o->filters.n                    ? "a filter"
                       : c->pass == 1 && !m->pass->first ? "--pass 1"
                       : c->vbv_maxrate                  ? "--vbv-maxrate"
                                                         : NULL;
    const char *instead =
        c->vbv_maxrate ? ", whose pictures wait for the sizes of those before" : "";
    if (what)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "%s: goes with motus encode only%s", what,
                          instead);
    if (own->resume && !(is_file(o->input) && strcmp(o->outputs.stream, "-")))
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "--resume: needs an input and an output that are files");
    if (takes_two_passes(c) && !is_file(o->input))
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "--bitrate: takes two passes, for which the input has to be a file");
    return motus_encode_check_backend(o, error);
}

static MotusStatus open_reader(MotusMaster *m, int streams, MotusError *error) {
    const MotusEncodeOptions *o = m->options;
    const MotusReaderOptions wanted = {.width = o->size[0],
                                       .height = o->size[1],
                                       .fps = o->fps,
                                       .deinterlace = o->deinterlace,
                                       .pinned = !is_file(o->input) &&
                                                 o->config.backend != MOTUS_BACKEND_CPU,
                                       .with_side_streams = streams,
                                       .tell = tell,
                                       .idle = motus_feed_idle,
                                       .opaque = m};
    return motus_reader_open(&m->reader, o->input, &wanted, error);
}

// The time of the first picture decides about the container's clock; where frames are fed, they
// come from here anyway.
static MotusStatus find_start(MotusMaster *m, MotusError *error) {
    const MotusEncodeOptions *o = m->options;
    MotusStatus status = o->seek ? motus_reader_skip(m->reader, o->seek, error) : MOTUS_OK;
    if (status == MOTUS_END || status == MOTUS_ERR_TRUNCATED)
        return motus_fail(error, MOTUS_ERR_TRUNCATED,
                          "%s: ends before frame %d, where --seek wants to begin",
                          motus_shown(o->input), o->seek);
    if (status || m->setup.feeds) return status;
    MotusFrame *frame = NULL;
    status = motus_reader_next(m->reader, &frame, error);
    motus_frame_unref(&frame);
    return status == MOTUS_END ? MOTUS_OK : status;
}

static MotusStatus open_input(MotusMaster *m, MotusError *error) {
    const MotusEncodeOptions *o = m->options;
    const int streams = o->format != MOTUS_FORMAT_H264 && !o->no_audio && !m->pass->first;
    m->setup.input = motus_input_stamp(o->input);
    MotusStatus status = open_reader(m, streams, error);
    if (status) return status;
    m->setup.feeds = !is_file(o->input) || (streams && motus_mux_has_streams(m->reader));
    status = motus_encode_config(o, motus_reader_info(m->reader), &m->setup.config, error);
    if (!status) status = find_start(m, error);
    m->pass->config = m->setup.config;
    if (!status) status = motus_gops_open(&m->gops, &m->setup.config, error);
    return status;
}

static MotusStatus open_journal(MotusMaster *m, const MotusMpiOptions *own, MotusError *error) {
    const MotusEncodeOptions *o = m->options;
    struct stat st;
    char settings[1024], input[256], name[PATH_MAX];
    const int output_is_file =
        strcmp(o->outputs.stream, "-") && (stat(o->outputs.stream, &st) || S_ISREG(st.st_mode));
    if (!is_file(o->input) || !output_is_file) return MOTUS_OK;
    if (m->pass->first && !own->resume &&
        !own->discard) { // what the last pass would refuse is refused now
        motus_mpi_beside(name, o->outputs.stream, "journal");
        MotusStatus status =
            motus_journal_open(&m->journal, name, "", "", MOTUS_JOURNAL_NEW, error);
        motus_journal_close(&m->journal, 0);
        if (status) return status;
    }
    motus_mpi_beside(name, o->outputs.stream, m->pass->journal);
    motus_settings_text(o, &m->setup.config, settings, sizeof settings);
    MotusStatus status = motus_input_text(o->input, input, sizeof input, error);
    if (status) return status;
    const MotusJournalUse use = own->resume    ? MOTUS_JOURNAL_RESUME
                                : own->discard ? MOTUS_JOURNAL_DISCARD
                                               : MOTUS_JOURNAL_NEW;
    status = motus_journal_open(&m->journal, name, settings, input, use, error);
    if (!status && own->resume && !o->quiet)
        motus_warn("note: %lld pictures are in the journal",
                   (long long)motus_journal_pictures(m->journal));
    return status;
}

static MotusStatus open_outputs(MotusMaster *m, MotusError *error) {
    const MotusEncodeOptions *o = m->options;
    m->job = (MotusEncodeReport){.input = o->input,
                                 .output = o->outputs.stream,
                                 .config = m->setup.config,
                                 .time_base = motus_reader_info(m->reader)->time_base,
                                 .level = m->gops.stream.sequence.level->level_idc};
    motus_backend_choose(m->setup.config.backend, &m->job.backend);
    const MotusMuxSettings settings = {.format = (MotusFormat)o->format,
                                       .fragment = o->fragment,
                                       .no_audio = o->no_audio || !m->setup.feeds,
                                       .forced_rate = o->fps.num != 0,
                                       .reader = m->reader,
                                       .tell = tell,
                                       .opaque = m};
    return motus_encode_outputs_open(&m->outputs, &o->outputs, &settings, &m->job,
                                     m->gops.stream.headers, m->gops.stream.headers_size, error);
}

// Of a rank, about. It has a part in each of them, and one that waits.
static int lanes_of(const MotusMaster *m) {
    return m->setup.config.gop_coders ? m->setup.config.gop_coders : LANES_CUDA;
}

static void plan(MotusMaster *m) {
    const MotusEncoderConfig *c = &m->setup.config;
    const int64_t frame = (int64_t)c->width * c->height * 3 / 2;
    MotusBackend backend = MOTUS_BACKEND_CPU;
    motus_backend_choose(c->backend, &backend);
    // A part is a GOP: small, so that ranks end together; very short GOPs are not worth a message
    // each.
    m->setup.gops =
        c->keyint && c->keyint < LEAST_PART ? (LEAST_PART + c->keyint - 1) / c->keyint : 1;
    if (!c->gop_coders && backend == MOTUS_BACKEND_CPU) m->setup.config.gop_coders = 1;
    m->setup.wants_ssim = !m->options->quiet && !m->pass->first;
    m->setup.config.stream_only = !m->setup.wants_ssim;
    m->setup.more = m->pass->more;
    m->setup.log = m->pass->first ? NULL : m->pass->log;
    m->setup.log_size = m->setup.log ? (int64_t)m->pass->log_size + 1 : 0;
    m->setup.credit = CREDIT_BYTES / frame < 8 ? 8 : CREDIT_BYTES / frame;
    if (c->keyint && m->setup.credit > 2 * (int64_t)c->keyint * m->setup.gops)
        m->setup.credit = 2 * (int64_t)c->keyint * m->setup.gops;
    if (m->setup.credit < 8) m->setup.credit = 8;
    m->window = 2 * m->ranks * (lanes_of(m) + 1) + 1;
    m->limit = m->options->frames ? m->options->frames : INT64_MAX;
    for (int i = 0; i < m->ranks; i++) m->credit[i] = m->setup.credit;
}

static MotusStatus open_all(MotusMaster *m, const MotusMpiOptions *own, MotusError *error) {
    MPI_Comm_size(MPI_COMM_WORLD, &m->ranks);
    m->asks = motus_alloc((size_t)m->ranks, sizeof *m->asks);
    m->has = motus_alloc((size_t)m->ranks, sizeof *m->has);
    m->credit = motus_alloc((size_t)m->ranks, sizeof *m->credit);
    if (!m->asks || !m->has || !m->credit)
        return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    MotusStatus status = check(m, own, error);
    if (!status) status = open_input(m, error);
    if (!status) status = open_journal(m, own, error);
    if (!status && !m->pass->first) status = open_outputs(m, error);
    if (!status && own->times && !m->pass->first && !(m->times = fopen(own->times, "w")))
        status = motus_fail(error, MOTUS_ERR_IO, "%s: cannot be written", motus_shown(own->times));
    if (!status) plan(m);
    return status;
}

// ---- The run ------------------------------------------------------------------------------------

static void *run_worker(void *worker) {
    motus_mpi_work(worker);
    return NULL;
}

// Everybody else is done; whoever asks is told.
static void stop_all(MotusMaster *m) {
    MotusError ignored = {0};
    int asked = 0, idle = 0, heard;
    for (int i = 0; i < m->ranks; i++) {
        MotusMessage *stop = motus_message(MOTUS_SAYS_STOP, NULL, 0);
        if (stop) motus_link_tell(m->link, i, stop);
    }
    for (;; heard ? (void)(idle = 0) : motus_link_nap(m->link, &idle)) {
        for (int i = asked = 0; i < m->ranks; i++) asked += m->asks[i];
        if (asked >= m->workers && !motus_link_pending(m->link)) break;
        motus_master_hear(m, &heard, &ignored);
    }
}

static MotusStatus end_log(MotusMaster *m, MotusError *error) {
    char end[40];
    snprintf(end, sizeof end, "end %" PRId64 "\n", m->totals.frames);
    return motus_mpi_log_add(m->pass, end, strlen(end), error);
}

static MotusStatus run(MotusMaster *m, MotusError *error) {
    const MotusEncodeOptions *o = m->options;
    int64_t total = motus_reader_info(m->reader)->frames;
    if (total >= 0) total -= o->seek;
    if (o->frames && (total < 0 || total > o->frames)) total = o->frames;
    m->job.told_variable = m->job.variable = motus_reader_info(m->reader)->variable;
    m->progress = motus_progress_begin(total, o->quiet);
    m->began = m->asked = motus_seconds();
    MotusStatus status = motus_master_run(m, error);
    m->job.seconds = motus_seconds() - m->began;
    motus_progress_end(&m->progress);
    if (status) return status;
    if (!m->totals.frames)
        return motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: no frame to encode",
                          motus_shown(o->input));
    if (m->cut.status && !m->pass->first)
        motus_warn("%s; whole frames encoded: %lld", m->cut.text, (long long)m->totals.frames);
    m->damaged |= m->cut.status != MOTUS_OK;
    m->job.complete = !m->damaged;
    if (m->pass->first) return end_log(m, error);
    motus_signals_finish();
    return motus_encode_outputs_commit(&m->outputs, &m->totals, &m->job,
                                       o->frames && m->totals.frames >= o->frames, error);
}

// Cuts are looked for where rank 0 codes, from the first part on that the journal has not got.
static MotusStatus open_cuts(MotusMaster *m, const MotusMpiWorker *worker, MotusError *error) {
    const MotusSequenceInfo *info = motus_reader_info(m->reader);
    int64_t first = 0;
    motus_gops_place(&m->gops, &m->setup.config);
    if (m->setup.feeds && m->gops.device != MOTUS_LOOKAHEAD_HOST) motus_device_use(m->gops.device);
    if (m->setup.feeds || !m->gops.looks) return MOTUS_OK;
    for (const MotusRecord *r; (r = motus_journal_find(m->journal, first)) != NULL;
         first += r->count)
        if (r->at_end) return MOTUS_OK;
    const int64_t frames = motus_read_ahead_suits(info) ? info->frames - m->options->seek : -1;
    return motus_cuts_open(&m->cuts, worker, &m->gops, m->ranks, first, m->limit, frames, error);
}

// The last line is of the whole job.
static void finish_times(MotusMaster *m) {
    if (!m->times) return;
    const MotusHeard *words = &m->heard[0], *pictures = &m->heard[1];
    const MotusCutsWork looks = m->cuts ? motus_cuts_work(m->cuts) : (MotusCutsWork){0};
    fprintf(m->times,
            "# ranks %d workers %d lanes %d seconds %.6f opening %.6f words %" PRId64 " cpu %.6f",
            m->ranks, m->workers, lanes_of(m), m->job.seconds, m->asked - m->began, words->messages,
            words->seconds);
    fprintf(m->times, " pictures %" PRId64 " bytes %" PRId64 " cpu_pictures %.6f",
            pictures->messages, pictures->bytes, pictures->seconds);
    fprintf(m->times,
            " lookers %d stretch %" PRId64 " looked %" PRId64 " looking %.6f looking_from %.6f\n",
            looks.lookers, looks.stretch, looks.pictures, looks.seconds,
            m->cuts ? looks.began - m->began : 0);
    if (fclose(m->times)) motus_warn("the times could not be written");
    m->times = NULL;
}

static void close_all(MotusMaster *m, int done) {
    motus_cuts_close(&m->cuts);
    motus_encode_outputs_abandon(&m->outputs);
    motus_journal_close(&m->journal, done);
    motus_parts_close(&m->parts);
    motus_frame_unref(&m->feed.frame);
    motus_gops_close(&m->gops);
    motus_reader_close(&m->reader);
    motus_free(m->asks);
    motus_free(m->has);
    motus_free(m->credit);
}

// One line says why, and how to go on; then everybody ends.
static void give_up(MotusMaster *m, const MotusError *error) {
    const long long kept = (long long)motus_journal_pictures(m->journal);
    motus_progress_end(&m->progress);
    if (kept)
        motus_warn("%s; %lld pictures are kept: the same command with --resume goes on",
                   error->text, kept);
    else
        motus_warn("%s", error->text);
    const int signal = motus_signal_caught();
    motus_encode_outputs_abandon(&m->outputs);
    motus_journal_close(&m->journal, 0);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, signal ? MOTUS_EXIT_SIGNAL + signal : MOTUS_EXIT_FAILURE);
}

int motus_mpi_run_pass(MotusLink *link, const MotusEncodeOptions *options,
                       const MotusMpiOptions *own, MotusMpiPass *pass) {
    MotusMaster m = {.pass = pass, .link = link, .options = options, .setup = {.status = -1}};
    MotusError error = {0};
    pthread_t thread;
    MotusStatus status = open_all(&m, own, &error);
    if (status) m.setup.status = motus_failure(&error);
    motus_mpi_share(&m.setup, options, own->here);
    if (status) {
        close_all(&m, 0);
        return m.setup.status;
    }
    const MotusMpiWorker worker = {link, options, &m.setup};
    const int works = m.ranks == 1 || !own->rank0_muxes_only;
    m.workers = m.ranks - !works;
    if (works && pthread_create(&thread, NULL, run_worker, (void *)&worker))
        status = motus_fail(&error, MOTUS_ERR_MEMORY, "no thread for rank 0's own work");
    if (!status) status = open_cuts(&m, &worker, &error);
    if (!status) status = run(&m, &error);
    if (status) give_up(&m, &error);
    finish_times(&m);
    stop_all(&m);
    if (works) pthread_join(thread, NULL);
    if (!options->quiet && !pass->first) motus_report_print(stderr, &m.totals, &m.job);
    close_all(&m, !pass->first);
    return options->strict && m.damaged && !pass->first ? MOTUS_EXIT_FAILURE : MOTUS_EXIT_OK;
}

int motus_mpi_encode(MotusLink *link, const MotusEncodeOptions *options,
                     const MotusMpiOptions *own) {
    MotusMpiPass pass = {.journal = "journal"};
    if (takes_two_passes(&options->config) && is_file(options->input))
        return motus_mpi_two_passes(link, options, own);
    return motus_mpi_run_pass(link, options, own, &pass);
}
