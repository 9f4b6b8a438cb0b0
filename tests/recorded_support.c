#include "recorded_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assertions.h"
#include "base/memory.h"
#include "check/check.h"

/* ---- files ---- */

__attribute__((noreturn)) static void complain(const char *path,
                                               const struct diags *d)
{
	char *errors = diags_to_text(d);
	ck_abort_msg("%s: %s", path, errors);
	abort();
}

struct trace *read_only_history(const char *path, enum format expected)
{
	struct reader_options o = { .format = FORMAT_COUNT };
	struct diags d = { 0 };
	struct history_reader *r = history_reader_open(path, &o, &d);
	if (!r) complain(path, &d);
	if (expected < FORMAT_COUNT)
		ck_assert_str_eq(format_word(history_reader_format(r)),
		                 format_word(expected));
	struct trace *t = history_reader_next(r, &d);
	if (!t || history_reader_next(r, &d) || d.errors) complain(path, &d);
	history_reader_close(r);
	diags_free(&d);
	return t;
}

static bool write_history(const char *path, enum format f,
                          const struct trace *t, const uint32_t *order,
                          struct diags *d)
{
	struct text printed = { 0 };
	if (format_is_folder(f)) return format_write_folder(path, f, t, d);
	bool good = format_print(&printed, f, t, order, d);
	if (good) file_write(path, text_get(&printed), printed.length);
	text_free(&printed);
	return good;
}

struct trace *through_file(const struct folder *folder, enum format f,
                           const struct trace *t, const uint32_t *order,
                           char **refused)
{
	struct diags d = { 0 };
	struct trace *back = NULL;
	char *path = folder_file(folder, format_word(f));
	if (write_history(path, f, t, order, &d)) {
		ck_assert_uint_eq(d.errors, 0);
		back = read_only_history(path, f);
	} else {
		ck_assert_uint_gt(d.errors, 0);
		*refused = diags_to_text(&d);
	}
	if (format_is_folder(f)) {
		struct folder inner;
		snprintf(inner.path, sizeof inner.path, "%s", path);
		folder_remove(&inner);
	} else {
		remove(path);
	}
	free(path);
	diags_free(&d);
	return back;
}

/* ---- verdicts ---- */

unsigned levels_from_row(const char *row)
{
	unsigned levels = 0;
	ck_assert_uint_eq(strlen(row), LEVEL_COUNT);
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		levels |= (unsigned)(row[l] == 'A') << l;
	return levels;
}

const char *levels_to_row(unsigned levels, char row[LEVEL_COUNT + 1])
{
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		row[l] = levels >> l & 1 ? 'A' : '-';
	row[LEVEL_COUNT] = '\0';
	return row;
}

unsigned levels_of_trace(const struct trace *t)
{
	struct check_result results[LEVEL_COUNT];
	struct check_limits no_limits = { 0 };
	struct check_clock *clock = check_clock_new(&no_limits);
	struct facts *f = facts_of_trace(t);
	unsigned levels = 0;
	check_levels(t, f, (1u << LEVEL_COUNT) - 1, clock, results);
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		ck_assert_int_ne(results[l].verdict, VERDICT_UNDECIDED);
		levels |= (unsigned)(results[l].verdict == VERDICT_HOLDS) << l;
		check_result_free(&results[l]);
	}
	facts_free(f);
	check_clock_free(clock);
	return levels;
}

uint32_t *order_of_trace(const struct trace *t)
{
	struct check_result result = { .verdict = VERDICT_HOLDS };
	struct check_limits no_limits = { 0 };
	unsigned levels = levels_of_trace(t);
	enum level strongest = LEVEL_SER;
	if (!levels) return NULL;
	while (!(levels >> strongest & 1)) strongest--;
	struct check_clock *clock = check_clock_new(&no_limits);
	struct facts *f = facts_of_trace(t);
	ck_assert(check_commit_order(f, strongest, clock, &result));
	facts_free(f);
	check_clock_free(clock);
	return result.order;
}

/* ---- what formats cannot express ---- */

static bool has_aborted_reader(const struct history *h)
{
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		const struct transaction *w = &h->transactions[t];
		for (uint32_t i = 0; w->aborted && i < w->event_count; i++)
			if (w->events[i].kind == EVENT_READ &&
			    w->events[i].from != HISTORY_SELF)
				return true;
	}
	return false;
}

/* Something that a format without empty and aborted transactions writes. */
static bool has_committed_events(const struct history *h, bool aborted_too)
{
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		const struct transaction *w = &h->transactions[t];
		if (w->event_count && (aborted_too || !w->aborted)) return true;
	}
	return false;
}

const char *expected_refusal(const struct history *h, enum format f)
{
	if (f == FORMAT_ISOSCOPE) return NULL;
	for (uint32_t s = 0; s < h->session_count; s++)
		if (h->sessions[s].after_all && h->sessions[s].count)
			return "a session that follows all others";
	if (has_aborted_reader(h)) return "reads of a transaction that aborted";
	if (!has_committed_events(h, f == FORMAT_PLUME) &&
	    (f == FORMAT_PLUME || f == FORMAT_AWDIT || f == FORMAT_ISOPREDICT))
		return "transactions without operations";
	return NULL;
}
