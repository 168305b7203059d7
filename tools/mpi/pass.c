// One pass of motus-mpi encode on rank 0: opens everything, runs until the output is written, and
// ends the workers.
// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
#include "tools/cli/cmd.h"
#include "tools/cli/input.h"
#include "tools/cli/options.h"
#include "tools/cli/signals.h"
#include "tools/cli/system.h"
#include "tools/mpi/fingerprint.h"
#include "tools/mpi/master.h"
#include "tools/search/vector_table.h"

#define MIN_SEGMENT 4                     // pictures, if GOPs are shorter
#define CREDIT_BYTES ((int64_t)256 << 20) // of frames on their way to a worker
#define GOP_CODERS_CUDA 8                 // estimate for a rank that chooses their number itself

static int is_file(const char *path) { return motus_input_stamp(path).size >= 0; }

static void tell(void *opaque, MotusLogLevel kind, const char *line) {
    MotusMaster *m = opaque;
    if (m->pass->first) return; // the last pass reports it
    m->lost |= kind != MOTUS_LOG_NOTE;
    if (!motus_encode_says(m->options, kind)) return;
    motus_progress_wipe(&m->progress);
    motus_warn("%s", line);
}

// ---- Opening ------------------------------------------------------------------------------------

// Refuses options that several ranks cannot serve.
static MotusStatus check(const MotusMaster *m, const MotusMpiOptions *own, MotusError *error) {
    const MotusEncodeOptions *o = m->options;
    const MotusEncoderConfig *c = &o->config;
    const char *option = o->outputs.recon                  ? "--recon"
                         : o->outputs.stats                ? "--stats"
                         : o->outputs.mvs                  ? "--mvs"
                         : o->outputs.field                ? "--field"
                         : o->filters.n                    ? "a filter"
                         : o->from.us                      ? "--seek by a time"
                         : o->duration.us                  ? "--duration"
                         : c->pass == 1 && !m->pass->first ? "--pass 1"
                         : c->vbv_maxrate
                             ? "--vbv-maxrate, which needs the sizes of earlier pictures"
                             : NULL;
    if (option)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "%s: goes with motus encode only", option);
    if (own->resume && !(is_file(o->input) && strcmp(o->outputs.stream, "-")))
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "--resume: needs an input and an output that are files");
    if (o->mvs_in && !is_file(o->mvs_in) && !access(o->mvs_in, F_OK))
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "--mvs-in: has to be a file, since each rank reads it");
    if (c->rate == MOTUS_RATE_BITRATE && !c->pass && strcmp(o->input, "-") &&
        access(o->input, F_OK))
        return motus_fail(error, MOTUS_ERR_IO, "%s: %s", motus_shown(o->input), strerror(errno));
    if (c->rate == MOTUS_RATE_BITRATE && !c->pass)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "--bitrate: takes two passes, for which the input has to be a file");
    return motus_encode_check_backend(o, error);
}

// Fails now rather than on each rank if the external MVs are missing or no table.
static MotusStatus check_mvs(const MotusEncodeOptions *o, MotusError *error) {
    MotusTable *table = NULL;
    MotusStatus status = o->mvs_in ? motus_table_open(&table, o->mvs_in, error) : MOTUS_OK;
    motus_table_close(&table);
    return status;
}

static MotusStatus open_reader(MotusMaster *m, int streams, MotusError *error) {
    const MotusEncodeOptions *o = m->options;
    const MotusReaderOptions options = {.width = o->size[0],
                                        .height = o->size[1],
                                        .fps = o->fps,
                                        .deinterlace = o->deinterlace,
                                        .pinned = !is_file(o->input) &&
                                                  o->config.backend != MOTUS_BACKEND_CPU,
                                        .with_side_streams = streams,
                                        .log = tell,
                                        .idle = motus_feed_while_input_waits,
                                        .opaque = m};
    return motus_reader_open(&m->reader, o->input, &options, error);
}

// Reads up to the first picture, whose time sets the container's clock. Fed frames follow later.
static MotusStatus find_start(MotusMaster *m, MotusError *error) {
    const MotusEncodeOptions *o = m->options;
    MotusStatus status = o->seek ? motus_reader_skip(m->reader, o->seek, error) : MOTUS_OK;
    if (status == MOTUS_END || status == MOTUS_ERR_TRUNCATED)
        return motus_fail(error, MOTUS_ERR_TRUNCATED,
                          "%s: ends before frame %d, where --seek wants to begin",
                          motus_shown(o->input), o->seek);
    if (status || m->setup.rank0_reads) return status;
    MotusFrame *frame = NULL;
    status = motus_reader_next(m->reader, &frame, error);
    motus_frame_unref(&frame);
    return status == MOTUS_END ? MOTUS_OK : status;
}

