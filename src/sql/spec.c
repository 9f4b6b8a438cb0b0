#include "sql/spec.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/table.h"
#include "lang/limits.h"

enum word_kind { WORD_END, WORD_NAME, WORD_QUOTED, WORD_BLOCK, WORD_MARK };

struct word {
	enum word_kind kind;
	struct place at;
	const char *name;        /* of names */
	struct spec_block block; /* of blocks: without braces and blanks */
};

struct spec_reader {
	struct spec *spec;
	struct sources *all;
	uint32_t source;
	const char *text;
	uint32_t length, next;
	struct word word; /* the one to be looked at */
	bool failed;
	bool told_permutations;
	/* The last block, if it ends within quotes. */
	struct place cut;
	bool is_cut;
	/* All steps so far, without their text, and by name. */
	struct spec_step *steps;
	uint32_t step_count, step_capacity;
	struct table by_name;
};

static void fail(struct spec_reader *r, struct place at, const char *what)
{
	if (!r->failed && r->is_cut)
		source_error(r->all, r->cut,
		             "this brace ends the block, in quotes and "
		             "comments as well, as in PostgreSQL's isolation "
		             "tester; write ARRAY[1, 2] for '{1, 2}', and "
		             "chr(125) for the brace in another text");
	else if (!r->failed)
		source_error(r->all, at, "%s", what);
	r->failed = true;
	r->next = r->length;
	r->word.kind = WORD_END;
}

/* ---- Words (specscanner.l) ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' ||
	       c == '\v';
}

static bool begins_name(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c >= 128;
}

static bool goes_on_name(unsigned char c)
{
	return begins_name(c) || (c >= '0' && c <= '9') || c == '$';
}

static void skip_blanks(struct spec_reader *r)
{
	while (r->next < r->length) {
		char c = r->text[r->next];
		if (c == '#')
			while (r->next < r->length && r->text[r->next] != '\n')
				r->next++;
		else if (is_blank(c))
			r->next++;
		else
			return;
	}
}

/* Two quotes inside are one. */
static void read_quoted(struct spec_reader *r)
{
	assert(r->text[r->next] == '"');
	struct text name = { 0 };
	uint32_t i = r->next + 1;
	for (;; i++) {
		if (i >= r->length || r->text[i] == '\n') {
			text_free(&name);
			fail(r, r->word.at, "this quoted name has no end");
			return;
		}
		if (r->text[i] == '"') {
			if (i + 1 >= r->length || r->text[i + 1] != '"') break;
			i++;
		}
		text_char(&name, r->text[i]);
	}
	r->next = i + 1;
	r->word.kind = WORD_QUOTED;
	r->word.name = region_copy_string(r->spec->region, text_get(&name),
	                                  name.length);
	text_free(&name);
}

/* Does the text end within quotes, or a comment? */
static bool ends_quoted(const char *text, uint32_t length)
{
	bool quoted = false;
	for (uint32_t i = 0; i < length; i++) {
		if (text[i] == '\'') quoted = !quoted;
		if (quoted || length - i < 2 || strncmp(text + i, "--", 2))
			continue;
		while (i < length && text[i] != '\n') i++;
		if (i == length) return true;
	}
	return quoted;
}

/* As in PostgreSQL, the first closing brace ends it. */
static void read_block(struct spec_reader *r)
{
	assert(r->text[r->next] == '{');
	const char *end = memchr(r->text + r->next, '}', r->length - r->next);
	if (!end) {
		fail(r, r->word.at, "this block has no closing brace");
		return;
	}
	uint32_t from = r->next + 1, to = (uint32_t)(end - r->text);
	r->next = to + 1;
	r->cut = (struct place){ r->source, to };
	r->is_cut = ends_quoted(r->text + from, to - from);
	while (from < to && is_blank(r->text[from])) from++;
	while (to > from && is_blank(r->text[to - 1])) to--;
	r->word.kind = WORD_BLOCK;
	r->word.block = (struct spec_block){ { r->source, from }, to - from };
}

