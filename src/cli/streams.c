/* streams.c - descriptors that exist, sentences that say where they come from, output that arrives
 * or is missed. */
#include "cli/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

void psd_streams_start(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        /* Opened the wrong way round: using it fails, as it would have before. */
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    }
    signal(SIGPIPE, SIG_IGN);
}

/* "name:12: " or "name:12:5: "; a name may have blanks in it. */
static bool starts_with_position(const char *line)
{
    size_t length = strcspn(line, "\n");

    for (size_t i = 0; i < length; i++) {
        size_t digits = line[i] == ':' ? strspn(line + i + 1, "0123456789") : 0;
        if (digits && line[i + 1 + digits] == ':')
            return true;
        if (line[i] == ':' && line[i + 1] == ' ')
            return false;
    }
    return false;
}

void psd_streams_show(FILE *err, const char *program, const char *lines)
{
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        if (!starts_with_position(lines))
            fprintf(err, "%s: ", program);
        fprintf(err, "%.*s\n", (int)length, lines);
        lines += length + (lines[length] == '\n');
    }
}

int psd_streams_end(FILE *out, int error, FILE *err, const char *program)
{
    errno = error; /* stays if there is nothing left to write */
    if (fflush(out) == 0 && !ferror(out))
        return 0;
    if (errno != EPIPE)
        fprintf(err, "%s: standard output: %s\n", program,
                errno ? strerrordesc_np(errno) : "write failed");
    return 1;
}
