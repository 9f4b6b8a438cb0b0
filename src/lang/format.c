/* Layout works on tokens, not on the tree, so that comments keep their places.
 *
 * A line of the output is one statement, the head of a block, or the end of a
 * block. A block written on one source line stays on one line if it fits.
 * Between lines, a run of empty lines of the source becomes one. */
#include "lang/format.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lang/lexer.h"
#include "lang/limits.h"
#include "lang/parser.h"

enum { FORMAT_WIDTH = 80, FORMAT_INDENT = 4 };

/* Tokens of a line that are not divided. */
struct chunk {
	size_t start, end; /* in the text of the line */
	size_t width;      /* in characters */
	size_t depth;      /* brackets around its beginning */
	bool space;        /* before it, unless a line break comes */
	bool forced;       /* a line break comes before it */
};

struct formatter {
	struct sources *all;
	const struct source *text;
	struct tokens tokens;
	size_t at;
	struct text *out;
	unsigned blocks; /* around */
	/* The line being gathered. */
	struct text line;
	struct chunk *chunks;
	size_t chunk_count, chunk_capacity;
	bool forced; /* the next chunk begins a line */
	bool has_else;
	bool is_extern; /* ... fn: ':' comes before a type */
	/* Brackets around the token, for the meaning of ':' and of '}': '{' of
	 * a set or record, 'b' of a block, '(' others. */
	char *brackets;
	size_t bracket_count, bracket_capacity;
	enum token_kind last; /* token before, in this line */
	bool last_unary;
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
	case TOKEN_CLOSE_BRACE: return true;
	default: return false;
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
	case TOKEN_RANGE: return false;
	case TOKEN_COLON: return bracket(f) != '{' && !f->is_extern;
	case TOKEN_CLOSE_BRACE:
		return bracket(f) == 'b' && f->last != TOKEN_OPEN_BRACE;
	default: break;
	}
	if (opens(f->last) || f->last == TOKEN_DOT || f->last == TOKEN_RANGE ||
	    f->last == TOKEN_ELLIPSIS || f->last_unary)
		return false;
	if (f->last == TOKEN_OPEN_BRACE) return bracket(f) != '{';
	if (k == TOKEN_OPEN) return f->last != TOKEN_NAME;
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

static size_t chunk_width(const struct formatter *f, size_t i)
{
	return f->chunks[i].space + f->chunks[i].width;
}

/* The width of this chunk and of those after it that belong to it, being
 * within more brackets than it is. */
static size_t group_width(const struct formatter *f, size_t i)
{
	size_t n = f->chunks[i].width, depth = f->chunks[i].depth;
	while (++i < f->chunk_count && f->chunks[i].depth > depth &&
	       !f->chunks[i].forced)
		n += chunk_width(f, i);
	return n;
}

static void begin_line(struct formatter *f, unsigned indent, size_t *column)
{
	text_pad(f->out, ' ', indent * FORMAT_INDENT);
	*column = indent * FORMAT_INDENT;
}

/* Writes the line, as several ones if it is too long: broken where few
 * brackets are around, and never before the first chunk. */
static void flush_line(struct formatter *f)
{
	size_t column = 0;
	for (size_t i = 0; i < f->chunk_count; i++) {
		const struct chunk *k = &f->chunks[i];
		assert(k->start <= k->end && k->end <= f->line.length);
		size_t room = FORMAT_WIDTH - (f->blocks + 2) * FORMAT_INDENT;
		size_t group = group_width(f, i);
		size_t needed = group <= room ? group : k->width;
		if (!i && !k->forced) {
			begin_line(f, f->blocks, &column);
		} else if (k->forced ||
		           column + k->space + needed > FORMAT_WIDTH) {
			text_char(f->out, '\n');
			begin_line(f, f->blocks + 2, &column);
		} else if (k->space) {
			text_char(f->out, ' ');
			column++;
		}
		text_bytes(f->out, f->line.data + k->start, k->end - k->start);
		column += k->width;
	}
	f->chunk_count = 0;
	text_clear(&f->line);
}

static void end_line(struct formatter *f)
{
	bool written = f->chunk_count > 0 || f->last != TOKEN_END;
	flush_line(f);
	if (written) text_char(f->out, '\n');
	f->last = TOKEN_END;
	f->last_unary = false;
	f->has_else = false;
	f->is_extern = false;
	f->forced = false;
}

static const struct token *token(const struct formatter *f, size_t i)
{
	assert(i < f->tokens.count);
	return &f->tokens.items[i];
}

/* Line breaks of the source between this token and the one before. */
static unsigned breaks_before(const struct formatter *f, size_t i)
{
	if (!i) return 0;
	const struct token *before = token(f, i - 1);
	assert(before->offset + before->length <= token(f, i)->offset);
	unsigned n = 0;
	for (uint32_t p = before->offset + before->length;
	     p < token(f, i)->offset; p++)
		n += f->text->text[p] == '\n';
	return n;
}

/* A line may be broken after a comma and before some operators. */
static bool breakable(const struct formatter *f, enum token_kind k)
{
	return !f->chunk_count || f->forced || f->last == TOKEN_COMMA ||
	       k == TOKEN_AND || k == TOKEN_OR ||
	       (k == TOKEN_PLUS && ends_operand(f->last));
}

