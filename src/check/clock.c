#include "check/check.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/seconds.h"

struct check_clock {
	struct check_limits limits;
	double begun;
	unsigned asked;     /* looks at the time only now and then */
	const char *reason; /* NULL while there is time */
};

enum { ASKED_BETWEEN_LOOKS = 16 };

struct check_clock *check_clock_new(const struct check_limits *l)
{
	struct check_clock *c = mem_take0(1, sizeof *c);
	c->limits = *l;
	c->begun = seconds_now();
	return c;
}

void check_clock_free(struct check_clock *c)
{
	free(c);
}

bool check_clock_over(struct check_clock *c)
{
	if (c->reason) return true;
	if (c->asked++ % ASKED_BETWEEN_LOOKS) return false;
	const struct check_limits *l = &c->limits;
	if (l->stop && l->stop(l->stop_data))
		c->reason = "it was interrupted";
	else if (l->seconds > 0 && seconds_now() - c->begun >= l->seconds)
		c->reason = "the time limit was reached";
	return c->reason;
}

const char *check_clock_reason(const struct check_clock *c)
{
	return c->reason;
}

bool check_clock_too_large(const struct check_clock *c, uint64_t bytes)
{
	uint64_t most = c->limits.memory;
	return bytes > (most ? most : mem_usual_limit());
}
