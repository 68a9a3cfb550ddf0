/* SPDX-License-Identifier: Apache-2.0 */
/* Judges series, one a line: `watch_series LEAST_PCT [AMOUNT [higher|lower [together]]]`.  For each it prints its
 * regressions: "kind,from,opened,closed,end" (closed: -1 = open), then "level,band,values,improved" of the baseline.
 * "a" behind a value: a regression that is open then is accepted.  together: their noise is estimated from all.
 * A line "~AMOUNT value value ..." is not judged: it only adds to the noise, as one with this AMOUNT. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/statistics/statistics.h"

enum { VALUES_MOST = 4096, SERIES_MOST = 4096 };

struct one {
    double *value;
    size_t count;
    size_t *accepted, accepted_count;
    struct tm_least_change least;
    bool is_judged;
};

static struct one read_one(const char *line, struct tm_least_change least)
{
    static double value[VALUES_MOST];
    static size_t accepted[VALUES_MOST];
    struct one one = { .least = least, .is_judged = *line != '~' };
    char *end = (char *)(uintptr_t)line;

    if (!one.is_judged)
        one.least.amount = strtod(line + 1, &end);
    for (const char *at = end; one.count < VALUES_MOST; at = end) {
        value[one.count] = strtod(at, &end);
        if (end == at)
            break;
        if (*end == 'a') {
            accepted[one.accepted_count++] = one.count;
            end++;
        }
        one.count++;
    }
    one.value = malloc((one.count + 1) * sizeof(*value));
    one.accepted = malloc((one.accepted_count + 1) * sizeof(*accepted));
    if (!one.value || !one.accepted)
        exit(1);
    memcpy(one.value, value, one.count * sizeof(*value));
    memcpy(one.accepted, accepted, one.accepted_count * sizeof(*accepted));
    return one;
}

static void judge(const struct one *one, struct tm_watch_options *options)
{
    static const char *const kinds[] = { "step", "drift" }, *const ends[] = { "open", "recovered", "dismissed",
                                                                              "accepted" };
    struct tm_watched found;

    options->accepted = one->accepted;
    options->accepted_count = one->accepted_count;
    tm_watch_series((struct tm_sample){ one->value, one->count }, options, &found);
    for (size_t i = 0; i < found.count; i++)
        (void)printf("%s,%zu,%zu,%ld,%s ", kinds[found.found[i].kind], found.found[i].from, found.found[i].opened,
                     (long)found.found[i].closed, ends[found.found[i].end]);
    (void)printf("%.17g,%.17g,%zu,%ld\n", found.level, found.band, found.values, (long)found.improved);
}

int main(int count, char **argument)
{
    static struct one many[SERIES_MOST];
    static struct tm_series_noise noise[SERIES_MOST];
    static double scratch[SERIES_MOST];
    struct tm_watch_options options = { .least = { .share = count > 1 ? atof(argument[1]) / 100 : 0.02,
                                                   .amount = count > 2 ? atof(argument[2]) : 0 },
                                        .is_lower_better = count < 4 || strcmp(argument[3], "lower") == 0 };
    struct tm_shared_noise prior;
    size_t series = 0, known = 0, room = 0;
    char *line = NULL;

    while (series < SERIES_MOST && getline(&line, &room, stdin) > 0)
        many[series++] = read_one(line, options.least);
    free(line);
    for (size_t i = 0; count > 4 && i < series; i++)
        known += tm_series_noise_of((struct tm_sample){ many[i].value, many[i].count }, many[i].least, &noise[known]);
    prior = tm_shared_noise_of(noise, known, scratch);
    options.noise = &prior;
    for (size_t i = 0; i < series; i++) {
        if (many[i].is_judged)
            judge(&many[i], &options);
        free(many[i].value);
        free(many[i].accepted);
    }
    return 0;
}
