/* Classes of symmetric histories, against all histories: each class once, with
 * as many histories as there are, and what they violate.
 *
 * A history is written as what its sessions' reads have their values from; so
 * permuting sessions is easy, and the values follow from the program.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dpor/explorer.h"
#include "execution/error_places.h"
#include "history/history.h"
#include "compile/load.h"
#include "suites.h"
#include "support.h"
#include "symmetric_program.h"
#include "analyse/symmetry.h"

enum {
	RUNS = 6,        /* test processes over which seeds are spread */
	PROGRAMS = 900,  /* in all, unless ISOSCOPE_PROGRAMS says more */
	HISTORIES = 600, /* larger programs are left out */
	CALLS = 60000,   /* and those that it takes longer to explore */
	SESSIONS_MOST = 16
};

/* ---- histories as words ---- */

/* What the sessions read from, when they are renamed: session by session. */
static void write_shape(struct text *t, const struct history *h,
                        const uint32_t *renamed)
{
	for (uint32_t s = 0; s < h->session_count; s++) {
		uint32_t was = 0;
		while (renamed[was] != s) was++;
		const struct history_session *of = &h->sessions[was];
		text_char(t, '|');
		for (uint32_t i = 0; i < of->count; i++) {
			const struct transaction *x =
				&h->transactions[of->first + i];
			text_string(t, x->aborted ? "!" : ";");
			for (uint32_t e = 0; e < x->event_count; e++) {
				const struct event *v = &x->events[e];
				if (v->kind != EVENT_READ ||
				    v->from == HISTORY_SELF)
					continue;
				const struct transaction *w =
					&h->transactions[v->from];
				if (v->from)
					text_format(t, " %u.%u",
					            renamed[w->session],
					            w->index);
				else
					text_string(t, " 0");
			}
		}
	}
}

static char *shape(const struct history *h, const uint32_t *renamed)
{
	struct text t = { 0 };
	write_shape(&t, h, renamed);
	char *copy = mem_copy_string(text_get(&t));
	text_free(&t);
	return copy;
}

/* All images of the history under the permutations of classes. */
struct orbit {
	const struct history *history;
	const uint32_t *class_of;
	uint32_t renamed[SESSIONS_MOST];
	bool taken[SESSIONS_MOST];
	struct strings shapes;
};

static void add_images(struct orbit *m, uint32_t session)
{
	if (session == m->history->session_count) {
		char *s = shape(m->history, m->renamed);
		strings_add(&m->shapes, s);
		free(s);
		return;
	}
	for (uint32_t i = 0; i < m->history->session_count; i++) {
		if (m->taken[i] || m->class_of[i] != m->class_of[session])
			continue;
		m->taken[i] = true;
		m->renamed[session] = i;
		add_images(m, session + 1);
		m->taken[i] = false;
	}
}

/* ---- what an exploration found ---- */

struct seen {
	char *shape;   /* as it is */
	char *first;   /* of its images */
	uint64_t size; /* how many images there are */
	uint64_t weight;
	uint64_t violated; /* bit set of slots */
};

struct found {
	const struct symmetry *symmetry;
	struct seen *items;
	size_t count, capacity;
	uint64_t calls; /* not more; 0: as many as needed */
	bool too_many;
};

static bool note(void *data, const struct explore_execution *x)
{
	struct found *f = data;
	struct history *h = explore_history(x);
	struct orbit m = { .history = h, .class_of = f->symmetry->class_of };
	add_images(&m, 0);
	struct seen seen = { .shape = mem_copy_string(m.shapes.items[0]),
		             .weight = x->weight };
	strings_sort(&m.shapes);
	strings_unique(&m.shapes);
	seen.first = mem_copy_string(m.shapes.items[0]);
	seen.size = m.shapes.count;
	for (uint64_t i = 0; i < x->violated_count; i++)
		seen.violated |= (uint64_t)1 << x->violated[i];
	strings_free(&m.shapes);
	VEC_RESERVE(f->items, f->count, f->capacity);
	f->items[f->count++] = seen;
	history_free(h);
	f->too_many = f->count > HISTORIES;
	return !f->too_many;
}

static bool is_small(void *data, const struct explore_stats *so_far,
                     uint32_t depth)
{
	struct found *f = data;
	(void)depth;
	f->too_many |= f->calls && so_far->explore_calls > f->calls;
	return !f->too_many;
}

