/* Work units, checkpoints and results against any bytes, and what is done with
 * them.
 *
 * One entry for libFuzzer (scripts/fuzz) and for tests/fuzz_replay.c, which
 * runs it over the corpus. The seal in the last line is made anew, or nothing
 * behind it were ever reached. Beyond not crashing: what is no unit has an
 * error, a unit is written as it was read, and its branches can be explored or
 * are impossible.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "distribute/seal.h"
#include "distribute/unit.h"
#include "dpor/explorer.h"
#include "dpor/tally.h"
#include "fuzz_parser.h"
#include "compile/load.h"
#include "vm/program.h"

/* The program of tests/corpus-units. */
static const char source[] =
	"global x = 0;\n"
	"global k[*] = 0;\n"
	"txn add(i) { let v = x; x = v + i; k[v] = i; return v; }\n"
	"txn look(i) { let v = k[i]; if (v > 1) abort; return v + x; }\n"
	"session a { let p = add(1); let q = look(p); }\n"
	"session b { let p = add(2); let q = look(1); }\n"
	"session c { add(1); }\n"
	"finally { let end = x; assert end == 4; }\n"
	"assert serializable;\n";

static void broken(const char *what, const struct text *t)
{
	fprintf(stderr, "%s:\n%s\n", what, text_get(t));
	abort();
}

/* Without its last line, if that is a seal, and sealed again. */
static void seal(struct text *t)
{
	static const char line[] = ",\n\"seal\"";
	enum { LINE = sizeof line - 1 };
	for (size_t at = t->length; at-- > 0 && at + 64 > t->length;)
		if (t->length - at >= LINE &&
		    !memcmp(t->data + at, line, LINE)) {
			t->length = at;
			t->data[at] = '\0';
		}
	seal_add(t, 0);
}

static struct unit *parse(const struct text *t)
{
	struct diags d = { 0 };
	struct unit *u = unit_parse("fuzz", text_get(t), t->length, &d);
	if (!u != (d.errors > 0)) broken("an error is missing", t);
	diags_free(&d);
	return u;
}

static void write_again(const struct unit *u)
{
	struct text once = { 0 }, twice = { 0 };
	unit_write(&once, u);
	struct unit *back = parse(&once);
	if (!back) broken("what was written is no unit", &once);
	unit_write(&twice, back);
	if (strcmp(text_get(&once), text_get(&twice)) != 0)
		broken("it is another one when read again", &twice);
	text_free(&once);
	text_free(&twice);
	unit_free(back);
}

/* As far as its options do not need what is not there. */
static void explore(const struct unit *u, const struct program *p)
{
	struct explore_options o = { .max_histories = 50, .jobs = 1 };
	struct branch_list open = { 0 };
	struct tally found;
	task_options(&u->task, &o);
	if (o.algorithm == EXPLORE_OUTWARD ||
	    u->task.sessions != program_session_count(p))
		return;
	if (results_file_tally(&u->found, p, &found)) {
		struct explorer *e = explorer_new(p, &o, NULL);
		branch_list_copy(&open, &u->open);
		explorer_resume(e, &open, &found);
		explorer_run(e);
		explorer_free(e);
	}
	tally_free(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text t = { 0 };
	text_bytes(&t, (const char *)data, size);
	seal(&t);
	struct unit *u = parse(&t);
	if (u) {
		struct diags d = { 0 };
		struct program *p = load_program_text("fuzz.tx", source,
		                                      sizeof source - 1, &d);
		write_again(u);
		explore(u, p);
		program_free(p);
		diags_free(&d);
	}
	unit_free(u);
	text_free(&t);
	return 0;
}
