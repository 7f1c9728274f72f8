/* relay.c - pipes that are never waited for, and two outputs that are asked before they are written to.
 *
 *     stream: a pipe, and the beginning of a line ---> outlet: a whole line on its way out */
#include "cli/relay.h"
#include "base/alloc.h"
#include "cli/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Where lines come from. */
struct stream {
    int from, to; /* ends of the pipe, owned; -1: closed */
    unsigned rank;
    struct psd_outlet *outlet;
    size_t length; /* not yet passed on, of text; in which the end of a line has room, too */
    char text[PSD_OUTLET_TEXT + 1];
};

struct psd_relay {
    struct psd_outlet outlets[2];
    unsigned count; /* of streams: two for each rank above 0 */
    struct stream streams[];
};

/* --- pipes -------------------------------------------------------------------------------------- */

static void shut(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void init(struct psd_relay *relay, const struct psd_relay_options *options)
{
    psd_outlet_open(options->out, options->over_status, &relay->outlets[0]);
    psd_outlet_open(options->err, options->over_status, &relay->outlets[1]);
    for (unsigned i = 0; i < relay->count; i++) {
        relay->streams[i].from = relay->streams[i].to = -1;
        relay->streams[i].rank = 1 + i / 2;
        relay->streams[i].outlet = &relay->outlets[i % 2];
    }
}

static psd_status make_pipe(struct stream *stream)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return psd_fail(PSD_ENOMEM, "make a pipe for the output of rank %u: %s", stream->rank,
                        strerrordesc_np(errno));
    stream->from = ends[0];
    stream->to = ends[1];
    (void)fcntl(stream->from, F_SETFL, O_NONBLOCK);
    return PSD_OK;
}

psd_status psd_relay_open(const struct psd_relay_options *options, struct psd_relay **out)
{
    unsigned count = 2 * (options->count - 1);
    struct psd_relay *relay = psd_alloc_zero(1, sizeof *relay + count * sizeof *relay->streams);
    psd_status status = PSD_OK;

    if (!relay)
        return PSD_ENOMEM;
    relay->count = count;
    init(relay, options);
    for (unsigned i = 0; i < count && status == PSD_OK; i++)
        status = make_pipe(&relay->streams[i]);
    if (status == PSD_OK)
        *out = relay;
    else
        psd_relay_close(relay);
    return status;
}

static void shut_all(struct psd_relay *relay)
{
    for (unsigned i = 0; i < relay->count; i++) {
        shut(&relay->streams[i].from);
        shut(&relay->streams[i].to);
    }
    psd_outlet_close(&relay->outlets[0]);
    psd_outlet_close(&relay->outlets[1]);
}

void psd_relay_close(struct psd_relay *relay)
{
    if (relay)
        shut_all(relay);
    psd_alloc_free(relay);
}

psd_status psd_relay_enter(struct psd_relay *relay, unsigned rank)
{
    bool done = true;

    for (unsigned i = 0; i < relay->count; i++) {
        const struct stream *stream = &relay->streams[i];
        if (stream->rank == rank)
            done = done && dup2(stream->to, i % 2 ? STDERR_FILENO : STDOUT_FILENO) >= 0;
    }
    shut_all(relay);
    return done ? PSD_OK
                : psd_fail(PSD_ENOMEM, "connect the output of rank %u: %s", rank,
                           strerrordesc_np(errno));
}

void psd_relay_begin(struct psd_relay *relay)
{
    for (unsigned i = 0; i < relay->count; i++)
        shut(&relay->streams[i].to);
}

/* --- lines in ----------------------------------------------------------------------------------- */

/* Passes one line on; false: there is none yet. With `last`, what there is, is one. */
static bool pass_line(struct stream *stream, bool last)
{
    const char *end = memchr(stream->text, '\n', stream->length);
    size_t length = stream->length < PSD_OUTLET_TEXT ? stream->length : PSD_OUTLET_TEXT;

    if (!end && stream->length <= PSD_OUTLET_TEXT && !(last && stream->length > 0))
        return false;
    if (end)
        length = (size_t)(end - stream->text);
    psd_outlet_say(stream->outlet, stream->rank, stream->text, length);
    length += end != NULL;
    stream->length -= length;
    memmove(stream->text, stream->text + length, stream->length);
    return true;
}

/* Reads on; false: there is nothing now, or nothing ever again. */
static bool fill(struct stream *stream)
{
    ssize_t n =
        read(stream->from, stream->text + stream->length, sizeof stream->text - stream->length);

    if (n > 0) {
        stream->length += (size_t)n;
        return true;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        (void)pass_line(stream, true);
        shut(&stream->from);
    }
    return false;
}

static void move(struct stream *stream)
{
    const struct psd_outlet *outlet = stream->outlet;
    bool more = true;

    while (more && stream->from >= 0 && outlet->fd >= 0 && !outlet->is_full)
        more = pass_line(stream, false) || fill(stream);
    if (outlet->fd < 0)
        shut(&stream->from); /* its member is to know that nobody listens */
}

/* --- waiting ------------------------------------------------------------------------------------ */

unsigned psd_relay_polls(const struct psd_relay *relay)
{
    return 2 + relay->count;
}

void psd_relay_watch(const struct psd_relay *relay, struct pollfd *polls)
{
    for (unsigned i = 0; i < 2; i++) {
        const struct psd_outlet *outlet = &relay->outlets[i];
        polls[i] = (struct pollfd){.fd = outlet->is_full ? outlet->fd : -1, .events = POLLOUT};
    }
    for (unsigned i = 0; i < relay->count; i++) {
        const struct stream *stream = &relay->streams[i];
        polls[2 + i] =
            (struct pollfd){.fd = stream->outlet->is_full ? -1 : stream->from, .events = POLLIN};
    }
}

/* Whoever waited for an outlet has lines of its own left. */
void psd_relay_move(struct psd_relay *relay, const struct pollfd *polls)
{
    for (unsigned i = 0; i < 2; i++) {
        if (polls[i].revents)
            psd_outlet_flush(&relay->outlets[i]);
    }
    for (unsigned i = 0; i < relay->count; i++) {
        if (polls[2 + i].revents || polls[i % 2].revents)
            move(&relay->streams[i]);
    }
}

void psd_relay_hear(struct psd_relay *relay, unsigned rank)
{
    for (unsigned i = 0; i < relay->count; i++) {
        if (relay->streams[i].rank == rank)
            move(&relay->streams[i]);
    }
}

bool psd_relay_is_done(const struct psd_relay *relay)
{
    for (unsigned i = 0; i < relay->count; i++) {
        if (relay->streams[i].from >= 0 || relay->streams[i].outlet->is_full)
            return false;
    }
    return true;
}
