/* wishes.h - forms and routes that somebody asks for: --form fc6=dense --route fc7=broadcast.
 *
 * A name is a parameter's, "fc6[0]", or a layer's, "fc6": then all its parameters are meant, except a
 * bias, which follows its weight anyway. */
#ifndef PSD_CLI_WISHES_H
#define PSD_CLI_WISHES_H

#include "cli/cli.h"
#include "comm/workload_job.h"

/* The wishes of `forms` and `routes`, each NULL or ending with NULL, for every parameter of the
 * workload; later ones win. The caller frees *out. A misuse: a name or word is unknown. */
psd_status psd_wishes_read(struct psd_cli *cli, const struct psd_workload *workload,
                           char *const *form_texts, char *const *route_texts,
                           struct psd_workload_wish **out);

/* What one text, "fc6=dense", asks for, whatever its name means: a form, or a route. */
psd_status psd_wishes_read_text(struct psd_cli *cli, bool is_form, const char *text,
                                struct psd_workload_wish *out);

#endif
