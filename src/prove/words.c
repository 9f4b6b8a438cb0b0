#include "prove/words.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

enum { WORDS_MOST = 80 };

enum constancy { OPEN, ALWAYS, NEVER };

struct words {
	struct text *out;
	const struct application *a;
	const struct summary *s;
	unsigned char *known; /* constancy, by node; NULL: not asked for */
	size_t end;           /* of what is printed at most */
	bool unknown;         /* something is not known */
};

static bool is_full(const struct words *w)
{
	return w->out->length > w->end;
}

static void print(struct words *w, uint32_t node, bool inner);

static void print_key(struct words *w, const struct access *k)
{
	const struct family *f = &w->a->families[k->family];
	text_string(w->out, f->name);
	for (uint32_t i = 0; i < f->index_count; i++) {
		text_string(w->out, i ? ", " : "[");
		print(w, k->indexes[i], false);
	}
	if (f->index_count) text_char(w->out, ']');
}

static void print_two(struct words *w, uint32_t a, const char *operator,
                      uint32_t b, bool inner)
{
	if (inner) text_char(w->out, '(');
	print(w, a, true);
	text_format(w->out, " %s ", operator);
	print(w, b, true);
	if (inner) text_char(w->out, ')');
}

static const char *equal_word(const struct words *w, bool equal)
{
	if (w->a->image) return equal ? "=" : "<>";
	return equal ? "==" : "!=";
}

static void print_not(struct words *w, uint32_t node, bool inner)
{
	const struct node *n = &w->s->nodes[node];
	if (n->op == NODE_EQUAL) {
		print_two(w, n->a, equal_word(w, false), n->b, inner);
	} else if (n->op == NODE_LESS) {
		print_two(w, n->a, ">=", n->b, inner);
	} else {
		text_string(w->out, "not ");
		print(w, node, true);
	}
}

/* One of them may be left out. */
static void print_joined(struct words *w, const struct node *n, bool inner)
{
	bool both = n->op == NODE_AND;
	enum constancy idle = both ? ALWAYS : NEVER;
	if (w->known && w->known[n->a] == idle)
		print(w, n->b, inner);
	else if (w->known && w->known[n->b] == idle)
		print(w, n->a, inner);
	else
		print_two(w, n->a, both ? "and" : "or", n->b, inner);
}

static void print_read(struct words *w, const struct node *n)
{
	const struct access *k = &w->s->accesses[n->a];
	const struct family *f = &w->a->families[k->family];
	print_key(w, k);
	if (f->parts && f->parts[n->b])
		text_format(w->out, ".%s", f->parts[n->b]);
	else if (f->parts)
		text_string(w->out, " exists");
}

static void print_items(struct words *w, const struct node *n)
{
	if (n->c > 1) {
		print_items(w, &w->s->nodes[n->a]);
		text_string(w->out, ", ");
	}
	print(w, n->b, false);
}

static void print_tuple(struct words *w, const struct node *n)
{
	text_char(w->out, '(');
	print_items(w, n);
	text_char(w->out, ')');
}

static void print(struct words *w, uint32_t node, bool inner)
{
	const struct node *n = &w->s->nodes[node];
	if (is_full(w)) return;
	if (w->known && !node_is_value(n) && w->known[node] != OPEN) {
		text_string(w->out,
		            w->known[node] == ALWAYS ? "true" : "false");
		return;
	}
	switch (n->op) {
	case NODE_FALSE: text_string(w->out, "false"); break;
	case NODE_TRUE: text_string(w->out, "true"); break;
	case NODE_NOT: print_not(w, n->a, inner); break;
	case NODE_AND:
	case NODE_OR: print_joined(w, n, inner); break;
	case NODE_EQUAL:
		print_two(w, n->a, equal_word(w, true), n->b, inner);
		break;
	case NODE_LESS: print_two(w, n->a, "<", n->b, inner); break;
	case NODE_HOLDS:
	case NODE_TRUTH: print(w, n->a, inner); break;
	case NODE_CONSTANT: value_print(w->out, w->a->constants[n->a]); break;
	case NODE_PARAMETER:
		assert(n->a < w->s->param_count);
		text_string(w->out, w->s->params[n->a]);
		break;
	case NODE_READ: print_read(w, n); break;
	case NODE_SUM: print_two(w, n->a, "+", n->b, inner); break;
	case NODE_DIFFERENCE: print_two(w, n->a, "-", n->b, inner); break;
	case NODE_PRODUCT: print_two(w, n->a, "*", n->b, inner); break;
	case NODE_TUPLE: print_tuple(w, n); break;
	case NODE_FIELD:
		print(w, n->a, true);
		text_format(w->out, ".%s", w->a->constants[n->b].o->bytes);
		break;
	default:
		w->unknown = true;
		text_char(w->out, '?');
		break;
	}
}

void words_key(struct text *out, const struct application *a,
               const struct summary *s, const struct access *access)
{
	struct words w = { out, a, s, NULL, out->length + WORDS_MOST, false };
	print_key(&w, access);
	if (!is_full(&w)) return;
	out->length = w.end - WORDS_MOST;
	const struct family *f = &a->families[access->family];
	text_string(out, f->name);
	for (uint32_t i = 0; i < f->index_count; i++)
		text_string(out, i ? ", ?" : "[?");
	if (f->index_count) text_char(out, ']');
}

/* What conditions are where all values have the types that are expected. */
static enum constancy constancy_of(const unsigned char *known,
                                   const struct node *n)
{
	switch (n->op) {
	case NODE_FALSE: return NEVER;
	case NODE_TRUE:
	case NODE_IS_INT:
	case NODE_IS_BOOL:
	case NODE_IS_STRING:
	case NODE_HAS:
	case NODE_FITS: return ALWAYS;
	case NODE_NOT:
		return known[n->a] == OPEN     ? OPEN
		       : known[n->a] == ALWAYS ? NEVER
		                               : ALWAYS;
	case NODE_AND:
		if (known[n->a] == NEVER || known[n->b] == NEVER) return NEVER;
		return known[n->a] == ALWAYS && known[n->b] == ALWAYS ? ALWAYS
		                                                      : OPEN;
	case NODE_OR:
		if (known[n->a] == ALWAYS || known[n->b] == ALWAYS)
			return ALWAYS;
		return known[n->a] == NEVER && known[n->b] == NEVER ? NEVER
		                                                    : OPEN;
	default: return OPEN;
	}
}

void words_condition(struct text *out, const struct application *a,
                     const struct summary *s, const struct access *access)
{
	size_t begin = out->length;
	struct words w = { out, a, s, NULL, begin + WORDS_MOST, false };
	w.known = mem_take0(s->node_count, sizeof *w.known);
	for (uint32_t i = 0; i < s->node_count; i++)
		if (!node_is_value(&s->nodes[i]))
			w.known[i] = (unsigned char)constancy_of(w.known,
			                                         &s->nodes[i]);
	if (w.known[access->happens] == OPEN) print(&w, access->happens, false);
	if (is_full(&w) || w.unknown || w.known[access->happens] == NEVER) {
		out->length = begin;
		text_string(out, "sometimes");
	}
	free(w.known);
}
