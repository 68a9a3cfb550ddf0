/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ATTRIBUTES_H
#define TM_ATTRIBUTES_H

#define TM_MUST_USE __attribute__((warn_unused_result))
/* On the way of every event, where a call costs as much as what it does. */
#define TM_INLINE static inline __attribute__((always_inline))
/* What hardly an event needs: its registers and its room on the stack are not that of the others. */
#define TM_NOT_INLINE static __attribute__((noinline))
#define TM_PRINTF(text, first) __attribute__((format(printf, text, first)))

#endif