static int by_first(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	int c = strcmp(x->first, y->first);
	return c ? c : strcmp(x->shape, y->shape);
}

static void found_free(struct found *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->items[i].shape);
		free(f->items[i].first);
	}
	free(f->items);
}

static struct explorer *explore(const struct program *p,
                                const struct explore_options *o,
                                struct found *f, uint64_t calls,
                                const struct symmetry *classes)
{
	*f = (struct found){ .symmetry = classes, .calls = calls };
	struct explore_observer observer = { .payload = f,
		                             .history = note,
		                             .tick = is_small };
	struct explorer *e = explorer_new(p, o, &observer);
	explorer_run(e);
	if (f->count) qsort(f->items, f->count, sizeof *f->items, by_first);
	return e;
}

/* ---- comparing ---- */

struct subject {
	uint64_t seed;
	const char *text;
	struct program *program;
	struct symmetry *symmetry;
	struct explore_options all, classes; /* options */
};

__attribute__((noreturn, format(printf, 2, 3))) static void
fails(const struct subject *s, const char *format, ...)
{
	struct text t = { 0 };
	va_list args;
	va_start(args, format);
	text_vformat(&t, format, args);
	va_end(args);
	ck_abort_msg("seed %llu, %s: %s\n%s", (unsigned long long)s->seed,
	             level_word(s->all.level), text_get(&t), s->text);
}

static void same_count(const struct subject *s, const char *what, uint64_t is,
                       uint64_t expected)
{
	if (is != expected)
		fails(s, "%s: %llu, should be %llu", what,
		      (unsigned long long)is, (unsigned long long)expected);
}

/* Each class of all histories is there once, with its size. */
static void compare_classes(const struct subject *s, const struct found *all,
                            const struct found *classes)
{
	size_t at = 0;
	for (size_t i = 0; i < all->count; at++) {
		size_t end = i;
		while (end < all->count &&
		       !strcmp(all->items[i].first, all->items[end].first))
			end++;
		if (at >= classes->count ||
		    strcmp(classes->items[at].first, all->items[i].first))
			fails(s, "no execution stands for %s (%s has none)",
			      all->items[i].shape,
			      at < classes->count ? classes->items[at].shape
			                          : "the end");
		same_count(s, "images", end - i, all->items[i].size);
		same_count(s, "weight", classes->items[at].weight, end - i);
		i = end;
	}
	same_count(s, "classes", classes->count, at);
}

static const struct seen *find(const struct found *f, const char *shape)
{
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->items[i].shape, shape)) return &f->items[i];
	return NULL;
}

/* The executions violate what they violated among all, the examples too. */
static void compare_examples(const struct subject *s, const struct found *all,
                             const struct found *classes,
                             const struct explorer *e)
{
	for (size_t i = 0; i < classes->count; i++) {
		const struct seen *x = &classes->items[i];
		const struct seen *same = find(all, x->shape);
		if (!same) fails(s, "%s is new", x->shape);
		if (same->violated != x->violated)
			fails(s, "%s violates other assertions", x->shape);
	}
	uint32_t same_names[SESSIONS_MOST];
	for (uint32_t i = 0; i < SESSIONS_MOST; i++) same_names[i] = i;
	for (uint32_t i = 0; i < explorer_slot_count(e); i++) {
		const struct explore_violation *v = explorer_violation(e, i);
		if (!v->histories) continue;
		if (!v->example) fails(s, "slot %u has no example", i);
		char *shown = shape(v->example, same_names);
		const struct seen *same = find(all, shown);
		free(shown);
		if (!same) fails(s, "the example of %u is none", i);
		bool error = i >= explorer_slot_places(e);
		uint32_t slot = error ? explorer_slot_error(e) : i;
		if (!(same->violated >> slot & 1))
			fails(s, "the example of %u does not violate it", i);
		if (error &&
		    (!v->finding ||
		     position_compare(
			     program_position(s->program, v->finding->point),
			     explorer_error_place(e, i))))
			fails(s, "the example of %u is of another place", i);
		if (i <= explorer_slot_error(e) && !v->finding &&
		    (i == explorer_slot_error(e) ||
		     program_assertion(s->program, i)->kind !=
		             ASSERTION_SERIALIZABLE))
			fails(s, "the example of %u says nothing", i);
	}
}