static void read_word(struct spec_reader *r)
{
	skip_blanks(r);
	r->word = (struct word){ .at = { r->source, r->next } };
	assert(r->next <= r->length);
	if (r->next >= r->length) return;
	char c = r->text[r->next];
	if (c == '{') {
		read_block(r);
	} else if (c == '"') {
		read_quoted(r);
	} else if (begins_name((unsigned char)c)) {
		uint32_t from = r->next;
		while (r->next < r->length &&
		       goes_on_name((unsigned char)r->text[r->next]))
			r->next++;
		r->word.kind = WORD_NAME;
		r->word.name = region_copy_string(
			r->spec->region, r->text + from, r->next - from);
	} else {
		r->word.kind = WORD_MARK;
		r->next++;
	}
}

static bool is_word(const struct spec_reader *r, const char *keyword)
{
	return r->word.kind == WORD_NAME && !strcmp(r->word.name, keyword);
}

static bool accept(struct spec_reader *r, const char *keyword)
{
	if (!is_word(r, keyword)) return false;
	read_word(r);
	return true;
}

static const char *read_name(struct spec_reader *r, const char *expected)
{
	const char *name = r->word.name;
	if (r->word.kind != WORD_NAME && r->word.kind != WORD_QUOTED) {
		fail(r, r->word.at, expected);
		return "";
	}
	read_word(r);
	return name;
}

static struct spec_block read_sql(struct spec_reader *r, const char *expected)
{
	struct spec_block b = r->word.block;
	if (r->word.kind != WORD_BLOCK)
		fail(r, r->word.at, expected);
	else
		read_word(r);
	return b;
}

/* ---- The grammar (specparse.y) ---- */

/* command: "command" "text" */
static const char *read_command(struct spec_reader *r)
{
	const char *text = r->word.name;
	if (r->word.kind != WORD_QUOTED)
		fail(r, r->word.at, "expected a command in double quotes");
	else if (!text[strspn(text, " \t")])
		fail(r, r->word.at, "this command is empty");
	else
		read_word(r);
	return text;
}

/* setup: "setup" (block | "file" | command) */
static void read_setup(struct spec_reader *r)
{
	struct spec *s = r->spec;
	struct spec_setup setup = { .at = r->word.at };
	if (r->word.kind == WORD_QUOTED)
		setup.file = read_name(r, "");
	else if (accept(r, "command"))
		setup.command = read_command(r);
	else
		setup.sql = read_sql(r, "expected SQL in braces, or a file in "
		                        "double quotes, after 'setup'");
	VEC_RESERVE(s->setups, s->setup_count, s->setup_capacity);
	s->setups[s->setup_count++] = setup;
}

static void check_step_is_new(struct spec_reader *r, const char *name,
                              struct place at)
{
	struct table_probe probe =
		table_probe(hash_bytes(0, name, strlen(name)));
	uint32_t i;
	if (!r->by_name.slots) table_init(&r->by_name, 0);
	while ((i = table_next(&r->by_name, &probe)) != TABLE_NONE) {
		if (strcmp(r->steps[i].name, name) || r->failed) continue;
		source_error(r->all, at, "duplicate step name '%s'", name);
		source_note(r->all, r->steps[i].at, "it is used here as well");
		r->failed = true;
	}
	table_put(&r->by_name, probe, r->step_count);
	VEC_RESERVE(r->steps, r->step_count, r->step_capacity);
	r->steps[r->step_count++] =
		(struct spec_step){ .name = name, .at = at };
}

/* step: "step" name block */
static void read_step(struct spec_reader *r, struct spec_session *s)
{
	struct spec_step step = { .at = r->word.at };
	step.name = read_name(r, "expected the step's name");
	step.sql = read_sql(r, "expected the step's SQL in braces");
	check_step_is_new(r, step.name, step.at);
	VEC_RESERVE(s->steps, s->step_count, s->step_capacity);
	s->steps[s->step_count++] = step;
}

/* A session that is a command has one step, of its name, with all of it. */
static void take_command(struct spec_reader *r, struct spec_session *s,
                         struct spec_block sql)
{
	struct spec_step step = { .name = s->name, .at = s->at, .sql = sql };
	check_step_is_new(r, step.name, step.at);
	VEC_RESERVE(s->steps, s->step_count, s->step_capacity);
	s->steps[s->step_count++] = step;
}

