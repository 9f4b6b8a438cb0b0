/* Layout works on tokens, not on the tree, so that comments keep their places.
 *
 * A line of the output is one statement, the head of a block, or the end of a
 * block. A block written on one source line stays on one line if it fits.
 * Between lines, a run of empty lines of the source becomes one. */
#include "lang/format.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lang/lexer.h"
#include "lang/limits.h"
#include "lang/load.h"
#include "lang/parser.h"

enum { FORMAT_WIDTH = 80, FORMAT_INDENT = 4 };

struct formatter {
	struct sources *all;
	const struct source *text;
	struct tokens tokens;
	size_t at;
	struct text *out;
	unsigned blocks;         /* around */
	/* The line being gathered: runs of tokens that are not divided. */
	struct text run;         /* since the last place for a line break */
	size_t column;           /* of the end of what was written of it */
	bool started;            /* something of the line was written */
	bool space;              /* before the run, unless a break comes */
	/* Brackets around the token, for the meaning of ':' and of '}'. */
	char *brackets;
	size_t bracket_count, bracket_capacity;
	enum token_kind last;    /* token before, in this line */
	bool last_unary;
	bool last_literal_brace; /* the last token closed a set or record */
};

/* --- spacing ----------------------------------------------------------- */

static bool ends_operand(enum token_kind k)
{
	switch (k) {
	case TOKEN_NAME:
	case TOKEN_INTEGER:
	case TOKEN_STRING:
	case TOKEN_TRUE:
	case TOKEN_FALSE:
	case TOKEN_NULL:
	case TOKEN_CLOSE:
	case TOKEN_CLOSE_SQUARE:
	case TOKEN_CLOSE_BRACE:
		return true;
	default:
		return false;
	}
}

static bool opens(enum token_kind k)
{
	return k == TOKEN_OPEN || k == TOKEN_OPEN_SQUARE;
}

static bool is_unary(const struct formatter *f, enum token_kind k)
{
	return k == TOKEN_NOT || (k == TOKEN_MINUS && !ends_operand(f->last));
}

static char bracket(const struct formatter *f)
{
	return f->bracket_count ? f->brackets[f->bracket_count - 1] : 0;
}

/* Is there a space between the last token of the line and this one? */
static bool space_before(const struct formatter *f, enum token_kind k)
{
	switch (k) {
	case TOKEN_CLOSE:
	case TOKEN_CLOSE_SQUARE:
	case TOKEN_COMMA:
	case TOKEN_SEMICOLON:
	case TOKEN_DOT:
	case TOKEN_RANGE:
		return false;
	case TOKEN_COLON: return bracket(f) != '{';
	case TOKEN_CLOSE_BRACE: return false;
	default: break;
	}
	if (opens(f->last) || f->last == TOKEN_DOT || f->last == TOKEN_RANGE ||
	    f->last == TOKEN_ELLIPSIS || f->last_unary)
		return false;
	if (f->last == TOKEN_OPEN_BRACE) return bracket(f) != '{';
	if (k == TOKEN_OPEN)
		return f->last != TOKEN_NAME;
	if (k == TOKEN_OPEN_SQUARE) return !ends_operand(f->last);
	return true;
}

/* --- lines ------------------------------------------------------------- */

static size_t width(const char *s, size_t length)
{
	size_t n = 0;
	for (size_t i = 0; i < length; i++)
		n += ((unsigned char)s[i] & 0xc0) != 0x80;
	return n;
}

static void new_line(struct formatter *f, unsigned indent)
{
	text_char(f->out, '\n');
	text_pad(f->out, ' ', indent * FORMAT_INDENT);
	f->column = indent * FORMAT_INDENT;
}

/* Writes the run, on a line of its own if it does not fit. */
static void flush_run(struct formatter *f)
{
	if (!f->run.length) return;
	size_t needed = width(f->run.data, f->run.length);
	if (!f->started) {
		text_pad(f->out, ' ', f->blocks * FORMAT_INDENT);
		f->column = f->blocks * FORMAT_INDENT;
	} else if (f->column + f->space + needed > FORMAT_WIDTH) {
		new_line(f, f->blocks + 2);
	} else if (f->space) {
		text_char(f->out, ' ');
		f->column++;
	}
	text_bytes(f->out, f->run.data, f->run.length);
	f->column += needed;
	f->started = true;
	f->space = false;
	text_clear(&f->run);
}

static void end_line(struct formatter *f)
{
	flush_run(f);
	if (f->started) text_char(f->out, '\n');
	f->started = false;
	f->space = false;
	f->last = TOKEN_END;
	f->last_unary = false;
}

static const struct token *token(const struct formatter *f, size_t i)
{
	return &f->tokens.items[i];
}

/* Line breaks of the source between this token and the one before. */
static unsigned breaks_before(const struct formatter *f, size_t i)
{
	if (!i) return 0;
	const struct token *before = token(f, i - 1);
	unsigned n = 0;
	for (uint32_t p = before->offset + before->length;
	     p < token(f, i)->offset; p++)
		n += f->text->text[p] == '\n';
	return n;
}

