/* choice.h - one route for each parameter that has several, so that all together are fastest.
 *
 *     open     fc6           fc7           fc8
 *              broadcast     row-sharded   row-sharded    -->  predicted seconds
 *              broadcast     broadcast     row-sharded    -->  ...
 *
 * While there are few combinations all of them are tried. Otherwise routes are changed one by one
 * and two by two, from several starts, until nothing helps. Of combinations that are equally fast
 * the one with the least device work is taken, then the one with the fewest bytes, then the one with
 * the least memory. The same question always has the same answer. One thread at a time. */
#ifndef PSD_COMM_CHOICE_H
#define PSD_COMM_CHOICE_H

#include "comm/predict.h"

enum { PSD_CHOICE_MOST = 4096 }; /* predictions that one choice may take, or a few more */

struct psd_choice {
    struct psd_predict *predict;         /* borrowed, as all here */
    const struct psd_plan_param *params; /* [n_params]: what each route costs */
    size_t n_params;
    const size_t *leader; /* [n_params]: the parameter itself, or the weight whose route it takes */
    const size_t *open;   /* [n_open]: leaders that take broadcast or row-sharded */
    size_t n_open;
    double clip_s;         /* as in psd_predict_run */
    double grain;          /* seconds that make no difference */
    enum psd_route *spare; /* [n_params]: to write on */
};

/* What a combination is judged by, in this order. */
struct psd_choice_score {
    double ticks;    /* predicted seconds in whole grains, */
    double device_s; /* and sums over all parameters */
    double bytes;
    double memory;
    double seconds; /* predicted, as they are */
};

struct psd_choice_score psd_choice_score(const struct psd_choice *choice,
                                         const enum psd_route *routes);

/* Whether `a` is to be preferred; never both ways. */
bool psd_choice_better(const struct psd_choice_score *a, const struct psd_choice_score *b);

/* Gives a leader, and what follows it, a route. */
void psd_choice_set(const struct psd_choice *choice, size_t leader, enum psd_route route,
                    enum psd_route *routes);

/* Fills in routes[] for what is open and for what follows it; the others are there and stay. */
void psd_choice_make(const struct psd_choice *choice, enum psd_route *routes);

/* Its two ways: by trying all 2^n_open combinations, n_open being below 32, or step by step. */
void psd_choice_exhaust(const struct psd_choice *choice, enum psd_route *routes);
void psd_choice_descend(const struct psd_choice *choice, enum psd_route *routes);

#endif