static void compare_counts(const struct subject *s, const struct explorer *all,
                           const struct explorer *classes)
{
	const struct explore_stats *a = explorer_stats(all);
	const struct explore_stats *c = explorer_stats(classes);
	same_count(s, "histories", c->histories, a->histories);
	same_count(s, "unserializable", c->unserializable, a->unserializable);
	same_count(s, "duplicates", c->duplicates, 0);
	for (int l = 0; l < LEVEL_COUNT; l++)
		same_count(s, "histories of a level", c->per_level[l],
		           a->per_level[l]);
	same_count(s, "places of errors", explorer_slot_count(classes),
	           explorer_slot_count(all));
	for (uint32_t i = 0; i < explorer_slot_count(all); i++) {
		const struct explore_violation *x = explorer_violation(all, i);
		const struct explore_violation *y =
			explorer_violation(classes, i);
		struct text what = { 0 };
		text_format(&what, "violations of slot %u", i);
		same_count(s, text_get(&what), y->histories, x->histories);
		for (int l = 0; l < LEVEL_COUNT; l++)
			same_count(s, text_get(&what), y->per_level[l],
			           x->per_level[l]);
		text_free(&what);
	}
}

/* What is reached depends on which executions are tried, so it is compared
 * with those of the same algorithm. */
static void compare_reached(const struct subject *s,
                            const struct explorer *classes)
{
	struct explore_options o = s->classes;
	o.symmetry = NULL;
	struct explorer *all = explorer_new(s->program, &o, NULL);
	explorer_run(all);
	for (uint32_t i = 0; i < program_reach_count(s->program); i++)
		same_count(s, "reached", explorer_reached(classes, i),
		           explorer_reached(all, i));
	explorer_free(all);
}

static bool compare_at(struct subject *s, enum level level)
{
	struct found all, classes;
	s->all.level = s->classes.level = level;
	s->all.base = level_base(level);
	struct explorer *a =
		explore(s->program, &s->all, &all, CALLS, s->symmetry);
	if (!all.too_many) {
		struct explorer *c = explore(s->program, &s->classes, &classes,
		                             0, s->symmetry);
		if (classes.too_many) fails(s, "classes are many more");
		compare_counts(s, a, c);
		compare_reached(s, c);
		compare_classes(s, &all, &classes);
		compare_examples(s, &all, &classes, c);
		explorer_free(c);
		found_free(&classes);
	}
	bool fits = !all.too_many;
	explorer_free(a);
	found_free(&all);
	return fits;
}

/* Without symmetry, each history is there once, too. */
static void compare_plain(struct subject *s)
{
	const struct symmetry *given = s->classes.symmetry;
	struct symmetry *y = s->symmetry, trivial = *y;
	uint32_t own[SESSIONS_MOST];
	for (uint32_t i = 0; i < SESSIONS_MOST; i++) own[i] = i;
	trivial.class_of = own;
	s->symmetry = &trivial;
	s->classes.symmetry = NULL;
	compare_at(s, LEVEL_RC);
	compare_at(s, LEVEL_SI);
	s->classes.symmetry = given;
	s->symmetry = y;
}

static void compare_loaded(struct subject *s, struct diags *d)
{
	s->symmetry = symmetry_new(s->program, d);
	ck_assert_ptr_nonnull(s->symmetry);
	ck_assert(!s->symmetry->trivial);
	s->all = (struct explore_options){ .algorithm = EXPLORE_CE,
		                           .robust = true,
		                           .classify = true };
	s->classes = s->all;
	s->classes.algorithm = EXPLORE_ORDERLY;
	s->classes.symmetry = s->symmetry;
	s->classes.max_changes = UINT64_MAX;
	s->classes.check_duplicates = true;
	for (int l = LEVEL_COUNT - 1; l >= 0; l--)
		if (!compare_at(s, (enum level)l)) break;
	compare_plain(s);
	symmetry_free(s->symmetry);
	program_free(s->program);
}

/* False if a declaration is refused: not all that hold are found to. */
static bool load(struct subject *s, struct diags *d)
{
	s->program =
		load_program_text("random.tx", s->text, strlen(s->text), d);
	if (s->program) return true;
	char *why = diags_to_text(d);
	if (!strstr(why, "are exchanged") && !strstr(why, "is exchanged"))
		fails(s, "%s", why);
	free(why);
	return false;
}