/* What begins none of the parts. */
static void refuse_word(struct spec_reader *r)
{
	static const char *const parts[] = { "setup",       "teardown",
		                             "session",     "step",
		                             "permutation", "assert",
		                             "isolation" };
	const char *word = r->word.kind == WORD_NAME ? r->word.name : "";
	const char *near =
		diag_nearest(word, parts, sizeof parts / sizeof *parts);
	struct text t = { 0 };
	text_string(&t, "expected 'setup', 'teardown', 'session', "
	                "'permutation', 'assert' or 'isolation'");
	if (!strncmp(r->text + r->word.at.offset, "--", 2))
		text_string(&t, "; a comment begins with # outside of braces");
	else if (near)
		text_format(&t, "; did you mean '%s'?", near);
	else if (*word)
		text_string(&t, "; SQL stands in braces, as in setup { ... }");
	fail(r, r->word.at, text_get(&t));
	text_free(&t);
}

/* session: "session" name (command | ["setup" block] step*)
 * ["teardown" block] */
static void read_session(struct spec_reader *r)
{
	struct spec *s = r->spec;
	struct place at = r->word.at;
	const char *name = read_name(r, "expected the session's name");
	for (uint32_t i = 0; i < s->session_count && !r->failed; i++)
		if (!strcmp(s->sessions[i].name, name)) {
			source_error(r->all, at, "duplicate session name '%s'",
			             name);
			r->failed = true;
		}
	VEC_RESERVE(s->sessions, s->session_count, s->session_capacity);
	struct spec_session *x = &s->sessions[s->session_count++];
	*x = (struct spec_session){ .name = name, .at = at };
	if (accept(r, "command")) {
		struct place from = r->word.at;
		x->command = read_command(r);
		take_command(r, x, (struct spec_block){ from, 0 });
	} else if (accept(r, "setup")) {
		x->has_setup = true;
		x->setup = read_sql(r, "expected the setup's SQL in braces");
	}
	while (!x->command && accept(r, "step")) read_step(r, x);
	if (!r->failed && !x->step_count && r->word.kind == WORD_NAME &&
	    diag_nearest(r->word.name, (const char *const[]){ "step" }, 1))
		refuse_word(r);
	if (!r->failed && !x->step_count)
		fail(r, at, "this session has no step");
	if (accept(r, "teardown"))
		read_sql(r, "expected the teardown's SQL in braces");
}

/* permutation: "permutation" step*, each with marks in parentheses. All orders
 * are explored. */
static void read_permutation(struct spec_reader *r, struct place at)
{
	static const char *const keywords[] = { "setup",       "teardown",
		                                "session",     "step",
		                                "permutation", "assert",
		                                "isolation" };
	if (!r->told_permutations)
		source_note(r->all, at,
		            "all orders are explored, whatever permutations "
		            "are listed");
	r->told_permutations = true;
	for (; r->word.kind != WORD_END && r->word.kind != WORD_BLOCK;
	     read_word(r))
		for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
			if (is_word(r, keywords[i])) return;
}

/* assert: "assert" ["message"] block */
static void read_assert(struct spec_reader *r, struct place at)
{
	struct spec *s = r->spec;
	struct spec_assert a = { .at = at };
	if (r->word.kind == WORD_QUOTED) a.message = read_name(r, "");
	a.sql = read_sql(r, "expected the assertion's query in braces");
	VEC_RESERVE(s->asserts, s->assert_count, s->assert_capacity);
	s->asserts[s->assert_count++] = a;
}

