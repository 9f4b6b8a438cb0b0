/* What was confirmed, for others to try: in the language of PostgreSQL's own
 * isolationtester, or for psql.
 */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/region.h"
#include "base/text.h"
#include "confirm/inside.h"

/* ---- What both have ---- */

static bool is_sent(const struct confirm_line *l)
{
	return !l->again;
}

static void print_comment(struct text *t, const char *words)
{
	text_string(t, "# ");
	for (; *words; words++) {
		text_char(t, *words);
		if (*words == '\n') text_string(t, "# ");
	}
	text_char(t, '\n');
}

static void print_head(struct text *t, const struct confirmation *x,
                       const char *title, const char *how)
{
	struct text level = { 0 };
	print_comment(t, title);
	text_format(&level,
	            "Written by isoscope, which has seen it happen at %s on an "
	            "unmodified PostgreSQL.",
	            x->level);
	print_comment(t, text_get(&level));
	print_comment(t, how);
	text_free(&level);
}

/* ---- A specification ---- */

static void print_name(struct text *t, const char *name)
{
	text_char(t, '"');
	for (; *name; name++) {
		if (*name == '"') text_char(t, '"');
		text_char(t, *name);
	}
	text_char(t, '"');
}

/* "ann_3": the third that is sent to ann. */
static void step_name(struct text *t, const struct confirmer *c,
                      const struct confirmation *x, uint32_t line)
{
	uint32_t session = x->lines[line].session, n = 0;
	struct text own = { 0 };
	for (uint32_t i = 0; i <= line; i++)
		n += is_sent(&x->lines[i]) && x->lines[i].session == session;
	text_format(&own, "%s_%u", confirmer_session(c, session), n);
	print_name(t, text_get(&own));
	text_free(&own);
}

/* It ends a block wherever a brace is. */
static bool print_block(struct text *t, const char *sql, struct text *why)
{
	if (strchr(sql, '}')) {
		text_format(why,
		            "isolationtester cannot read a '}' within a "
		            "block, as in: %.60s; write a script, FILE.sh",
		            sql);
		return false;
	}
	text_format(t, "{ %s }\n", sql);
	return true;
}

static bool print_setup(struct text *t, const char *setup, struct text *why)
{
	if (strspn(setup, " \t\r\n;") == strlen(setup)) return true;
	text_string(t, "setup\n");
	return print_block(t, setup, why);
}

static bool print_session(struct text *t, const struct confirmer *c,
                          const struct confirmation *x, uint32_t session,
                          struct text *why)
{
	bool fine = true;
	text_string(t, "\nsession ");
	print_name(t, confirmer_session(c, session));
	text_format(t,
	            "\nsetup { SET default_transaction_isolation = '%s'; }\n",
	            x->setting);
	for (uint32_t i = 0; i < x->count && fine; i++) {
		const struct confirm_line *l = &x->lines[i];
		struct text sql = { 0 };
		if (l->session != session || !is_sent(l)) continue;
		text_string(t, "step ");
		step_name(t, c, x, i);
		text_char(t, ' ');
		/* A comment at its end would hide what follows. */
		text_format(&sql, "%s%s;", l->sql,
		            strstr(l->sql, "--") ? "\n" : "");
		fine = print_block(t, text_get(&sql), why);
		text_free(&sql);
	}
	return fine;
}

/* The line after which this one, which waits, has ended. */
static uint32_t release_of(const struct confirmation *x, uint32_t line)
{
	uint32_t last = line;
	for (uint32_t i = line + 1; i < x->count; i++) {
		if (is_sent(&x->lines[i])) last = i;
		if (x->lines[i].again &&
		    x->lines[i].session == x->lines[line].session)
			return last;
	}
	return line;
}

bool confirm_print_spec(struct text *t, const struct confirmer *c,
                        const struct confirmation *x, const char *title,
                        struct text *why)
{
	bool fine;
	assert(x->answer == CONFIRM_YES);
	print_head(t, x, title,
	           "Run it with PostgreSQL's isolationtester on an empty "
	           "database:\n"
	           "/usr/lib/postgresql/15/lib/pgxs/src/test/isolation/"
	           "isolationtester 'dbname=test' < FILE");
	fine = print_setup(t, c->script.setup, why);
	for (uint32_t i = 0; i < c->script.spec.session_count && fine; i++)
		fine = print_session(t, c, x, i, why);
	text_string(t, "\npermutation");
	for (uint32_t i = 0; i < x->count; i++) {
		if (!is_sent(&x->lines[i])) continue;
		text_char(t, ' ');
		step_name(t, c, x, i);
		uint32_t release = release_of(x, i);
		if (!x->lines[i].waits_for || release == i) continue;
		text_char(t, '(');
		step_name(t, c, x, release);
		text_char(t, ')');
	}
	text_char(t, '\n');
	return fine;
}

/* ---- A script ---- */

/* Of sessions that POSIX gives file descriptors of one digit. */
enum { FIRST_DESCRIPTOR = 3, DESCRIPTORS = 7 };