static bool compare_program(struct subject *s)
{
	struct diags d = { 0 };
	bool loaded = load(s, &d);
	if (loaded) compare_loaded(s, &d);
	diags_free(&d);
	return loaded;
}

static bool compare_seed(uint64_t seed,
                         void (*make)(struct text *out, uint64_t seed))
{
	struct text t = { 0 };
	make(&t, seed);
	struct subject s = { .seed = seed, .text = text_get(&t) };
	bool loaded = compare_program(&s);
	text_free(&t);
	return loaded;
}

static void compare_run(int run, void (*make)(struct text *out, uint64_t seed))
{
	uint64_t count = programs_or(PROGRAMS);
	uint64_t first = first_seed();
	uint64_t share = (count + RUNS - 1) / RUNS;
	uint64_t compared = 0;
	for (uint64_t i = 0; i < share; i++)
		compared +=
			compare_seed(first + (uint64_t)run * share + i, make);
	/* How many of a few are refused is chance. */
	enum { MANY = 20 };
	if (share >= MANY) ck_assert_uint_ge(compared, share / 2);
}

START_TEST(copies_of_random_sessions_are_explored_once)
{
	compare_run(_i, program_of_copies);
}
END_TEST

START_TEST(sessions_told_apart_by_names_are_explored_once)
{
	compare_run(_i, program_of_names);
}
END_TEST

/* ---- declarations ---- */

#define BOTH "session a { t(1); }\nsession b { t(2); }\nsymmetric a, b;\n"
#define NAMED                                                \
	"session a { t(\"u\"); }\nsession b { t(\"v\"); }\n" \
	"symmetric a, b;\n"

/* Programs whose declaration is refused: the first error begins so, and has
 * these words. */
