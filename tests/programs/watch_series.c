/* SPDX-License-Identifier: Apache-2.0 */
/* Judges series, one a line: `watch_series LEAST_PCT [AMOUNT [higher]]`.  For each it prints its regressions: "kind,from,opened,closed,end"
 * (closed: -1 = open), then "level,band,values,improved" of the baseline.  "a" behind a value: a regression that is open
 * then is accepted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/statistics/statistics.h"

enum { VALUES_MOST = 4096 };

int main(int count, char **argument)
{
    static double value[VALUES_MOST];
    static const char *const kinds[] = { "step", "drift" }, *const ends[] = { "open", "recovered", "dismissed",
                                                                              "accepted" };
    static size_t accepted[VALUES_MOST];
    struct tm_watched found;
    struct tm_watch_options options = { .least = { .share = count > 1 ? atof(argument[1]) / 100 : 0.02,
                                                   .amount = count > 2 ? atof(argument[2]) : 0 },
                                        .is_lower_better = count < 4,
                                        .accepted = accepted };
    char *line = NULL;
    size_t room = 0;

    while (getline(&line, &room, stdin) > 0) {
        size_t values = 0;

        options.accepted_count = 0;

        for (char *at = line, *end; values < VALUES_MOST; at = end) {
            value[values] = strtod(at, &end);
            if (end == at)
                break;
            if (*end == 'a') {
                accepted[options.accepted_count++] = values;
                end++;
            }
            values++;
        }

        tm_watch_series((struct tm_sample){ value, values }, &options, &found);
        for (size_t i = 0; i < found.count; i++)
            (void)printf("%s,%zu,%zu,%ld,%s ", kinds[found.found[i].kind], found.found[i].from, found.found[i].opened,
                         (long)found.found[i].closed, ends[found.found[i].end]);
        (void)printf("%.17g,%.17g,%zu,%ld\n", found.level, found.band, found.values, (long)found.improved);
    }
    free(line);
    return 0;
}
