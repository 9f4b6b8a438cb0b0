/* Which anomalies an application can have, as far as its logs tell, and which
 * columns cause them (IsoDiff: Gan, Ren, Ripberger, Blanas, Wang, PVLDB 2020;
 * but the search is exact). */
#ifndef ISO_AUDIT_AUDIT_H
#define ISO_AUDIT_AUDIT_H

#include "audit/cover.h"
#include "audit/cycles.h"
#include "audit/limit.h"
#include "base/budget.h"
#include "base/verdict.h"

struct history;

/* How far it has come: with a log, or, without one, with the search. */
struct audit_progress {
	const char *log; /* its path; NULL: cycles are looked for */
	uint64_t done,
		total; /* bytes of all logs, or edges; total 0: unknown */
	uint64_t statements;
	uint32_t classes;
	bool proves; /* all are proved: `done` questions were asked */
	double seconds;
};

struct audit_options {
	const char *const *logs; /* paths; "-": the standard input */
	uint32_t log_count;
	const char *schema, *hints; /* paths, or NULL */
	enum level level;
	const char *group_by; /* what calls are (tags.h), or NULL */
	bool lifts;           /* statements are kept, for lift() */
	bool confirms;        /* so they are, and cycles are explored */
	bool proves;          /* so they are, for prove_all_classes() */
	const char *as;       /* what the database calls it, or NULL */
	/* Called now and then; NULL: not. */
	void (*tick)(void *payload, const struct audit_progress *p);
	void *payload;
	WITH_BUDGET;
};

/* What exploring says of a cycle. */
enum confirmation {
	CONFIRM_UNASKED,
	CONFIRM_FOUND,   /* it happens: `history` */
	CONFIRM_OTHER,   /* another one of these transactions does: `history` */
	CONFIRM_REFUTED, /* not with these values */
	CONFIRM_OPEN,    /* `why` it is not known */
	CONFIRMATIONS
};

struct confirmed {
	enum confirmation answer;
	char *why;
	struct text client; /* what was explored, a specification */
	struct history *history;
	uint64_t histories;
};

/* One read of a class that can be stale, or one transaction of a call that is
 * over before the call is, and a cycle through it. */
struct audit_anomaly {
	struct audit_cycle cycle;
	uint32_t edge;   /* the edge behind the pivot: the cycle's first */
	uint32_t column; /* the first of it that is among the chosen ones */
	struct confirmed confirmed;
};

struct audit {
	struct audit_options options;
	struct audit_limit limit;
	struct catalog catalog;
	struct hints hints;
	struct sql_parser *parser;
	struct log *logs; /* one for each path */
	struct classes classes;
	struct conflicts graph;
	struct audit_anomaly *anomalies;
	uint32_t anomaly_count, anomaly_capacity;
	/* Of rw edges that are left early. */
	uint64_t edges_found, edges_timing, edges_rows, edges_open;
	struct cover cover;
	uint32_t *weights;
	uint64_t *protected; /* bit c: column c is among the chosen ones */
	uint32_t protected_count;
	uint64_t unprotectable; /* cycles of columns that cannot be */
	bool cover_exact, cover_complete;
	uint64_t confirmations[CONFIRMATIONS];
	struct {
		enum verdict verdict; /* of all classes */
		char *why;            /* it is not proved; else NULL */
		double seconds;
		char **assumed; /* of values, if it is proved (lift.h) */
		uint32_t assumed_count;
	} proof;
	uint64_t edges_proof; /* that a proof of all classes cleared */
	enum stop_reason stop;
	double read_seconds, search_seconds;
	/* For progress. */
	double begun;
	uint64_t bytes;      /* of all logs; 0: not known */
	uint64_t bytes_read; /* of those before the one that is read */
	uint64_t entries;
};

/* False, with diagnostics, if an input cannot be read. */
bool audit_run(struct audit *a, const struct audit_options *o, struct diags *d);
void audit_free(struct audit *a);
/* Does it take several transactions of one call, the pivot? */
bool audit_spans_call(const struct audit *a, const struct audit_anomaly *x);

#endif
