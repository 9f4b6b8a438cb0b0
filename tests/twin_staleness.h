/* The least number of stale reads, by definition: all orders of the
 * transactions are tried. The judge of src/axioms/staleness.h.
 */
#ifndef TESTS_TWIN_STALENESS_H
#define TESTS_TWIN_STALENESS_H

#include <stdint.h>

#include "history/history.h"

/* For up to TWIN_TRANSACTIONS transactions. UINT32_MAX: there is no order. */
uint32_t twin_staleness(const struct history *h);

#endif
