/* Clocks, in seconds since some moment: only differences mean something. */
#ifndef ISO_BASE_SECONDS_H
#define ISO_BASE_SECONDS_H

/* Of the clock that nobody sets. */
double seconds_now(void);
/* That the CPU worked for this thread. */
double seconds_of_cpu(void);
/* That it worked for this process, whoever has it; -1: there is none. */
double seconds_of_process(int process);

#endif
