/* Clocks, in seconds since some moment: only differences mean something. */
#ifndef ISO_BASE_SECONDS_H
#define ISO_BASE_SECONDS_H

/* Of the clock that nobody sets. */
double seconds_now(void);
/* That the CPU worked for this thread. */
double seconds_of_cpu(void);

#endif
