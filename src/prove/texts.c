/* Items are told apart by their tokens: each begins with its word, and ends
 * with a semicolon or the brace that closes it. */
#include "prove/texts.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "lang/lexer.h"

/* Where the item that begins at this token ends. */
static size_t item_end(const struct tokens *t, size_t at)
{
	bool braced = t->items[at].kind == TOKEN_TXN ||
	              t->items[at].kind == TOKEN_SESSION ||
	              t->items[at].kind == TOKEN_FINALLY;
	int depth = 0;
	for (; at < t->count && t->items[at].kind != TOKEN_END; at++) {
		enum token_kind k = t->items[at].kind;
		depth += k == TOKEN_OPEN || k == TOKEN_OPEN_SQUARE ||
		         k == TOKEN_OPEN_BRACE;
		depth -= k == TOKEN_CLOSE || k == TOKEN_CLOSE_SQUARE ||
		         k == TOKEN_CLOSE_BRACE;
		if (depth) continue;
		if (k == TOKEN_SEMICOLON || (braced && k == TOKEN_CLOSE_BRACE))
			return at + 1;
	}
	return at;
}

static void keep_global(struct application *a, const struct source *s,
                        const struct tokens *t, size_t at, const char *text)
{
	struct token name = t->items[at + 1];
	bool keyed = t->items[at + 2].kind == TOKEN_OPEN_SQUARE;
	bool star = !keyed || t->items[at + 3].kind == TOKEN_TIMES;
	for (uint32_t i = 0; i < a->family_count; i++) {
		const char *family = a->families[i].name;
		if (strlen(family) != name.length ||
		    memcmp(family, s->text + name.offset, name.length) != 0)
			continue;
		VEC_RESERVE(a->keys, a->key_count, a->key_capacity);
		a->keys[a->key_count++] =
			(struct declared_key){ i, star, text };
		return;
	}
	text_format(&a->declarations, "%s\n", text);
}

static const char *copy_of(struct application *a, const struct source *s,
                           uint32_t from, uint32_t end)
{
	return region_copy_string(&a->region, s->text + from, end - from);
}

/* What stands between its parameters and its body is its level. */
static void keep_transaction(struct application *a, const struct source *s,
                             const struct tokens *t, size_t at, size_t end)
{
	const struct token *first = &t->items[at], *last = &t->items[end - 1],
			   *name = first + 1, *head = first, *body = first;
	while (body->kind != TOKEN_OPEN_BRACE) {
		if (body->kind == TOKEN_CLOSE) head = body;
		body++;
	}
	VEC_RESERVE(a->transactions, a->transaction_count,
	            a->transaction_capacity);
	a->transactions[a->transaction_count++] = (struct kept_transaction){
		copy_of(a, s, name->offset, name->offset + name->length),
		copy_of(a, s, first->offset, head->offset + head->length),
		copy_of(a, s, body->offset, last->offset + last->length)
	};
}

void keep_texts(struct application *a, struct sources *all, uint32_t source)
{
	const struct source *s = &all->items[source];
	struct tokens t = { 0 };
	lex_part(all, source, 0, s->length, &t);
	for (size_t at = 0; at < t.count && t.items[at].kind != TOKEN_END;) {
		size_t end = item_end(&t, at);
		const struct token *last = &t.items[end - 1];
		uint32_t from = t.items[at].offset;
		const char *text =
			region_copy_string(&a->region, s->text + from,
		                           last->offset + last->length - from);
		switch (t.items[at].kind) {
		case TOKEN_GLOBAL: keep_global(a, s, &t, at, text); break;
		case TOKEN_TXN: keep_transaction(a, s, &t, at, end); break;
		case TOKEN_FINALLY:
			text_format(&a->asserted, "%s\n", text);
			break;
		case TOKEN_SESSION:
		case TOKEN_IMPORT:
		case TOKEN_ISOLATION:
		case TOKEN_ASSERT: break;
		case TOKEN_NAME: /* symmetric, extern */
			if (strncmp(text, "symmetric", 9) != 0)
				text_format(&a->declarations, "%s\n", text);
			break;
		default: text_format(&a->declarations, "%s\n", text);
		}
		assert(end > at);
		at = end;
	}
	free(t.items);
}
