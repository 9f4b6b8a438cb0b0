#include "api/convert.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "api/inputs.h"
#include "base/memory.h"
#include "check/check.h"
#include "history/facts.h"
#include "history/trace.h"

static bool is_list_format(enum format f)
{
	return f == FORMAT_LIST_EDN || f == FORMAT_LIST_JSON;
}

static bool is_interrupted(void *data)
{
	const atomic_bool *interrupt = data;
	return interrupt && atomic_load(interrupt);
}

static struct check_clock *clock_of(const atomic_bool *interrupt)
{
	struct check_limits limits = { .stop = is_interrupted,
		                       .stop_data = (void *)interrupt };
	return check_clock_new(&limits);
}

/* ---- what formats cannot say ---- */

static const unsigned every_level = (1u << LEVEL_COUNT) - 1;

/* All levels are decided; it is a problem if not. */
static bool decided(enum format to, const struct check_result *results,
                    struct problem *p)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (results[l].verdict == VERDICT_UNDECIDED)
			return problem_set(
				p, PROBLEM_INPUT,
				"writing this history as %s needs its "
				"verdicts, and %s (%s) could not be decided: "
				"%s",
				format_word(to), level_name(l), level_word(l),
				results[l].reason);
	return true;
}

static void free_results(struct check_result *results)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		check_result_free(&results[l]);
}

/* Without the order of writes that lists tell, does the history satisfy the
 * same levels? */
static bool order_is_spare(const struct trace *t, enum format to,
                           const atomic_bool *interrupt, struct problem *p)
{
	struct check_result with[LEVEL_COUNT], without[LEVEL_COUNT];
	struct check_clock *clock = clock_of(interrupt);
	struct facts *f = facts_of_trace(t);
	enum level l = 0;
	check_levels(t, f, every_level, clock, with);
	f->known_count = 0;
	check_levels(t, f, every_level, clock, without);
	bool fine = decided(to, with, p) && decided(to, without, p);
	while (fine && l < LEVEL_COUNT && with[l].verdict == without[l].verdict)
		l++;
	if (fine && l < LEVEL_COUNT)
		fine = problem_set(
			p, PROBLEM_INPUT,
			"%s cannot tell the order in which the elements of "
			"lists were written, and without it the history would "
			"satisfy %s (%s), which it violates; isoscope, "
			"list-edn and list-json can",
			format_word(to), level_name(l), level_word(l));
	free_results(with);
	free_results(without);
	facts_free(f);
	check_clock_free(clock);
	return fine;
}

/* Lists tell the order of the writes of each key. The converted history has
 * the verdicts of the original if that order is a commit order for all levels
 * that hold: so if it is one for the only strongest of them. */
static bool strongest_is_one(const struct trace *t, enum format to,
                             const struct check_result *results,
                             enum level *out, struct problem *p)
{
	*out = LEVEL_COUNT;
	if (!decided(to, results, p)) return false;
	/* That of a level with statements is asked for where nothing says more
	 * than its base. */
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (results[l].verdict == VERDICT_HOLDS &&
		    (!level_has_statements(l) || *out == level_base(l)))
			*out = l;
	if (*out == LEVEL_COUNT ||
	    (level_sight(*out) == SIGHT_NOTHING && t->known_count))
		return problem_set(p, PROBLEM_INPUT,
		                   "%s needs an order of the writes, and this "
		                   "history has none, since no level allows "
		                   "it; rw-edn and rw-json need no order",
		                   format_word(to));
	enum level other = 0, both = 0;
	while (other < *out &&
	       (results[other].verdict != VERDICT_HOLDS ||
	        level_has_statements(other) || level_implies(*out, other)))
		other++;
	if (other == *out) return true;
	while (!level_implies(both, *out) || !level_implies(both, other))
		both++;
	return problem_set(p, PROBLEM_INPUT,
	                   "%s needs one order of the writes, and this history "
	                   "has no single one that would keep its verdicts: it "
	                   "satisfies %s and %s, but not %s; rw-edn and "
	                   "rw-json do without",
	                   format_word(to), level_word(other), level_word(*out),
	                   level_word(both));
}

/* The transactions in a commit order, malloc'ed; or NULL. */
static uint32_t *find_order(const struct trace *t, enum format to,
                            const atomic_bool *interrupt, struct problem *p)
{
	struct check_result results[LEVEL_COUNT];
	struct check_clock *clock = clock_of(interrupt);
	struct facts *f = facts_of_trace(t);
	enum level l;
	uint32_t *order = NULL;
	assert(is_list_format(to) && !t->lists);
	check_levels(t, f, every_level, clock, results);
	if (strongest_is_one(t, to, results, &l, p)) {
		if (check_commit_order(f, l, clock, &results[l])) {
			order = results[l].order;
			results[l].order = NULL;
		} else {
			const char *reason = check_clock_reason(clock);
			problem_set(p, PROBLEM_INPUT,
			            "%s needs an order of the writes, and none "
			            "was found: %s",
			            format_word(to),
			            reason ? reason : "the search ended");
		}
	}
	free_results(results);
	facts_free(f);
	check_clock_free(clock);
	return order;
}

