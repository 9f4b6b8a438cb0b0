/* How many cores this process may use. */
#ifndef ISO_CLI_CORES_H
#define ISO_CLI_CORES_H

/* Of those that it may be scheduled on, as many as its control groups let it
 * use at a time, rounded up; at least 1. Only one under address sanitizer, whose
 * allocator may be left locked in a child that is forked beside other threads,
 * and so in the processes in which code in C runs. */
unsigned cores_usable(void);

#endif
