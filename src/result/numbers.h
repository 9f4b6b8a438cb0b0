/* Numbers as people say them: exact ones, and those that are only known
 * roughly. */
#ifndef ISO_RESULT_NUMBERS_H
#define ISO_RESULT_NUMBERS_H

#include <stdint.h>

#include "base/text.h"

/* 1234567 as 1,234,567. */
void number_count(struct text *t, uint64_t n);
/* "1 history", "2,000 histories". */
void number_plural(struct text *t, uint64_t n, const char *one,
                   const char *many);
/* "3 of 12 histories". */
void number_of(struct text *t, uint64_t n, uint64_t of, const char *one,
               const char *many);
/* "3 of the first 12 histories". */
void number_of_first(struct text *t, uint64_t n, uint64_t of, const char *one,
                     const char *many);
/* "7 of 10 traces", "all 10 traces" */
void number_of_all(struct text *t, uint64_t n, uint64_t all, const char *many);
/* 120 µs, 1.3 ms, 2.41 s, 3 min 20 s */
void number_seconds(struct text *t, double seconds);
/* 712 kB, 1.4 MB */
void number_memory(struct text *t, uint64_t bytes);
/* "12 MB resident": the most that the program held. */
void number_resident(struct text *t);

/* Roughly, in three digits: 412, 12,300, 1.31 million, 5.2 billion, 1.7e+15 */
void number_about(struct text *t, double n);
/* Both ends, with the unit once: "1.1 to 1.6 million" */
void number_range(struct text *t, double low, double high);
/* "less than 0.1 s", 2.3 s, 4 min, 2.5 hours, 12 days, 3 years */
void number_duration(struct text *t, double seconds);
/* "33.1 %"; a little is not nothing. */
void number_share(struct text *t, uint64_t n, uint64_t of);

#endif
