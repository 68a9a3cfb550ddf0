/* SPDX-License-Identifier: Apache-2.0 */
/* Judges series, one a line: `watch_series LEAST_PCT`.  For each it prints its regressions: "kind,from,opened,closed,end" (closed: -1 = open). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/statistics/statistics.h"

enum { VALUES_MOST = 4096 };

int main(int count, char **argument)
{
    static double value[VALUES_MOST];
    static const char *const kinds[] = { "step", "drift" }, *const ends[] = { "open", "recovered", "dismissed" };
    struct tm_regression found[TM_REGRESSIONS_MOST];
    const struct tm_watch_options options = { .least = { .share = count > 1 ? atof(argument[1]) / 100 : 0.02 },
                                              .is_lower_better = true };
    char *line = NULL;
    size_t room = 0;

    while (getline(&line, &room, stdin) > 0) {
        size_t values = 0;

        for (char *at = line, *end; values < VALUES_MOST; at = end) {
            value[values] = strtod(at, &end);
            if (end == at)
                break;
            values++;
        }

        const size_t n = tm_watch_series((struct tm_sample){ value, values }, &options, found);

        for (size_t i = 0; i < n; i++)
            (void)printf("%s%s,%zu,%zu,%ld,%s", i ? " " : "", kinds[found[i].kind], found[i].from, found[i].opened,
                         (long)found[i].closed, ends[found[i].end]);
        (void)printf("\n");
    }
    free(line);
    return 0;
}
