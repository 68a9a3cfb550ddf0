/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ATTRIBUTES_H
#define TM_ATTRIBUTES_H

#define TM_MUST_USE __attribute__((warn_unused_result))
#define TM_PRINTF(text, first) __attribute__((format(printf, text, first)))

#endif
