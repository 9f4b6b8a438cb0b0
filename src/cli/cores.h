/* How many cores this process may use. */
#ifndef ISO_CLI_CORES_H
#define ISO_CLI_CORES_H

/* Of those that it may be scheduled on, as many as its control groups let it
 * use at a time, rounded up; at least 1. Only one under address sanitizer:
 * processes that are forked beside other threads, such as those in which code
 * in C runs, may find its allocator locked for ever. */
unsigned cores_usable(void);

#endif
