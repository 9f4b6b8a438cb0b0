#include "report/outcomes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/table.h"

const char *outcome_subject(const json_t *result)
{
	const json_t *logs = json_object_get(result, "logs");
	const char *words = document_string(result, "program");
	if (!words) words = document_string(result, "file");
	if (!words) words = document_string(json_array_get(logs, 0), "path");
	if (!words) words = document_string(result, "command");
	return words && *words ? words : "result";
}

static uint32_t number_of_member(const json_t *of, const char *name)
{
	json_int_t n = json_integer_value(json_object_get(of, name));
	return n > 0 && n < UINT32_MAX ? (uint32_t)n : 0;
}

static struct outcome *add(struct outcomes *o, const json_t *result,
                           enum outcome_state state)
{
	VEC_RESERVE(o->items, o->count, o->capacity);
	struct outcome *x = &o->items[o->count++];
	*x = (struct outcome){ .state = state, .result = result };
	o->failed += state == OUTCOME_FAILED;
	o->open += state == OUTCOME_OPEN;
	o->errors += state == OUTCOME_ERROR;
	return x;
}

static void set_place(struct outcome *x, const json_t *of)
{
	x->file = document_string(of, "file");
	x->line = number_of_member(of, "line");
	x->column = number_of_member(of, "column");
}

static void say(struct text *t, const char *words)
{
	if (words) text_string(t, words);
}

/* "somebody stays on call: write skew (G2-item)" */
static void say_why(struct outcome *x, const char *message)
{
	say(&x->why, message);
	if (x->rule) text_format(&x->why, "%s%s", message ? ": " : "", x->rule);
	if (!x->why.length) say(&x->why, document_string(x->result, "reason"));
	if (!x->why.length)
		text_string(&x->why, x->state == OUTCOME_OPEN ? "not decided"
		                                              : "violated");
}

/* A result that is not complete leaves open what was not seen to fail. */
static enum outcome_state otherwise(const json_t *result)
{
	const char *verdict = document_string(result, "verdict");
	if (verdict &&
	    (!strcmp(verdict, "holds") || !strcmp(verdict, "no violation")))
		return OUTCOME_PASSED;
	if (json_is_true(json_object_get(result, "complete")))
		return OUTCOME_PASSED;
	return OUTCOME_OPEN;
}

/* ---- assertions ---- */

static bool is_found(const json_t *a)
{
	static const char *const ways[] = { "by_prediction", "by_random",
		                            "by_exploration" };
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (json_is_true(json_object_get(a, ways[i]))) return true;
	return json_integer_value(json_object_get(a, "violated")) > 0 ||
	       json_object_get(a, "example");
}

static void add_assertion(struct outcomes *o, const json_t *r, const json_t *a)
{
	const json_t *example = json_object_get(a, "example");
	bool fails = is_found(a);
	struct outcome *x = add(o, r, fails ? OUTCOME_FAILED : otherwise(r));
	const char *level = document_string(r, "level");
	say(&x->name, document_string(a, "text"));
	if (level) text_format(&x->name, " under %s", level);
	set_place(x, a);
	x->rule = document_string(example, "anomaly");
	x->steps = json_object_get(example, "steps");
	x->cycle = json_object_get(example, "cycle");
	if (fails)
		say_why(x, document_string(a, "message"));
	else if (x->state == OUTCOME_OPEN)
		say_why(x, NULL);
}

static enum outcome_state state_under(const json_t *level, size_t i)
{
	const json_t *states = json_object_get(level, "states");
	const json_t *violated = json_object_get(level, "violated");
	const char *word = json_string_value(json_array_get(states, i));
	if (!states)
		return json_integer_value(json_array_get(violated, i)) > 0
		               ? OUTCOME_FAILED
		               : otherwise(level);
	return !word                    ? OUTCOME_OPEN
	       : !strcmp(word, "fails") ? OUTCOME_FAILED
	       : !strcmp(word, "holds") ? OUTCOME_PASSED
	                                : OUTCOME_OPEN;
}

/* Each assertion under each level, of explore and decide with --levels. */
static void add_levels(struct outcomes *o, const json_t *r)
{
	const json_t *assertions = json_object_get(r, "assertions"), *row, *a;
	size_t l, i;
	json_array_foreach(json_object_get(r, "levels"), l, row)
	{
		const char *level = document_string(row, "level");
		json_array_foreach(assertions, i, a)
		{
			struct outcome *x = add(o, r, state_under(row, i));
			bool fails = x->state == OUTCOME_FAILED;
			say(&x->name, document_string(a, "text"));
			text_format(&x->name, " under %s", level ? level : "");
			set_place(x, a);
			if (x->state == OUTCOME_PASSED) continue;
			say(&x->why, document_string(a, "message"));
			text_format(&x->why, "%s%s under %s",
			            x->why.length ? ": " : "",
			            fails ? "violated" : "not decided",
			            level ? level : "");
		}
	}
}