static MotusStatus open_input(MotusMaster *m, MotusError *error) {
    const MotusEncodeOptions *o = m->options;
    const int streams = o->format != MOTUS_FORMAT_H264 && !m->pass->first;
    m->setup.input = motus_input_stamp(o->input);
    MotusStatus status = open_reader(m, streams, error);
    if (status) return status;
    m->setup.rank0_reads =
        !is_file(o->input) || (streams && motus_mux_has_streams(m->reader, o->no_audio));
    status = motus_encode_config(o, motus_reader_info(m->reader), &m->setup.config, tell, m, error);
    if (!status) status = find_start(m, error);
    m->pass->config = m->setup.config;
    if (!status) status = motus_gops_open(&m->gops, &m->setup.config, error);
    return status;
}

static MotusStatus open_journal(MotusMaster *m, const MotusMpiOptions *own, MotusError *error) {
    const MotusEncodeOptions *o = m->options;
    struct stat st;
    char settings[1024], input[512], name[PATH_MAX];
    const int output_is_file =
        strcmp(o->outputs.stream, "-") && (stat(o->outputs.stream, &st) || S_ISREG(st.st_mode));
    if (!is_file(o->input) || !output_is_file) return MOTUS_OK;
    if (m->pass->first && !own->resume && !own->discard) { // fail now rather than in the last pass
        motus_journal_name(name, o->outputs.stream, "journal");
        MotusStatus status =
            motus_journal_open(&m->journal, name, "", "", MOTUS_JOURNAL_NEW, error);
        motus_journal_close(&m->journal, 0);
        if (status) return status;
    }
    motus_journal_name(name, o->outputs.stream, m->pass->journal);
    motus_settings_text(o, &m->setup.config, settings, sizeof settings);
    MotusStatus status = motus_input_text(o->input, input, sizeof input / 2, error);
    const size_t n = strlen(input);
    if (!status && o->mvs_in)
        status = motus_input_text(o->mvs_in, input + n, sizeof input - n, error);
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
    m->report = (MotusEncodeReport){.input = o->input,
                                    .output = o->outputs.stream,
                                    .config = m->setup.config,
                                    .time_base = motus_reader_info(m->reader)->time_base,
                                    .level = m->gops.stream.sequence.level->level_idc};
    motus_backend_choose(m->setup.config.backend, &m->report.backend);
    const MotusMuxSettings settings = {.format = (MotusFormat)o->format,
                                       .fragment = o->fragment,
                                       .no_audio = o->no_audio,
                                       .forced_rate = o->fps.num != 0,
                                       .reader = m->reader,
                                       .log = tell,
                                       .opaque = m};
    return motus_encode_outputs_open(&m->outputs, &o->outputs, &settings, &m->report,
                                     m->gops.stream.headers, m->gops.stream.headers_size, error);
}

// Returns the GOP coders of a rank, or an estimate.
static int gop_coders_of(const MotusMaster *m) {
    return m->setup.config.gop_coders ? m->setup.config.gop_coders : GOP_CODERS_CUDA;
}

static void plan(MotusMaster *m) {
    const MotusEncoderConfig *c = &m->setup.config;
    const int64_t frame = (int64_t)c->width * c->height * 3 / 2;
    MotusBackend backend = MOTUS_BACKEND_CPU;
    motus_backend_choose(c->backend, &backend);
    // A segment is a GOP, so that ranks end at about the same time. Shorter GOPs are joined: a
    // message costs more than they do.
    m->setup.gops =
        c->keyint && c->keyint < MIN_SEGMENT ? (MIN_SEGMENT + c->keyint - 1) / c->keyint : 1;
    if (!c->gop_coders && backend == MOTUS_BACKEND_CPU) m->setup.config.gop_coders = 1;
    m->setup.wants_ssim = !m->options->quiet && !m->pass->first && !m->options->config.no_ssd;
    m->setup.config.stream_only = m->setup.config.no_ssd = !m->setup.wants_ssim;
    m->setup.another_pass = m->pass->another;
    m->setup.log = m->pass->first ? NULL : (char *)m->pass->log.data;
    m->setup.log_size = m->setup.log ? (int64_t)m->pass->log.n + 1 : 0;
    m->setup.credit = CREDIT_BYTES / frame < 8 ? 8 : CREDIT_BYTES / frame;
    if (c->keyint && m->setup.credit > 2 * (int64_t)c->keyint * m->setup.gops)
        m->setup.credit = 2 * (int64_t)c->keyint * m->setup.gops;
    if (m->setup.credit < 8) m->setup.credit = 8;
    m->window = 2 * m->ranks * (gop_coders_of(m) + 1) + 1;
    m->limit = m->options->frames ? m->options->frames : INT64_MAX;
    for (int i = 0; i < m->ranks; i++) m->credit[i] = m->setup.credit;
}