static void begin_chunk(struct formatter *f, bool space)
{
	VEC_RESERVE(f->chunks, f->chunk_count, f->chunk_capacity);
	f->chunks[f->chunk_count++] = (struct chunk){
		.start = f->line.length,
		.end = f->line.length,
		.depth = f->bracket_count,
		.space = space,
		.forced = f->forced,
	};
	assert(f->chunk_count > 0);
	f->forced = false;
}

static void add_token(struct formatter *f, size_t i)
{
	const struct token *t = token(f, i);
	bool space = f->last != TOKEN_END && space_before(f, t->kind);
	bool unary = is_unary(f, t->kind);
	if (breakable(f, t->kind)) begin_chunk(f, space);
	assert(f->chunk_count > 0);
	struct chunk *k = &f->chunks[f->chunk_count - 1];
	if (space && k->end > k->start) {
		text_char(&f->line, ' ');
		k->width++;
	}
	text_bytes(&f->line, f->text->text + t->offset, t->length);
	k->end = f->line.length;
	k->width += width(f->text->text + t->offset, t->length);
	f->is_extern |= f->last == TOKEN_NAME && t->kind == TOKEN_FN;
	f->last = t->kind;
	f->last_unary = unary;
	f->has_else |= t->kind == TOKEN_ELSE;
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
	bool own_line = breaks_before(f, f->at) > 0 || f->forced;
	assert(t->kind == TOKEN_COMMENT);
	flush_line(f);
	if (own_line) {
		text_char(f->out, '\n');
		text_pad(f->out, ' ', (f->blocks + 2) * FORMAT_INDENT);
	} else {
		text_char(f->out, ' ');
	}
	text_bytes(f->out, f->text->text + t->offset, t->length);
	f->at++;
	f->forced = true;
}

static void finish_line(struct formatter *f)
{
	flush_line(f);
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
	assert(token(f, open)->kind == TOKEN_OPEN_BRACE);
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

static void format_bracket(struct formatter *f, enum token_kind k)
{
	add_token(f, f->at++);
	if (k == TOKEN_OPEN_BRACE)
		push_bracket(f, '{');
	else if (opens(k))
		push_bracket(f, '(');
	else
		pop_bracket(f);
}

static bool is_bracket(enum token_kind k)
{
	return k == TOKEN_OPEN_BRACE || k == TOKEN_CLOSE_BRACE || opens(k) ||
	       k == TOKEN_CLOSE || k == TOKEN_CLOSE_SQUARE;
}

static size_t line_width(const struct formatter *f)
{
	size_t n = f->blocks * FORMAT_INDENT;
	for (size_t i = 0; i < f->chunk_count; i++) n += chunk_width(f, i);
	return n;
}

/* Adds the whole block to the line if it fits; not in chains of if and else,
 * whose blocks are to look alike. */
static bool add_one_line_block(struct formatter *f)
{
	size_t open = f->at, close = one_line_block(f, open);
	if (!close || f->has_else || token(f, close + 1)->kind == TOKEN_ELSE)
		return false;
	size_t chunks = f->chunk_count, length = f->line.length;
	struct chunk last = { 0 };
	enum token_kind before = f->last;
	bool forced = f->forced; /* a comment stands before the block */
	if (chunks) last = f->chunks[chunks - 1];
	add_token(f, f->at++);
	push_bracket(f, 'b');
	while (f->at < close) {
		enum token_kind k = token(f, f->at)->kind;
		if (is_bracket(k))
			format_bracket(f, k);
		else
			add_token(f, f->at++);
	}
	add_token(f, f->at++);
	pop_bracket(f);
	if (line_width(f) < FORMAT_WIDTH) return true;
	f->at = open;
	f->chunk_count = chunks;
	if (chunks) f->chunks[chunks - 1] = last;
	f->line.length = length;
	f->forced = forced;
	f->last = before;
	f->last_unary = false;
	return false;
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
		push_bracket(f, '{'); /* empty: no line break */
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

static void keep_blank_line(struct formatter *f)
{
	if (f->at == 0 || f->last != TOKEN_END) return;
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
	} else if (is_bracket(k)) {
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
	free(f->chunks);
	text_free(&f->line);
}

void format_expression(struct sources *all, const struct expr *e,
                       struct text *out)
{
	struct formatter f = { .all = all,
		               .out = out,
		               .text = &all->items[e->source] };
	lex_part(all, e->source, e->start, e->end, &f.tokens);
	while (token(&f, f.at)->kind != TOKEN_END) {
		enum token_kind k = token(&f, f.at)->kind;
		if (is_bracket(k))
			format_bracket(&f, k);
		else
			add_token(&f, f.at++);
	}
	for (size_t i = 0; i < f.chunk_count; i++) {
		const struct chunk *k = &f.chunks[i];
		if (k->space) text_char(out, ' ');
		text_bytes(out, f.line.data + k->start, k->end - k->start);
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
		struct formatter f = { .all = &all,
			               .out = out,
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