/* ---- recorded histories ---- */

static enum outcome_state state_of(const char *verdict)
{
	if (verdict && !strcmp(verdict, "holds")) return OUTCOME_PASSED;
	if (verdict && !strcmp(verdict, "violated")) return OUTCOME_FAILED;
	return OUTCOME_OPEN;
}

static void add_checked(struct outcomes *o, const json_t *r)
{
	const json_t *witnesses = json_object_get(r, "witnesses");
	const char *level;
	json_t *found;
	json_object_foreach(json_object_get(r, "levels"), level, found)
	{
		const json_t *number = json_object_get(found, "witness");
		const json_t *w = json_array_get(
			witnesses, (size_t)json_integer_value(number));
		struct outcome *x =
			add(o, r, state_of(document_string(found, "verdict")));
		if (!json_is_integer(number)) w = NULL;
		text_format(&x->name, "%s satisfies %s", outcome_subject(r),
		            level);
		set_place(x, r);
		x->rule = document_string(found, "anomaly");
		x->steps = json_object_get(w, "steps");
		x->cycle = json_object_get(w, "cycle");
		if (x->state == OUTCOME_FAILED)
			say_why(x, x->rule ? NULL : "violated");
		else if (x->state == OUTCOME_OPEN)
			text_string(&x->why, "not decided");
	}
}

static void add_prediction(struct outcomes *o, const json_t *r, const json_t *p)
{
	const json_t *w = json_object_get(p, "witness");
	struct outcome *x = add(o, r, OUTCOME_FAILED);
	text_format(&x->name, "%s, prediction %u", outcome_subject(r),
	            number_of_member(p, "number"));
	set_place(x, r);
	x->rule = document_string(w, "anomaly");
	x->steps = json_object_get(w, "steps");
	x->cycle = json_object_get(w, "cycle");
	say_why(x, document_string(r, "reason"));
}

/* ---- proofs and audits ---- */

static void add_counterexample(struct outcomes *o, const json_t *r,
                               const json_t *c)
{
	struct outcome *x = add(o, r, OUTCOME_FAILED);
	text_format(&x->name, "%s is serializable", outcome_subject(r));
	x->file = document_string(r, "program");
	x->rule = document_string(c, "anomaly");
	x->steps = json_object_get(c, "steps");
	x->cycle = json_object_get(c, "edges");
	say_why(x, document_string(c, "cycle"));
}

static void add_anomaly(struct outcomes *o, const json_t *r, const json_t *c)
{
	const json_t *edge = json_array_get(json_object_get(c, "edges"), 0);
	const char *column = document_string(edge, "column");
	const char *change = document_string(c, "change");
	const char *protect = document_string(c, "protect");
	struct outcome *x = add(o, r, OUTCOME_FAILED);
	x->rule = document_string(c, "anomaly");
	if (!x->rule) x->rule = "cycle";
	text_format(&x->name, "%s on %s", x->rule, column ? column : "?");
	set_place(x, json_object_get(edge, "from"));
	text_string(&x->why, text_get(&x->name));
	if (protect && change)
		text_format(&x->why, "; protect %s: %s", protect, change);
}

/* ---- all ---- */

/* The result as one question. */
static void add_whole(struct outcomes *o, const json_t *r)
{
	enum outcome_state state = state_of(document_string(r, "verdict"));
	if (state == OUTCOME_OPEN) state = otherwise(r);
	if (document_string(r, "error")) state = OUTCOME_ERROR;
	struct outcome *x = add(o, r, state);
	text_string(&x->name, outcome_subject(r));
	x->file = document_string(r, "program");
	if (!x->file) x->file = document_string(r, "file");
	if (state == OUTCOME_PASSED) return;
	say(&x->why, document_string(r, "error"));
	if (!x->why.length) say_why(x, document_string(r, "reason"));
}

static void add_error(struct outcomes *o, const json_t *r, const json_t *e)
{
	struct outcome *x = add(o, r, OUTCOME_ERROR);
	text_string(&x->name, outcome_subject(r));
	set_place(x, e);
	if (!x->file) x->file = document_string(r, "program");
	x->rule = "error";
	say(&x->why, document_string(e, "message"));
}