static void read_item(struct spec_reader *r)
{
	struct place at = r->word.at;
	struct spec *s = r->spec;
	if (accept(r, "setup")) {
		read_setup(r);
	} else if (accept(r, "teardown")) {
		read_sql(r, "expected the teardown's SQL in braces");
	} else if (accept(r, "session")) {
		read_session(r);
	} else if (accept(r, "permutation")) {
		read_permutation(r, at);
	} else if (accept(r, "assert")) {
		read_assert(r, at);
	} else if (accept(r, "isolation")) {
		if (s->isolation) fail(r, at, "the level is given twice");
		s->isolation_at = r->word.at;
		s->isolation = read_name(r, "expected the name of a level");
	} else {
		refuse_word(r);
	}
}

struct spec_block spec_whole(const struct sources *all, uint32_t source)
{
	static const char mark[] = "\xef\xbb\xbf";
	const struct source *in = &all->items[source];
	uint32_t from = strncmp(in->text, mark, 3) ? 0 : 3;
	assert(from <= in->length);
	return (struct spec_block){ { source, from }, in->length - from };
}

bool spec_read(struct spec *s, struct sources *all, uint32_t source,
               struct region *region)
{
	struct spec_reader r = { .spec = s,
		                 .all = all,
		                 .source = source,
		                 .text = all->items[source].text,
		                 .length = all->items[source].length };
	*s = (struct spec){ .region = region };
	r.next = spec_whole(all, source).at.offset;
	read_word(&r);
	while (r.word.kind != WORD_END) read_item(&r);
	free(r.steps);
	table_free(&r.by_name);
	if (!r.failed && !s->session_count)
		fail(&r, (struct place){ source, 0 },
		     "there is no session: session NAME step NAME { SQL }");
	assert(r.failed || s->sessions);
	return !r.failed;
}

/* "name: SQL" */
static void add_given_session(struct spec_reader *r, const char *given)
{
	struct spec *s = r->spec;
	uint32_t length = (uint32_t)strlen(given), at = 0, colon;
	uint32_t source = sources_add(r->all, "--session", given, length);
	struct place place = { source, 0 };
	if (!source_check_text(r->all, source)) {
		r->failed = true;
		return;
	}
	while (at < length && is_blank(given[at])) at++;
	uint32_t end = at;
	if (end < length && begins_name((unsigned char)given[end]))
		while (end < length && goes_on_name((unsigned char)given[end]))
			end++;
	for (colon = end; colon < length && is_blank(given[colon]);) colon++;
	if (end == at || given[colon] != ':') {
		fail(r, place,
		     "expected a session as 'name: SQL' or 'name: !COMMAND'");
		return;
	}
	const char *name = region_copy_string(s->region, given + at, end - at);
	for (at = colon + 1; at < length && is_blank(given[at]);) at++;
	if (at == length) fail(r, place, "expected SQL behind the colon");
	for (uint32_t i = 0; i < s->session_count && !r->failed; i++)
		if (!strcmp(s->sessions[i].name, name))
			fail(r, place,
			     "a session of this name was given before");
	struct spec_step step = { .name = name, .at = place };
	step.sql = (struct spec_block){ { source, colon + 1 },
		                        length - colon - 1 };
	VEC_RESERVE(s->sessions, s->session_count, s->session_capacity);
	struct spec_session *x = &s->sessions[s->session_count++];
	*x = (struct spec_session){ .name = name, .at = place };
	if (given[at] == '!') {
		const char *command = given + at + 1;
		if (!command[strspn(command, " \t\n")])
			fail(r, place, "this command is empty");
		x->command =
			region_copy_string(s->region, command, length - at - 1);
		x->here = true;
	}
	VEC_RESERVE(x->steps, x->step_count, x->step_capacity);
	x->steps[x->step_count++] = step;
}

