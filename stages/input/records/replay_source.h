/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_REPLAY_SOURCE_H
#define TM_REPLAY_SOURCE_H

#include "pipeline/source.h"

/* A source over another one that is dear to read: the reading of a track that counts keeps its records in a record store,
 * and later readings take them from there.  Not for records whose own arguments will be asked for: those are not kept.
 *
 * in:     inner  its trace must outlive the result
 * owns:   inner, also where it fails; *source is the caller's, freed by (*source)->type->free
 * errors: TM_ERR_LIMIT */
tm_status tm_replay_source_new(struct tm_source *inner, struct tm_source **source) TM_MUST_USE;

#endif