static void add_token(struct formatter *f, size_t i)
{
	const struct token *t = token(f, i);
	bool first = f->last == TOKEN_END;
	bool space = !first && space_before(f, t->kind);
	bool unary = is_unary(f, t->kind);
	/* A line may be broken after a comma and before && and ||. */
	if (f->last == TOKEN_COMMA || t->kind == TOKEN_AND ||
	    t->kind == TOKEN_OR) {
		flush_run(f);
		f->space = space;
	} else if (space) {
		if (f->run.length)
			text_char(&f->run, ' ');
		else
			f->space = true;
	}
	text_bytes(&f->run, f->text->text + t->offset, t->length);
	f->last = t->kind;
	f->last_unary = unary;
}

static void push_bracket(struct formatter *f, char c)
{
	VEC_RESERVE(f->brackets, f->bracket_count, f->bracket_capacity);
	f->brackets[f->bracket_count++] = c;
}

static void pop_bracket(struct formatter *f)
{
	if (f->bracket_count) f->bracket_count--;
}

/* A brace after an operand or a word that heads a block opens a block; any
 * other one opens a set or a record. */
static bool opens_block(const struct formatter *f)
{
	return ends_operand(f->last) || f->last == TOKEN_ELSE ||
	       f->last == TOKEN_FINALLY || f->last == TOKEN_TXN;
}

/* --- comments ---------------------------------------------------------- */

/* A comment at the end of a line of the source stays there. */
static void add_trailing_comment(struct formatter *f)
{
	const struct token *t = token(f, f->at);
	if (t->kind != TOKEN_COMMENT || breaks_before(f, f->at)) return;
	text_char(f->out, ' ');
	text_bytes(f->out, f->text->text + t->offset, t->length);
	f->at++;
}

/* A comment within a statement: the statement goes on in the next line. */
static void add_inner_comment(struct formatter *f)
{
	const struct token *t = token(f, f->at);
	bool own_line = breaks_before(f, f->at) > 0;
	flush_run(f);
	if (own_line)
		new_line(f, f->blocks + 2);
	else
		text_char(f->out, ' ');
	text_bytes(f->out, f->text->text + t->offset, t->length);
	f->at++;
	f->column = FORMAT_WIDTH; /* the next run begins a line */
	f->space = true;
}

static void finish_line(struct formatter *f)
{
	flush_run(f);
	add_trailing_comment(f);
	end_line(f);
}

/* --- blocks ------------------------------------------------------------ */

/* The place of the '}' of the block that opens at `open` if the block is on
 * one line of the source, without blocks or comments in it; else 0. */
static size_t one_line_block(const struct formatter *f, size_t open)
{
	unsigned depth = 0;
	enum token_kind last = TOKEN_END;
	for (size_t i = open; token(f, i)->kind != TOKEN_END; i++) {
		enum token_kind k = token(f, i)->kind;
		if (i > open && breaks_before(f, i)) return 0;
		if (k == TOKEN_COMMENT) return 0;
		if (k == TOKEN_OPEN_BRACE) {
			bool block = ends_operand(last) || last == TOKEN_ELSE ||
			             last == TOKEN_TXN;
			if (i > open && block) return 0;
			depth++;
		}
		if (k == TOKEN_CLOSE_BRACE && !--depth) return i;
		last = k;
	}
	return 0;
}

/* Adds the whole block to the line if it fits. */
static bool add_one_line_block(struct formatter *f)
{
	size_t close = one_line_block(f, f->at);
	if (!close) return false;
	struct formatter try = *f;
	struct text out = { 0 };
	try.out = &out;
	try.run = (struct text){ 0 };
	try.brackets = NULL;
	try.bracket_count = try.bracket_capacity = 0;
	text_bytes(&try.run, text_get(&f->run), f->run.length);
	for (size_t i = f->at; i <= close; i++) {
		enum token_kind k = token(f, i)->kind;
		if (i == close || (i > f->at && try.last == TOKEN_SEMICOLON))
			text_char(&try.run, ' ');
		if (k == TOKEN_OPEN_BRACE && i > f->at) push_bracket(&try, '{');
		if (opens(k)) push_bracket(&try, '(');
		if (try.last == TOKEN_SEMICOLON) try.last = TOKEN_OPEN;
		if (i == f->at) push_bracket(&try, 'b');
		add_token(&try, i);
		if (k == TOKEN_CLOSE || k == TOKEN_CLOSE_SQUARE ||
		    k == TOKEN_CLOSE_BRACE)
			pop_bracket(&try);
	}
	flush_run(&try);
	free(try.brackets);
	bool fits = !memchr(text_get(&out), '\n', out.length) &&
	            try.column <= FORMAT_WIDTH;
	if (fits) {
		text_bytes(f->out, out.data, out.length);
		text_clear(&f->run);
		f->column = try.column;
		f->started = true;
		f->space = false;
		f->last = TOKEN_CLOSE_BRACE;
		f->at = close + 1;
	}
	text_free(&out);
	text_free(&try.run);
	return fits;
}

