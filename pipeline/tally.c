/* SPDX-License-Identifier: Apache-2.0 */
/* The names, levels and explanations of the tallies.  Each one is in every report's footer when it
 * counted something, and in summary.json under its name. */
#include "pipeline/tally.h"

/* clang-format off */
const struct tm_tally_info tm_tally_info[TM_TALLY_COUNT] = {
    [TM_TALLY_AGGREGATED_EVENT] = {
        "aggregated-event", TM_TALLY_LOSS,
        "An event that stands for several occurrences has no place in time and is in no figure." },
    [TM_TALLY_BAD_FIELD] = {
        "bad-field", TM_TALLY_LOSS,
        "A field had a wire type that does not fit it and was skipped." },
    [TM_TALLY_CLOCK_OUTLIER] = {
        "clock-outlier", TM_TALLY_LOSS,
        "An event over 100 days after the start of the profile, or over 5 days before it, was left out." },
    [TM_TALLY_CUT_SHORT] = {
        "cut-short", TM_TALLY_LOSS,
        "The input ends in the middle of a message; the bytes of that message were not read." },
    [TM_TALLY_DERIVED] = {
        "derived", TM_TALLY_NOTE,
        "Events on lines that repeat what other lines hold are counted, but are in no figure." },
    [TM_TALLY_DUPLICATE_METADATA] = {
        "duplicate-metadata", TM_TALLY_NOTE,
        "Two metadata entries had the same id; the last one counts." },
    [TM_TALLY_DEEP_NESTING] = {
        "deep-nesting", TM_TALLY_NOTE,
        "More spans were open at once on one thread than are followed; the innermost were not." },
    [TM_TALLY_INVALID_UTF8] = {
        "invalid-utf8", TM_TALLY_NOTE,
        "A name was not valid UTF-8 and was kept as bytes." },
    [TM_TALLY_LONG_VALUE] = {
        "long-value", TM_TALLY_LOSS,
        "A value was longer than the read buffer; the event was kept without it." },
    [TM_TALLY_NEGATIVE_DURATION] = {
        "negative-duration", TM_TALLY_LOSS,
        "A duration was below zero; the event was kept with length 0." },
    [TM_TALLY_NEGATIVE_START] = {
        "negative-start", TM_TALLY_NOTE,
        "An event starts before the profile does; it was kept." },
    [TM_TALLY_NO_METADATA] = {
        "no-metadata", TM_TALLY_LOSS,
        "An event referred to a metadata id that has no entry; it was kept without a name." },
    [TM_TALLY_UNKNOWN_DEVICE] = {
        "unknown-device", TM_TALLY_LOSS,
        "Events on planes of an unknown kind of device were left out." },
    [TM_TALLY_UNKNOWN_FIELD] = {
        "unknown-field", TM_TALLY_NOTE,
        "A field that the format does not define was skipped." },
    [TM_TALLY_UNKNOWN_PLANE] = {
        "unknown-plane", TM_TALLY_NOTE,
        "Events on planes that are neither host nor device were left out." },
    [TM_TALLY_WRONG_CLOCK] = {
        "wrong-clock", TM_TALLY_NOTE,
        "A launch begins after the device work that it started; the clocks differ." },
    [TM_TALLY_PROFILER_WARNING] = {
        "profiler-warning", TM_TALLY_NOTE,
        "The profiler left a warning or an error in the file." },
    [TM_TALLY_UNSORTED_LINE] = {
        "unsorted-line", TM_TALLY_NOTE,
        "The events of a line were not in the order of time and were sorted." },
};
/* clang-format on */

uint64_t tm_tally_losses(const struct tm_tallies *t)
{
    uint64_t sum = 0;

    for (int i = 0; i < TM_TALLY_COUNT; i++) {
        if (tm_tally_info[i].level == TM_TALLY_LOSS)
            sum += t->count[i];
    }
    return sum;
}