static const char functions[] =
	"set -eu\n"
	"dir=$(mktemp -d)\n"
	"trap 'rm -rf \"$dir\"' EXIT\n"
	"trap 'exit 1' INT TERM\n"
	"PGOPTIONS=\"${PGOPTIONS-} -c client_min_messages=warning\"\n"
	"export PGOPTIONS\n"
	"\n"
	"# ready N: the N-th statement of the session is done.\n"
	"ready() {\n"
	"\tgrep -q \"^isoscope $1\\$\" \"$dir/$session.out\"\n"
	"}\n"
	"\n"
	"# show: what has come of the session since.\n"
	"show() {\n"
	"\tn=$(wc -l <\"$dir/$session.out\")\n"
	"\tseen=$(cat \"$dir/$session.seen\")\n"
	"\ttail -n \"+$((seen + 1))\" \"$dir/$session.out\" |\n"
	"\t\tgrep -v '^isoscope ' | sed 's/^/    /' || true\n"
	"\techo \"$n\" >\"$dir/$session.seen\"\n"
	"}\n"
	"\n"
	"# await N: until it is.\n"
	"await() {\n"
	"\ti=0\n"
	"\twhile ! ready \"$1\"; do\n"
	"\t\ti=$((i + 1))\n"
	"\t\t[ $i -lt 600 ] || { echo \"$name does not go on\"; exit 1; }\n"
	"\t\tsleep 0.05\n"
	"\tdone\n"
	"\tshow\n"
	"}\n"
	"\n"
	"# blocks: until the session waits for a lock.\n"
	"blocks() {\n"
	"\ti=0\n"
	"\twhile [ \"$(psql -XAtqc \"SELECT count(*) FROM pg_stat_activity\n"
	"\t\tWHERE application_name = 'isoscope-$session' AND\n"
	"\t\twait_event_type = 'Lock'\")\" != 1 ]; do\n"
	"\t\ti=$((i + 1))\n"
	"\t\t[ $i -lt 100 ] || { echo \"$name does not wait\"; exit 1; }\n"
	"\t\tsleep 0.05\n"
	"\tdone\n"
	"\techo '    waits for a lock'\n"
	"}\n"
	"\n"
	"# start: psql for the session reads what is written to "
	"$dir/$session.\n"
	"start() {\n"
	"\tmkfifo \"$dir/$session\"\n"
	"\t: >\"$dir/$session.out\"\n"
	"\techo 0 >\"$dir/$session.seen\"\n"
	"\tPGAPPNAME=isoscope-$session psql -Xq <\"$dir/$session\" "
	">\"$dir/$session.out\" 2>&1 &\n"
	"}\n\n";

static void print_quoted(struct text *t, const char *s)
{
	text_char(t, '\'');
	for (; *s; s++) {
		if (*s == '\'') text_string(t, "'\\'");
		text_char(t, *s);
	}
	text_char(t, '\'');
}

static void print_who(struct text *t, const struct confirmer *c,
                      uint32_t session)
{
	text_format(t, "session=%u name=", session + 1);
	print_quoted(t, confirmer_session(c, session));
	text_char(t, '\n');
}

/* psql ends a statement at its semicolon, and takes a backslash in it for a
 * command of its own outside of quotes only. */
static void print_sent(struct text *t, const struct confirm_line *l, uint32_t n)
{
	struct text shown = { 0 };
	script_one_line(&shown, l->sql);
	text_string(t, "printf '%s: %s\\n' \"$name\" ");
	print_quoted(t, text_get(&shown));
	text_string(t, "\nprintf '%s\\n' ");
	print_quoted(t, l->sql);
	text_format(t, " ';' '\\echo isoscope %u' >&%u\n", n,
	            l->session + FIRST_DESCRIPTOR);
	text_free(&shown);
}

static void print_lines(struct text *t, const struct confirmer *c,
                        const struct confirmation *x, uint32_t *sent)
{
	uint32_t now = UINT32_MAX;
	for (uint32_t i = 0; i < x->count; i++) {
		const struct confirm_line *l = &x->lines[i];
		text_char(t, '\n');
		if (l->session != now) print_who(t, c, l->session);
		now = l->session;
		if (is_sent(l))
			print_sent(t, l, ++sent[l->session]);
		else
			text_string(t, "echo \"$name goes on\"\n");
		if (l->waits_for)
			text_string(t, "blocks\n");
		else
			text_format(t, "await %u\n", sent[l->session]);
	}
}

bool confirm_print_script(struct text *t, const struct confirmer *c,
                          const struct confirmation *x, const char *title,
                          struct text *why)
{
	uint32_t sent[DESCRIPTORS] = { 0 };
	uint32_t n = c->script.spec.session_count;
	assert(x->answer == CONFIRM_YES);
	if (n > DESCRIPTORS) {
		text_format(why,
		            "a script has up to %d sessions; write a "
		            "specification, FILE.spec",
		            DESCRIPTORS);
		return false;
	}
	text_string(t, "#!/bin/sh\n");
	print_head(t, x, title,
	           "Run it on an empty database, which psql finds by PGHOST, "
	           "PGDATABASE and so on:\nsh FILE");
	text_string(t, functions);
	text_string(t, "psql -XqAt -v ON_ERROR_STOP=1 -c ");
	print_quoted(t, c->script.setup);
	text_string(t, " >/dev/null\n");
	text_format(t,
	            "PGOPTIONS=\"$PGOPTIONS -c default_transaction_isolation="
	            "%s\"\n",
	            !strcmp(x->setting, "read committed") ? "read\\\\ committed"
	            : strcmp(x->setting, "serializable") ? "repeatable\\\\ read"
	                                                 : "serializable");
	for (uint32_t i = 0; i < n; i++) {
		print_who(t, c, i);
		text_format(t, "start; exec %u>\"$dir/$session\"\n",
		            i + FIRST_DESCRIPTOR);
	}
	print_lines(t, c, x, sent);
	for (uint32_t i = 0; i < n; i++)
		text_format(t, "%sexec %u>&-\n", i ? "" : "\n",
		            i + FIRST_DESCRIPTOR);
	text_string(t, "wait\n");
	return true;
}