static bool continues_after_block(const struct formatter *f)
{
	enum token_kind k = token(f, f->at)->kind;
	return k == TOKEN_ELSE || k == TOKEN_SEMICOLON;
}

static void open_block(struct formatter *f)
{
	if (add_one_line_block(f)) {
		if (!continues_after_block(f)) finish_line(f);
		return;
	}
	add_token(f, f->at++);
	if (token(f, f->at)->kind == TOKEN_CLOSE_BRACE) {
		/* Empty, over several lines. */
		push_bracket(f, '{');
		add_token(f, f->at++);
		pop_bracket(f);
		if (!continues_after_block(f)) finish_line(f);
		return;
	}
	finish_line(f);
	push_bracket(f, 'b');
	f->blocks++;
}

static void close_block(struct formatter *f)
{
	end_line(f);
	pop_bracket(f);
	if (f->blocks) f->blocks--;
	add_token(f, f->at++);
	if (!continues_after_block(f)) finish_line(f);
}

/* --- the whole ----------------------------------------------------------- */

static void format_bracket(struct formatter *f, enum token_kind k)
{
	if (k == TOKEN_OPEN_BRACE) {
		add_token(f, f->at++);
		push_bracket(f, '{');
	} else if (opens(k)) {
		add_token(f, f->at++);
		push_bracket(f, '(');
	} else {
		add_token(f, f->at++);
		pop_bracket(f);
	}
}

static void keep_blank_line(struct formatter *f)
{
	if (f->at == 0 || f->last != TOKEN_END || f->started) return;
	enum token_kind k = token(f, f->at)->kind;
	enum token_kind before = token(f, f->at - 1)->kind;
	bool inside = f->out->length < 2 ||
	              (before == TOKEN_OPEN_BRACE && bracket(f) == 'b');
	if (breaks_before(f, f->at) > 1 && k != TOKEN_CLOSE_BRACE && !inside &&
	    k != TOKEN_END)
		text_char(f->out, '\n');
}

static void format_token(struct formatter *f)
{
	enum token_kind k = token(f, f->at)->kind;
	char inside = bracket(f);
	keep_blank_line(f);
	if (k == TOKEN_COMMENT) {
		if (f->last != TOKEN_END) {
			add_inner_comment(f);
			return;
		}
		add_token(f, f->at++);
		end_line(f);
	} else if (k == TOKEN_OPEN_BRACE && opens_block(f)) {
		open_block(f);
	} else if (k == TOKEN_CLOSE_BRACE && inside == 'b') {
		close_block(f);
	} else if (k == TOKEN_OPEN_BRACE || k == TOKEN_CLOSE_BRACE ||
	           opens(k) || k == TOKEN_CLOSE || k == TOKEN_CLOSE_SQUARE) {
		format_bracket(f, k);
	} else {
		add_token(f, f->at++);
		if (k == TOKEN_SEMICOLON) finish_line(f);
	}
}

static void formatter_free(struct formatter *f)
{
	free(f->tokens.items);
	free(f->brackets);
	text_free(&f->run);
}

void format_expression(struct sources *all, const struct expr *e,
                       struct text *out)
{
	struct formatter f = { .all = all, .out = out,
		               .text = &all->items[e->source] };
	lex_part(all, e->source, e->start, e->end, &f.tokens);
	while (token(&f, f.at)->kind != TOKEN_END) {
		enum token_kind k = token(&f, f.at)->kind;
		bool braces = k == TOKEN_OPEN_BRACE || k == TOKEN_CLOSE_BRACE;
		if (braces || opens(k) || k == TOKEN_CLOSE ||
		    k == TOKEN_CLOSE_SQUARE)
			format_bracket(&f, k);
		else
			add_token(&f, f.at++);
		f.column = 0; /* never full */
		flush_run(&f);
	}
	formatter_free(&f);
}

static bool parses(struct sources *all, struct region *r)
{
	struct syntax syntax;
	syntax_init(&syntax, r);
	bool ok = source_check_text(all, 0) && parse(&syntax, all, 0);
	syntax_free(&syntax);
	return ok;
}

bool format_program_text(const char *path, const char *source, size_t length,
                         struct text *out, struct diags *d)
{
	struct region region;
	struct sources all;
	if (length > LIMIT_FILE) {
		diags_add(d, DIAG_ERROR, path, 0, 0, NULL,
		          "the file is larger than %d MiB", LIMIT_FILE >> 20);
		return false;
	}
	region_init(&region);
	sources_init(&all, &region, d);
	sources_add(&all, path, source, (uint32_t)length);
	bool ok = parses(&all, &region);
	if (ok) {
		struct formatter f = { .all = &all, .out = out,
			               .text = &all.items[0] };
		lex(&all, 0, true, &f.tokens);
		while (token(&f, f.at)->kind != TOKEN_END) format_token(&f);
		end_line(&f);
		formatter_free(&f);
	}
	sources_free(&all);
	region_free(&region);
	return ok;
}