bool spec_of_script(struct spec *s, struct sources *all, uint32_t source,
                    const struct sql_arguments *given, struct region *region)
{
	struct spec_reader r = { .spec = s, .all = all };
	*s = (struct spec){ .region = region };
	VEC_RESERVE(s->setups, s->setup_count, s->setup_capacity);
	s->setups[s->setup_count++] =
		(struct spec_setup){ .at = { source, 0 },
		                     .sql = spec_whole(all, source) };
	for (size_t i = 0; given && given->sessions && given->sessions[i]; i++)
		add_given_session(&r, given->sessions[i]);
	for (size_t i = 0; given && given->asserts && given->asserts[i]; i++) {
		const char *text = given->asserts[i];
		uint32_t n = (uint32_t)strlen(text);
		uint32_t from = sources_add(all, "--assert", text, n);
		VEC_RESERVE(s->asserts, s->assert_count, s->assert_capacity);
		s->asserts[s->assert_count++] =
			(struct spec_assert){ .at = { from, 0 },
			                      .sql = { { from, 0 }, n } };
		if (!source_check_text(all, from)) r.failed = true;
	}
	if (!r.failed && !s->session_count && !(given && given->transactions))
		fail(&r, (struct place){ source, 0 },
		     "there is no session: give it one with --session "
		     "'name: SQL'");
	return !r.failed;
}

/* What a file that set-up names holds, or would; or why it cannot be read. */
static const char *read_whole(const struct sql_arguments *given,
                              const char *path, struct text *all)
{
	char buffer[1 << 14];
	size_t n;
	for (size_t i = 0; given && i < given->text_count; i++) {
		const struct load_text *t = &given->texts[i];
		if (strcmp(t->path, path)) continue;
		text_bytes(all, t->text, t->length);
		return NULL;
	}
	FILE *f = fopen(path, "rb");
	if (!f) return strerror(errno);
	while ((n = fread(buffer, 1, sizeof buffer, f)) > 0 &&
	       all->length <= LIMIT_FILE)
		text_bytes(all, buffer, n);
	const char *why = ferror(f) ? strerror(errno) : NULL;
	fclose(f);
	return all->length > LIMIT_FILE ? "the file is larger than 64 MiB"
	                                : why;
}

bool spec_read_setup(struct sources *all, struct spec_setup *s,
                     const char *from, const struct sql_arguments *given,
                     uint64_t *digest)
{
	struct text path = { 0 }, text = { 0 };
	const char *slash = strrchr(from, '/');
	if (!s->file) return true;
	assert(!s->command);
	if (*s->file != '/' && slash)
		text_bytes(&path, from, (size_t)(slash - from) + 1);
	text_string(&path, s->file);
	const char *why = read_whole(given, text_get(&path), &text);
	bool fine = !why;
	if (fine) {
		uint32_t source =
			sources_add(all, text_get(&path), text_get(&text),
		                    (uint32_t)text.length);
		s->sql = spec_whole(all, source);
		*digest = hash_bytes(*digest, text_get(&text), text.length);
		fine = source_check_text(all, source);
	} else {
		diags_file(all->diags, text_get(&path));
		source_error(all, s->at, "cannot read '%s': %s",
		             text_get(&path), why);
	}
	text_free(&path);
	text_free(&text);
	return fine;
}

char *spec_block_text(const struct sources *all, const struct spec_block *b)
{
	const struct source *in = &all->items[b->at.source];
	assert(b->at.offset + b->length <= in->length);
	char *copy = mem_take(b->length + (size_t)1);
	memcpy(copy, in->text + b->at.offset, b->length);
	copy[b->length] = 0;
	return copy;
}

struct place spec_block_begin(const struct sources *all,
                              const struct spec_block *b)
{
	const char *text = all->items[b->at.source].text;
	struct place at = b->at;
	uint32_t end = at.offset + b->length;
	assert(end <= all->items[b->at.source].length);
	while (at.offset < end && is_blank(text[at.offset])) at.offset++;
	return at.offset < end ? at : b->at;
}

void spec_block_line(const struct sources *all, const struct spec_block *b,
                     struct text *t)
{
	const char *s = all->items[b->at.source].text + b->at.offset;
	bool blank = false, any = false;
	for (uint32_t i = 0; i < b->length; i++) {
		if (is_blank(s[i])) {
			blank = any;
			continue;
		}
		if (blank) text_char(t, ' ');
		blank = false;
		any = true;
		text_char(t, s[i]);
	}
}

void spec_free(struct spec *s)
{
	for (uint32_t i = 0; i < s->session_count; i++)
		free(s->sessions[i].steps);
	free(s->sessions);
	free(s->setups);
	free(s->asserts);
}