static MotusStatus open_all(MotusMaster *m, const MotusMpiOptions *own, MotusError *error) {
    MPI_Comm_size(MPI_COMM_WORLD, &m->ranks);
    m->requested = motus_alloc((size_t)m->ranks, sizeof *m->requested);
    m->assigned = motus_alloc((size_t)m->ranks, sizeof *m->assigned);
    m->credit = motus_alloc((size_t)m->ranks, sizeof *m->credit);
    if (!m->requested || !m->assigned || !m->credit)
        return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    MotusStatus status = check(m, own, error);
    if (!status) status = open_input(m, error);
    if (!status) status = check_mvs(m->options, error);
    if (!status) status = open_journal(m, own, error);
    if (!status && !m->pass->first) status = open_outputs(m, error);
    if (!status && own->times && !m->pass->first && !(m->times = fopen(own->times, "w")))
        status = motus_fail(error, MOTUS_ERR_IO, "%s: cannot be written", motus_shown(own->times));
    if (!status) plan(m);
    return status;
}

// ---- The run ------------------------------------------------------------------------------------

// Returns the CPU time of this thread.
static double thread_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// Handles messages, reads frames and hands out segments until all pictures are in the output.
static MotusStatus serve(MotusMaster *m, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int idle = 0, received; !status && !(m->ended && !m->segments.head);) {
        const double before = m->times ? thread_seconds() : 0;
        status = motus_master_receive(m, &received, error);
        if (received && m->times) m->stats[received - 1].cpu_seconds += thread_seconds() - before;
        if (!status && motus_signal_caught())
            status = motus_fail(error, MOTUS_END, "ended by signal %d", motus_signal_caught());
        int fed = 0;
        if (!status && !received && m->setup.rank0_reads) status = motus_feed(m, &fed, error);
        if (!status && !received && m->scan) status = motus_master_assign(m, error);
        if (received || fed)
            idle = 0;
        else
            motus_link_sleep(m->link, &idle);
    }
    return status;
}

// Stops all ranks and waits until each has asked for more work.
static void stop_all(MotusMaster *m) {
    MotusError ignored = {0};
    int requests = 0, idle = 0, received;
    for (int i = 0; i < m->ranks; i++) {
        MotusMessage *stop = motus_message(MOTUS_MSG_STOP, NULL, 0);
        if (stop) motus_link_send(m->link, i, stop);
    }
    for (;; received ? (void)(idle = 0) : motus_link_sleep(m->link, &idle)) {
        for (int i = requests = 0; i < m->ranks; i++) requests += m->requested[i];
        if (requests >= m->workers && !motus_link_pending(m->link)) break;
        motus_master_receive(m, &received, &ignored);
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
    m->report.known_variable = m->report.variable = motus_reader_info(m->reader)->variable;
    m->progress = motus_progress_begin_as(o->progress, total, o->quiet);
    m->began = m->first_request = motus_seconds();
    MotusStatus status = serve(m, error);
    m->report.seconds = motus_seconds() - m->began;
    motus_progress_end(&m->progress);
    if (status) return status;
    if (!m->totals.frames)
        return motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: no frame to encode",
                          motus_shown(o->input));
    if (m->truncated.status && !m->pass->first && motus_encode_says(o, MOTUS_LOG_WARNING))
        motus_warn("%s; whole frames encoded: %lld", m->truncated.text,
                   (long long)m->totals.frames);
    m->damaged |= m->truncated.status != MOTUS_OK;
    m->report.complete = !m->damaged;
    if (m->pass->first) return end_log(m, error);
    motus_signals_finish();
    return motus_encode_outputs_commit(&m->outputs, &m->totals, &m->report,
                                       o->frames && m->totals.frames >= o->frames, error);
}

// Starts the scene scan on rank 0's device, from the first segment that the journal does not have.
static MotusStatus start_scene_scan(MotusMaster *m, const MotusMpiWorker *worker,
                                    MotusError *error) {
    const MotusSequenceInfo *info = motus_reader_info(m->reader);
    int64_t first = 0;
    motus_gops_use_device(&m->gops, &m->setup.config);
    if (m->setup.rank0_reads && m->gops.device != MOTUS_LOOKAHEAD_HOST)
        motus_device_use(m->gops.device, NULL);
    if (m->setup.rank0_reads || !m->gops.at_cuts) return MOTUS_OK;
    for (const MotusRecord *r; (r = motus_journal_find(m->journal, first)) != NULL;
         first += r->count)
        if (r->at_end) return MOTUS_OK;
    const int64_t frames = motus_read_ahead_suits(info) ? info->frames - m->options->seek : -1;
    return motus_scene_scan_open(&m->scan, worker, &m->gops, m->ranks, first, m->limit, frames,
                                 error);
}