/* Results of which only the number was kept. */
static void add_left_out(struct outcomes *o, const json_t *r)
{
	uint32_t n = number_of_member(r, "results_left_out");
	if (!n) return;
	struct outcome *x = add(o, r, OUTCOME_OPEN);
	text_format(&x->name, "%s: other results", outcome_subject(r));
	text_format(&x->why, "%u more that are not shown here", n);
}

/* Each of these edits is enough. */
static void add_repairs(struct outcomes *o, const json_t *r, const char *name)
{
	size_t i;
	const json_t *a;
	json_array_foreach(json_object_get(r, name), i, a)
	{
		const json_t *edit =
			json_array_get(json_object_get(a, "edits"), 0);
		const char *words = document_string(a, "words");
		struct outcome *x = add(o, r, OUTCOME_PASSED);
		text_format(&x->name, "enough: %s", words ? words : "?");
		set_place(x, edit);
	}
}

static void add_result(struct outcomes *o, const json_t *r)
{
	size_t i, before = o->count;
	const json_t *one, *levels = json_object_get(r, "levels");
	if (json_is_array(levels)) {
		add_levels(o, r);
	} else {
		json_array_foreach(json_object_get(r, "assertions"), i, one)
			add_assertion(o, r, one);
	}
	if (json_object_get(r, "witnesses")) add_checked(o, r);
	json_array_foreach(json_object_get(r, "predictions"), i, one)
		add_prediction(o, r, one);
	json_array_foreach(json_object_get(r, "cycles"), i, one)
		add_anomaly(o, r, one);
	one = json_object_get(r, "counterexample");
	if (json_is_object(one)) add_counterexample(o, r, one);
	json_array_foreach(json_object_get(r, "errors"), i, one)
		add_error(o, r, one);
	if (o->count == before) add_whole(o, r);
	add_repairs(o, r, "answers");
	add_repairs(o, r, "stronger_than_needed");
	add_left_out(o, r);
}

/* "a.jsonl satisfies ser (2)": who reads test cases tells them by their names,
 * and a file can have several histories, a log an anomaly at several places. */
static void number_names(struct outcomes *o)
{
	struct table names;
	uint32_t *times = mem_take0(o->count + 1, sizeof *times);
	assert(o->count < TABLE_NONE);
	table_init(&names, (uint32_t)o->count);
	for (uint32_t i = 0; i < o->count; i++) {
		struct text *name = &o->items[i].name;
		struct table_probe p = table_probe(
			hash_bytes(0, text_get(name), name->length));
		uint32_t k;
		while ((k = table_next(&names, &p)) != TABLE_NONE)
			if (!strcmp(text_get(&o->items[k].name),
			            text_get(name)))
				break;
		if (k == TABLE_NONE)
			table_put(&names, p, i);
		else
			text_format(name, " (%u)", ++times[k] + 1);
	}
	table_free(&names);
	free(times);
}

void outcomes_of(struct outcomes *o, const struct documents *d)
{
	size_t i;
	const json_t *r;
	*o = (struct outcomes){ 0 };
	json_array_foreach(d->list, i, r) add_result(o, r);
	number_names(o);
	assert(o->count >= json_array_size(d->list) &&
	       o->failed + o->open + o->errors <= o->count);
}

void outcomes_free(struct outcomes *o)
{
	for (size_t i = 0; i < o->count; i++) {
		text_free(&o->items[i].name);
		text_free(&o->items[i].why);
	}
	free(o->items);
	*o = (struct outcomes){ 0 };
}

/* ---- the story ---- */

void outcome_step(struct text *t, const json_t *step)
{
	const char *key = document_string(step, "key");
	const char *value = document_string(step, "value");
	const char *from = document_string(step, "from");
	const char *who = document_string(step, "transaction");
	const char *does = document_string(step, "does");
	text_format(t, "%s %s", who ? who : "?", does ? does : "?");
	if (key) text_format(t, " %s", key);
	if (value) text_format(t, " = %s", value);
	if (from && !strcmp(from, "self"))
		text_string(t, " of its own");
	else if (from)
		text_format(t, " from %s", from);
}

void outcome_story(struct text *t, const struct outcome *x)
{
	size_t i;
	const json_t *one;
	json_array_foreach(x->steps, i, one)
	{
		if (!document_string(one, "session")) continue;
		outcome_step(t, one);
		text_char(t, '\n');
	}
	json_array_foreach(x->cycle, i, one)
	{
		const char *words = document_string(one, "words");
		const char *from = document_string(one, "from");
		const char *to = document_string(one, "to");
		if (words && from && to)
			text_format(t, "%s before %s: %s\n", from, to, words);
	}
}
