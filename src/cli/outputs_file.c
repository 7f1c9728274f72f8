#include "cli/outputs_file.h"
#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct psd_outputs_file {
    char *prefix;        /* owned */
    struct psd_log *log; /* borrowed */
    bool goes_on;
    int64_t from; /* rows of before that are of this iteration or a later one go */
    bool warned;
    uint64_t begin_ns;
    FILE **
        files; /* owned; [n_files]: the training net's, then those of the test nets, as they come */
    size_t n_files;
};

static char *path_of(const struct psd_outputs_file *file, int test)
{
    return test < 0 ? psd_alloc_text("%s.netoutputs", file->prefix)
                    : psd_alloc_text("%s.test%d.netoutputs", file->prefix, test);
}

/* Where the first row of `from` or later begins, or one that is not whole: rows rise. False: a line could
 * not be read, and errno says why. */
static bool find_end(FILE *in, int64_t from, off_t *out)
{
    size_t room = 0;
    char *line = NULL;
    off_t end = 0;
    ssize_t length;

    while ((length = getline(&line, &room, in)) > 0 && line[length - 1] == '\n') {
        bool is_row = *line >= '0' && *line <= '9'; /* the first has names */
        if (is_row && strtoll(line, NULL, 10) >= from)
            break;
        end = ftello(in);
    }
    free(line); /* it is getline's, and errno stays as it is */
    *out = end;
    return !ferror(in) && (length > 0 || feof(in));
}

static psd_status fail_to(const char *what, const char *path)
{
    return psd_fail(PSD_ECONFIG, "%s cannot be %s: %s", path, what, strerrordesc_np(errno));
}

static psd_status cut_opened(FILE *in, const char *path, int64_t from)
{
    struct stat file;
    off_t end = 0;

    if (!find_end(in, from, &end) || fstat(fileno(in), &file) != 0)
        return fail_to("read", path);
    if (end < file.st_size && truncate(path, end) != 0)
        return fail_to("written", path);
    return PSD_OK;
}

/* Drops what the training is about to show once more. A file that is not there has nothing to drop. */
static psd_status cut(const char *path, int64_t from)
{
    FILE *in = fopen(path, "re");

    if (!in)
        return errno == ENOENT ? PSD_OK : fail_to("read", path);
    psd_status status = cut_opened(in, path, from);
    fclose(in);
    return status;
}

/* Opens the file of the training net, -1, or of a test net. */
static psd_status open_file(struct psd_outputs_file *file, int test)
{
    size_t at = test < 0 ? 0 : (size_t)test + 1;

    if (at >= file->n_files) {
        FILE **files = psd_alloc_resize(file->files, at + 1, sizeof *files);
        if (!files)
            return PSD_ENOMEM;
        memset((void *)(files + file->n_files), 0, (at + 1 - file->n_files) * sizeof *files);
        file->files = files;
        file->n_files = at + 1;
    }
    if (file->files[at])
        return PSD_OK;
    char *path = path_of(file, test);
    if (!path)
        return PSD_ENOMEM;
    psd_status status = file->goes_on ? cut(path, file->from) : PSD_OK;
    if (status == PSD_OK)
        file->files[at] = fopen(path, file->goes_on ? "ae" : "we");
    if (status == PSD_OK && !file->files[at])
        status = fail_to("written", path);
    psd_alloc_free(path);
    return status;
}

psd_status psd_outputs_file_open(const char *prefix, bool goes_on, struct psd_log *log,
                                 struct psd_outputs_file **out)
{
    struct psd_outputs_file *file = psd_alloc_zero(1, sizeof *file);

    if (!file)
        return PSD_ENOMEM;
    file->prefix = psd_alloc_copy(prefix, strlen(prefix) + 1);
    file->log = log;
    file->goes_on = goes_on;
    file->from = INT64_MAX;
    file->begin_ns = psd_clock_now();
    psd_status status = file->prefix ? open_file(file, -1) : PSD_ENOMEM;
    if (status == PSD_OK)
        *out = file;
    else
        psd_outputs_file_close(file);
    return status;
}

psd_status psd_outputs_file_go_on(struct psd_outputs_file *file, int64_t iteration)
{
    if (!file->goes_on)
        return PSD_OK;
    file->from = iteration;
    fclose(file->files[0]);
    file->files[0] = NULL;
    return open_file(file, -1);
}

void psd_outputs_file_close(struct psd_outputs_file *file)
{
    if (!file)
        return;
    for (size_t i = 0; i < file->n_files; i++) {
        if (file->files[i])
            fclose(file->files[i]);
    }
    psd_alloc_free((void *)file->files);
    psd_alloc_free(file->prefix);
    psd_alloc_free(file);
}

/* A name with a number where the output has several values. */
static void write_head(FILE *to, const struct psd_net *net)
{
    fputs("Iteration,time,loss", to);
    for (size_t i = 0; i < net->n_outputs; i++) {
        size_t count = psd_net_output_size(net, i);
        for (size_t k = 0; k < count; k++)
            if (count > 1)
                fprintf(to, ",%s[%zu]", net->blob_names[net->outputs[i]], k);
            else
                fprintf(to, ",%s", net->blob_names[net->outputs[i]]);
    }
    fputc('\n', to);
}

static bool write_row(const struct psd_outputs_file *file, FILE *to,
                      const struct psd_solver_row *row)
{
    size_t count = psd_net_count_outputs(row->net);

    if (ftell(to) == 0)
        write_head(to, row->net);
    fprintf(to, "%lld,%.3f,%.9g", (long long)row->iteration,
            (double)(psd_clock_now() - file->begin_ns) / 1e9, (double)row->loss);
    for (size_t i = 0; i < count; i++)
        fprintf(to, ",%.9g", (double)row->outputs[i]);
    fputc('\n', to);
    return fflush(to) == 0;
}

void psd_outputs_file_add(struct psd_outputs_file *file, const struct psd_solver_row *row)
{
    psd_status status = open_file(file, row->test);

    if (status == PSD_OK && !write_row(file, file->files[row->test + 1], row))
        status = psd_fail(PSD_ECONFIG, "%s.netoutputs cannot be written: %s", file->prefix,
                          strerrordesc_np(errno));
    if (status != PSD_OK && !file->warned)
        psd_log_warning(file->log, "%s", psd_error());
    file->warned |= status != PSD_OK;
}