// Writes the last line, about the whole job.
static void finish_times(MotusMaster *m) {
    if (!m->times) return;
    const MotusMessageStats *other = &m->stats[0], *pictures = &m->stats[1];
    const MotusSceneScanStats scan =
        m->scan ? motus_scene_scan_stats(m->scan) : (MotusSceneScanStats){.began = m->began};
    fprintf(m->times, "# ranks %d workers %d gop_coders %d seconds %.6f opening %.6f", m->ranks,
            m->workers, gop_coders_of(m), m->report.seconds, m->first_request - m->began);
    fprintf(m->times, " messages %" PRId64 " cpu %.6f", other->messages, other->cpu_seconds);
    fprintf(m->times, " pictures %" PRId64 " bytes %" PRId64 " cpu_pictures %.6f",
            pictures->messages, pictures->bytes, pictures->cpu_seconds);
    fprintf(m->times,
            " scanners %d stretch %" PRId64 " scanned %" PRId64
            " scan_seconds %.6f scan_start %.6f\n",
            scan.scanners, scan.stretch, scan.pictures, scan.seconds, scan.began - m->began);
    if (fclose(m->times)) motus_warn("the times could not be written");
    m->times = NULL;
}

static void close_all(MotusMaster *m, int done) {
    motus_scene_scan_close(&m->scan);
    motus_encode_outputs_abandon(&m->outputs);
    motus_journal_close(&m->journal, done);
    motus_segments_close(&m->segments);
    motus_frame_unref(&m->feed.frame);
    motus_gops_close(&m->gops);
    motus_reader_close(&m->reader);
    motus_free(m->requested);
    motus_free(m->assigned);
    motus_free(m->credit);
}

// Prints why the job ends and how to resume it, nothing for a broken pipe, and aborts all ranks.
static void abort_job(MotusMaster *m, const MotusError *error) {
    const long long kept = (long long)motus_journal_pictures(m->journal);
    motus_progress_end(&m->progress);
    const int unread = motus_is_broken_pipe(error), signal = motus_signal_caught();
    if (!unread && kept)
        motus_warn("%s; %lld pictures are kept: the same command with --resume goes on",
                   error->text, kept);
    else if (!unread)
        motus_warn("%s", error->text);
    motus_encode_outputs_abandon(&m->outputs);
    motus_journal_close(&m->journal, 0);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, signal   ? MOTUS_EXIT_SIGNAL + signal
                              : unread ? MOTUS_EXIT_PIPE
                                       : MOTUS_EXIT_FAILURE);
}

int motus_mpi_run_pass(MotusLink *link, const MotusEncodeOptions *options,
                       const MotusMpiOptions *own, MotusMpiPass *pass) {
    MotusMaster m = {.pass = pass, .link = link, .options = options, .setup = {.status = -1}};
    MotusError error = {0};
    pthread_t thread;
    MotusStatus status = open_all(&m, own, &error);
    if (status) m.setup.status = motus_failure(&error);
    motus_mpi_broadcast(&m.setup, options, own->local);
    if (status) {
        close_all(&m, 0);
        return m.setup.status;
    }
    const MotusMpiWorker worker = {link, options, &m.setup};
    const int works = m.ranks == 1 || !own->rank0_muxes_only;
    m.workers = m.ranks - !works;
    if (works && pthread_create(&thread, NULL, motus_mpi_worker, (void *)&worker))
        status = motus_fail(&error, MOTUS_ERR_MEMORY, "no thread for rank 0's own work");
    if (!status) status = start_scene_scan(&m, &worker, &error);
    if (!status) status = run(&m, &error);
    if (status) abort_job(&m, &error);
    finish_times(&m);
    stop_all(&m);
    if (works) pthread_join(thread, NULL);
    if (!pass->first) motus_encode_note_searched(options, m.searched);
    if (!options->quiet && !pass->first) motus_report_print(stderr, &m.totals, &m.report);
    close_all(&m, !pass->first);
    return options->strict && (m.damaged || m.lost) && !pass->first ? MOTUS_EXIT_FAILURE
                                                                    : MOTUS_EXIT_OK;
}
