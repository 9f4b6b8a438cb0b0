/* What random runs of a program showed, as reports see it: what counts as
 * violated, the verdict, and how a run is repeated. */
#ifndef ISO_REPORT_RUN_CASE_H
#define ISO_REPORT_RUN_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "base/verdict.h"
#include "report/example.h"

struct campaign;
struct coverage;

struct run_case {
	const struct campaign *campaign; /* over */
	const struct coverage *coverage; /* NULL: nothing was explored */
	bool coverage_wanted;
};

/* Random runs show that something fails, never that nothing does: without a
 * violation the verdict is `no violation`. It holds only if the program was
 * explored as well, to the end, and the runs have seen every history. */
enum verdict run_verdict(const struct run_case *c);
/* "the assertion fails in 3 of 10 runs under Causal Consistency (cc)" */
void name_run_reason(struct text *t, const struct run_case *c);
/* Why the runs ended early: "the time limit was reached"; "" if not. */
const char *name_run_stop(const struct run_case *c);

/* Runs that were not dropped for a false assumption. */
uint64_t run_counted(const struct run_case *c);
/* Is the slot something that was asked for: an assertion of the program, or
 * robustness if that was? */
bool run_slot_checked(const struct run_case *c, uint32_t slot);
/* Is the slot to be reported as violated? */
bool run_slot_violated(const struct run_case *c, uint32_t slot);
/* Its first violating run, for reports. */
struct example run_example(const struct run_case *c, uint32_t slot);
/* The mean number of runs until a violation of the slot. */
double run_slot_mean(const struct run_case *c, uint32_t slot);
/* The seed of a run, numbered from 1. */
uint64_t run_seed(const struct run_case *c, uint64_t number);
/* "uniform", "weak=3" */
void name_policy(struct text *t, const struct run_case *c);
/* The command, for a shell, that repeats the run. */
void name_run_command(struct text *t, const struct run_case *c,
                      uint64_t number);

#endif
