/* What became of a worker, in words. */
#ifndef ISO_NATIVE_HOST_CRASH_REPORT_H
#define ISO_NATIVE_HOST_CRASH_REPORT_H

#include "base/text.h"
#include "native/host/loaded.h"
#include "native/shared.h"

struct source_lines;

/* The explorer's own copy of a struct crash_record, and what it knows besides.
 */
struct crash_report {
	enum crash_kind kind;
	int signal, code;
	uint64_t address;
	uint64_t frames[SHARED_FRAMES];
	uint32_t frame_count;
	uint64_t called;  /* the place of its last call of the API, or 0 */
	int status;       /* of waitpid(), -1 if unknown */
	int stopped;      /* the signal that stopped it, before the timeout */
	bool cut_off;     /* it lived on, but had closed its socket */
	char program[16]; /* that it became by exec(); "": none */
	bool cpu_limited; /* its processor time was limited */
	double timeout;   /* seconds, of CRASH_TIMEOUT */
	bool waited;      /* all that time it was hardly at work */
	uint64_t memory;  /* bytes it may take, of CRASH_MEMORY */
};

/* The program counter of a frame in user code, 0 if none: of the call where it
 * is not the place of the crash itself. Frames from `*next` on are looked at;
 * `*next` moves behind it. */
uint64_t crash_report_place(const struct crash_report *d,
                            const struct loaded *l, uint32_t *next);
/* The first of them, or else where it was last seen: 0 if unknown. */
uint64_t crash_report_near(const struct crash_report *d,
                           const struct loaded *l);
/* One line: what happened and where. */
void crash_report_describe(const struct crash_report *d, const struct loaded *l,
                           struct source_lines *lines, struct text *out);
/* The last lines of what was printed, at most 200 bytes of them and fit to be
 * shown; nothing if nothing was printed. Newlines become " / ". */
void crash_report_last_words(const char *printed, size_t length,
                             struct text *out);

#endif
