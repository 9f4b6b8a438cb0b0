#include "report/anomaly_words.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* By the beginning of the name; behind it is that of a paper. */
static const struct {
	const char *name, *meaning;
} meanings[] = {
	{ "lost update", "A transaction overwrites a value that was written "
	                 "after it read the one before." },
	{ "write skew", "Transactions each read what another one overwrites, "
	                "and all commit." },
	{ "read skew", "A transaction reads one key before another transaction "
	               "writes, and one behind it." },
	{ "G-single", "A transaction misses a write of a transaction that "
	              "others which it sees come after." },
	{ "long fork", "Two transactions see two writes in opposite orders." },
	{ "store buffering",
	  "Transactions each miss what the other one wrote before." },
	{ "fractured read", "A transaction sees one write of another "
	                    "transaction and misses another one." },
	{ "non-repeatable read",
	  "A transaction reads one key twice, and gets different values." },
	{ "non-monotonic read",
	  "A later read of a transaction sees less than an earlier one." },
	{ "observed transaction vanishes",
	  "A transaction sees a write of another one, and later none." },
	{ "monotonic reads violation",
	  "A session sees less than it has seen before." },
	{ "monotonic writes violation",
	  "Writes of one session are seen in another order." },
	{ "read-your-writes violation",
	  "A session does not see what it wrote itself." },
	{ "writes-follow-reads violation",
	  "A write is seen without the one that its session had read." },
	{ "causality violation", "An effect is seen without its cause." },
	{ "dirty write", "A transaction overwrites what another one wrote and "
	                 "has not committed." },
	{ "aborted read",
	  "A transaction reads what a transaction wrote that aborts." },
	{ "intermediate read", "A transaction reads what its writer overwrites "
	                       "before it commits." },
	{ "circular information flow",
	  "Transactions read from each other in a circle." },
	{ "read-only transaction anomaly",
	  "A transaction that only reads sees what no serial order gives." },
	{ "lock held by both", "Two transactions hold a lock at the same "
	                       "time." },
	{ "G2-item", "Transactions miss writes of each other in a circle." },
	{ "session sees an older state",
	  "A session sees less than it has seen before." },
	{ "statement sees an older state",
	  "A statement sees less than one before it." },
};

const char *anomaly_meaning(const char *name)
{
	assert(name);
	for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
		if (!strncmp(name, meanings[i].name, strlen(meanings[i].name)))
			return meanings[i].meaning;
	return "An assertion fails, or no serial order gives what was read.";
}