static const struct refused {
	const char *source, *begin, *words;
} refused[] = {
	{ "global x = 0;\ntxn t(m) { x += m; }\n" BOTH,
	  "error:2:12: ", "'+' is applied to it" },
	{ "global x = 0;\ntxn t(m) { if (x < m) x = 1; }\n" BOTH,
	  "error:2:18: ", "compared by order" },
	{ "global x = 0;\ntxn t(m) { x = max([m, 1]); }\n" BOTH,
	  "error:2:16: ", "compared by order" },
	{ "global x = [];\ntxn t(m) { x = sort([(m, 1)]); }\n" BOTH,
	  "error:2:16: ", "it is sorted" },
	{ "global x = \"\";\ntxn t(m) { x = str({m}); }\n" NAMED,
	  "error:2:16: ", "str() is applied" },
	{ "global x = 0;\ntxn t(m) { x = size(m); }\n" NAMED,
	  "error:2:16: ", "size() is applied" },
	{ "global x = {};\ntxn t(m) { if (size(x) == m) x = {}; }\n" BOTH,
	  "error:2:16: ", "may be a size" },
	{ "global x = {};\nglobal y = 0;\n"
	  "txn t(m) { for q in x { y = q; } x = {m}; }\n" BOTH,
	  "error:3:12: ", "in the order of its values" },
	{ "global x = {};\nglobal y = 0;\n"
	  "txn t(m) { y = map(q in x : y == q); x = {m}; }\n" BOTH,
	  "error:3:", "in the order of its values" },
	{ "global x = [1];\ntxn t(m) { x = x[m]; }\n" BOTH,
	  "error:2:18: ", "used as an index" },
	{ "global x = {u: 1};\ntxn t(m) { if (m in x) x = {v: 1}; }\n" NAMED,
	  "error:2:18: ", "fields of a record" },
	/* a value that is named elsewhere */
	{ "global x = 0;\ntxn t(m) { if (m == 2) x = 1; }\n" BOTH,
	  "error:2:21: ", "2 is named here" },
	{ "global x = 0;\ntxn t(m) { x = m; }\n" BOTH
	  "session c { txn { if (x == 1) x = 3; } }\n",
	  "error:6:28: ", "1 is named here" },
	{ "global x = 0;\ntxn t(m) { x = m; }\n" BOTH
	  "finally { let y = x; }\nassert finally.y != 2;\n",
	  "error:7:21: ", "2 is named here" },
	{ "global x = 0;\ntxn t(m) { if (m in {1, 3}) x = 1; }\n" BOTH,
	  "error:2:21: ", "{1, 3} is named here" },
	/* initial values */
	{ "global x[1] = 5;\ntxn t(m) { x[m] = 1; }\n" BOTH,
	  "error:1:8: ", "begins with 5" },
	{ "global x = 1;\ntxn t(m) { x = m; }\n" BOTH,
	  "error:1:8: ", "begins with 1" },
	{ "global x[*] = 1;\ntxn t(m) { x[m] = m; }\n" BOTH,
	  "error:1:8: ", "would have to be 2" },
	/* other code, other values */
	{ "global x = 0;\ntxn t(m) { x = m; }\nsession a { t(1); }\n"
	  "session b { t(2); t(2); }\nsymmetric a, b;\n",
	  "error:4:19: ", "not equally long" },
	{ "global x = 0;\ntxn t(m) { x = m; }\nsession a { t(1); }\n"
	  "session b { t(\"2\"); }\nsymmetric a, b;\n",
	  "error:4:15: ", "cannot be exchanged with 1" },
	{ "global x = 0;\ntxn t(m) { x = m; }\nsession a { t(true); }\n"
	  "session b { t(false); }\nsymmetric a, b;\n",
	  "error:4:15: ", "cannot be exchanged with true" },
	{ "global x[*] = 0;\ntxn t(m, n) { x[m] = x[n]; }\n"
	  "session a { t(1, 2); }\nsession b { t(2, 3); }\n"
	  "session c { t(3, 1); }\nsymmetric a, b, c;\n",
	  "error:5:15: ", "would have to be" },
	{ "global x = 0;\ntxn t(m) { x = m; }\ntxn u(m) { x = m; }\n"
	  "session a { t(1); }\nsession b { u(1); }\nsymmetric a, b;\n",
	  "error:5:13: ", "different calls" },
	/* names */
	{ "global x = 0;\nsession a { txn { x = 1; } }\nsymmetric a;\n",
	  "error:3:11: ", "two or more" },
	{ "global x = 0;\nsession anna { txn { x = 1; } }\n"
	  "symmetric anna, ana;\n",
	  "error:3:17: ", "unknown session 'ana'; did you mean 'anna'" },
	{ "global x = 0;\nsession a { txn { x = 1; } }\nsymmetric a, a;\n",
	  "error:3:14: ", "symmetric twice" },
};
enum { REFUSED = sizeof refused / sizeof *refused };

START_TEST(what_does_not_hold_is_refused)
{
	const struct refused *r = &refused[_i];
	struct diags d = { 0 };
	struct program *p =
		load_program_text("w.tx", r->source, strlen(r->source), &d);
	ck_assert_msg(!p, "compiles: %s", r->source);
	char *found = diags_to_text(&d);
	if (strncmp(found, r->begin, strlen(r->begin)) ||
	    !strstr(found, r->words))
		ck_abort_msg("%s\nfound:\n%s\nexpected:\n%s...%s", r->source,
		             found, r->begin, r->words);
	free(found);
	diags_free(&d);
}
END_TEST

/* Programs whose sessions a and b can be exchanged. */
static const char *const accepted[] = {
	"global x = 0;\ntxn t(m) { x = m; }\n" BOTH,
	/* the same number elsewhere is another thing */
	"global x[*] = 0;\ntxn t(m) { x[m] += 1; if (x[m] > 2) x[m] = 1; "
	"}\n" BOTH "assert size([1, 2]) == 2;\n",
	"global x = {};\ntxn t(m) { x = x + {m}; if (size(x) > 1) abort; "
	"}\n" BOTH,
	"global x = {};\nglobal y = 0;\n"
	"txn t(m) { if (exists(q in x : q == m)) y = 1; x = {m}; }\n" BOTH,
	"global x = [];\nglobal y = 0;\n"
	"txn t(m) { for q in x { y = q; } x = [m]; }\n" BOTH,
	"global x = null;\ntxn t(m) { x = (m, 7); let y = x[1] + 1; }\n" BOTH,
	"global x = null;\nfn first(p) = p[0];\n"
	"txn t(m) { x = (m, 7); let y = first((1, 2)) + 1; "
	"if (first(x) == m) abort; }\n" BOTH,
	"global x[1] = 5;\nglobal x[2] = 5;\nglobal y[(1, 2)] = 1;\n"
	"global y[(2, 1)] = 1;\ntxn t(m) { x[m] = 1; y[(m, m)] = x[m]; "
	"}\n" BOTH,
	"global x = {\"u\", \"v\"};\ntxn t(m) { x = x - {m}; }\n" NAMED
	"assert true;\n",
	"global x = 0;\nconst A = \"u\";\nconst B = \"v\";\n"
	"txn t(m) { x = {name: m, n: 1}; let y = x.n + 1; }\n"
	"session a { t(A); }\nsession b { t(B); }\nsymmetric b, a;\n"
	"assert x_is_free;\nconst x_is_free = true;\n",
	/* the word is a name, too */
	"global symmetric = 0;\ntxn t(m) { symmetric = m; }\n" BOTH,
};
enum { ACCEPTED = sizeof accepted / sizeof *accepted };

