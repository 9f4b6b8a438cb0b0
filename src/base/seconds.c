#include "base/seconds.h"

#include <time.h>

static double seconds_of(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double seconds_now(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

double seconds_of_cpu(void)
{
	return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

double seconds_of_process(int process)
{
	clockid_t clock;
	return clock_getcpuclockid(process, &clock) ? -1 : seconds_of(clock);
}