/* ---- writing ---- */

/* A copy that has only what the format can tell. */
static bool copy_for(struct trace *copy, const struct trace *t, enum format to,
                     const atomic_bool *interrupt, struct problem *p)
{
	*copy = *t;
	assert(to < FORMAT_COUNT);
	if (!t->known_count || to == FORMAT_ISOSCOPE || is_list_format(to))
		return true;
	if (!order_is_spare(t, to, interrupt, p)) return false;
	copy->known_count = 0;
	return true;
}

bool print_history(struct text *out, const struct trace *t, enum format to,
                   const uint32_t *order, const atomic_bool *interrupt,
                   struct problem *p)
{
	struct trace copy;
	uint32_t *found = NULL;
	assert(to < FORMAT_COUNT && !format_is_folder(to));
	if (!copy_for(&copy, t, to, interrupt, p)) return false;
	if (!order && is_list_format(to) && !t->lists) {
		order = found = find_order(&copy, to, interrupt, p);
		if (!order) return false;
	}
	bool fine = format_print(out, to, &copy, order, &p->diags);
	free(found);
	return fine || problem_diagnosed(p, PROBLEM_INPUT);
}

bool write_history_folder(const char *path, const struct trace *t,
                          enum format to, const atomic_bool *interrupt,
                          struct problem *p)
{
	struct trace copy;
	assert(format_is_folder(to));
	if (!copy_for(&copy, t, to, interrupt, p)) return false;
	if (!format_can_be_folder(to, &copy, &p->diags))
		return problem_diagnosed(p, PROBLEM_INPUT);
	return format_write_folder(path, to, &copy, &p->diags) ||
	       problem_diagnosed(p, PROBLEM_REQUEST);
}

static bool write_trace(const struct convert_request *r, const struct trace *t,
                        struct problem *p)
{
	struct text printed = { 0 };
	if (format_is_folder(r->to))
		return write_history_folder(r->folder, t, r->to, r->interrupt,
		                            p);
	bool fine = print_history(&printed, t, r->to, NULL, r->interrupt, p);
	if (fine && !r->write(r->data, &printed))
		fine = problem_diagnosed(p, PROBLEM_SYSTEM);
	text_free(&printed);
	return fine;
}

/* ---- reading ---- */

/* All histories, each as it comes. */
static bool convert_all(const struct convert_request *r,
                        struct history_reader *reader, struct problem *p)
{
	struct trace *t;
	uint64_t count = 0;
	bool fine = true;
	while (fine && (t = history_reader_next(reader, &p->diags))) {
		fine = write_trace(r, t, p);
		trace_free(t);
		count++;
		if (fine && is_interrupted((void *)r->interrupt))
			fine = problem_diagnosed(p, PROBLEM_LIMIT);
	}
	if (!fine) return false;
	if (p->diags.errors) return problem_diagnosed(p, PROBLEM_INPUT);
	return count || input_too_short(r->input, 0, 1, p);
}

/* The chosen history, or the only one. */
static bool convert_one(const struct convert_request *r,
                        struct history_reader *reader, struct problem *p)
{
	struct diags *d = &p->diags;
	uint64_t number = 0, wanted = r->only ? r->only : 1;
	assert(r->only || r->to != FORMAT_ISOSCOPE);
	struct trace *t = NULL, *other;
	bool fine = false;
	while (number < wanted && (t = history_reader_next(reader, d))) {
		if (++number == wanted) break;
		trace_free(t);
		t = NULL;
	}
	if (!t)
		return d->errors ? problem_diagnosed(p, PROBLEM_INPUT)
		                 : input_too_short(r->input, number, wanted, p);
	other = r->only ? NULL : history_reader_next(reader, d);
	if (other)
		problem_set(p, PROBLEM_INPUT,
		            "%s holds several histories (the second begins in "
		            "line %" PRIu32
		            "), and a file in %s only one; choose one with "
		            "--history N",
		            r->input, other->line, format_word(r->to));
	else if (d->errors)
		problem_diagnosed(p, PROBLEM_INPUT);
	else
		fine = write_trace(r, t, p);
	trace_free(other);
	trace_free(t);
	return fine;
}

bool convert_input(const struct convert_request *r, struct problem *p)
{
	assert(r->to < FORMAT_COUNT && (r->folder || r->write));
	if (input_is_client(r->input, "convert takes a recorded history", p))
		return false;
	struct history_reader *reader =
		history_reader_open(r->input, &r->reader, &p->diags);
	if (!reader) return problem_diagnosed(p, PROBLEM_INPUT);
	bool fine = r->to == FORMAT_ISOSCOPE && !r->only
	                    ? convert_all(r, reader, p)
	                    : convert_one(r, reader, p);
	history_reader_close(reader);
	return fine;
}