START_TEST(what_holds_makes_a_class)
{
	struct program *p = program_from_text(accepted[_i]);
	struct diags d = { 0 };
	struct symmetry *y = symmetry_new(p, &d);
	ck_assert_ptr_nonnull(y);
	ck_assert_uint_eq(y->class_of[1], 0);
	ck_assert_uint_eq(symmetry_order(y), 2);
	symmetry_free(y);
	program_free(p);
}
END_TEST

/* ---- many of them ---- */

static struct program *lost_updates(uint32_t sessions)
{
	struct text source = { 0 };
	text_string(&source, "global x = 0;\n");
	for (uint32_t i = 0; i < sessions; i++)
		text_format(&source, "session s%u { txn { x = x + 1; } }\n", i);
	struct program *p = program_from_text(text_get(&source));
	text_free(&source);
	return p;
}

/* Each reads from init or from another one, without a circle: rooted labelled
 * trees; their classes are rooted trees without labels. (OEIS A000272 and
 * A000081.) */
START_TEST(lost_updates_are_rooted_trees)
{
	static const uint64_t labelled[] = { 1,    3,     16,     125,
		                             1296, 16807, 262144, 4782969 };
	static const uint64_t unlabelled[] = { 1, 2, 4, 9, 20, 48, 115, 286 };
	struct program *p = lost_updates((uint32_t)_i);
	struct diags d = { 0 };
	struct symmetry *y = symmetry_new(p, &d);
	struct explore_options o = { .algorithm = EXPLORE_ORDERLY,
		                     .level = LEVEL_CC,
		                     .base = LEVEL_CC,
		                     .max_changes = UINT64_MAX,
		                     .symmetry = y };
	struct explorer *e = explorer_new(p, &o, NULL);
	explorer_run(e);
	const struct explore_stats *s = explorer_stats(e);
	ck_assert_uint_eq(s->histories, labelled[_i - 1]);
	ck_assert_uint_eq(s->classes, unlabelled[_i - 1]);
	explorer_free(e);
	symmetry_free(y);
	program_free(p);
}
END_TEST

START_TEST(too_many_permutations_are_refused)
{
	struct diags d = { 0 };
	struct program *p = lost_updates(20), *q = lost_updates(21);
	struct symmetry *y = symmetry_new(p, &d);
	ck_assert_ptr_nonnull(y);
	ck_assert_uint_eq(symmetry_order(y), 2432902008176640000u);
	ck_assert_ptr_null(symmetry_new(q, &d));
	ck_assert_uint_eq(d.errors, 1);
	ck_assert_ptr_nonnull(strstr(d.items[0].message, "at most 20"));
	symmetry_free(y);
	program_free(p);
	program_free(q);
	diags_free(&d);
}
END_TEST

void add_symmetry_tests(TCase *tests)
{
	tcase_add_loop_test(tests, what_does_not_hold_is_refused, 0, REFUSED);
	tcase_add_loop_test(tests, what_holds_makes_a_class, 0, ACCEPTED);
	tcase_add_loop_test(tests, lost_updates_are_rooted_trees, 1, 9);
	tcase_add_test(tests, too_many_permutations_are_refused);
	tcase_add_loop_test(tests, copies_of_random_sessions_are_explored_once,
	                    0, RUNS);
	tcase_add_loop_test(
		tests, sessions_told_apart_by_names_are_explored_once, 0, RUNS);
}
