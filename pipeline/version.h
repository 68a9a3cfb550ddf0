/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_VERSION_H
#define TM_VERSION_H

#define TM_VERSION "0.1.0"

#endif
