/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ATTRIBUTES_H
#define TM_ATTRIBUTES_H

#define TM_MUST_USE __attribute__((warn_unused_result))
/* On the way of every event, where a call costs as much as what it does. */
#define TM_INLINE static inline __attribute__((always_inline))
/* With registers and room on the stack of its own: what hardly an event needs, or what needs much of the stack that is not
 * to lie there while its caller does something else. */
#define TM_NOT_INLINE static __attribute__((noinline))
#define TM_PRINTF(text, first) __attribute__((format(printf, text, first)))

#endif
