#include "axioms/level.h"

#include <assert.h>
#include <string.h>

#include "base/level_words.h"
#include "history/relation.h"

enum level level_from_word(const char *word)
{
	int number = level_number(word);
	return number < 0 ? LEVEL_COUNT : (enum level)number;
}

bool levels_read(const char *words, unsigned *out, struct text *why)
{
	struct text word = { 0 };
	enum level alone = LEVEL_COUNT;
	*out = 0;
	for (const char *at = words; at && !why->length;) {
		size_t length = strcspn(at, "+");
		text_clear(&word);
		text_bytes(&word, at, length);
		enum level l = level_from_word(text_get(&word));
		if (l == LEVEL_COUNT)
			level_unknown(why, text_get(&word));
		else
			*out |= 1u << l;
		if (l < LEVEL_COUNT && !level_mixes(l)) alone = l;
		at = at[length] ? at + length + 1 : NULL;
	}
	if (!why->length && (*out & (*out - 1)) && alone < LEVEL_COUNT)
		text_string(why, own_level_problem(level_word(alone)));
	text_free(&word);
	return !why->length;
}

/* Each property is ordered, and asks for more the later its value stands. The
 * levels that differ in two of them in opposite directions, pc and psi, do not
 * imply each other. */
bool level_implies(enum level strong, enum level weak)
{
	const struct level_row *s = level_row(strong), *w = level_row(weak);
	bool implies = s->sight >= w->sight && s->moment >= w->moment &&
	               s->rivals >= w->rivals;
	assert(!implies || strong >= weak);
	return implies;
}

bool level_implies_checks(enum level strong, enum level weak)
{
	bool beside = level_has_snapshots(strong);
	return level_implies(strong, weak) &&
	       ((!beside && !level_has_statements(strong)) ||
	        (beside ? level_has_snapshots(weak)
	                : level_has_statements(weak)) ||
	        level_sight(weak) == SIGHT_NOTHING);
}

enum level level_behind(enum level l, bool ssi)
{
	if (!ssi || !level_is_serial(l)) return l;
	while (!level_has_snapshots(l)) l--;
	return l;
}

enum level level_base(enum level l)
{
	enum level base = l;
	while (!level_is_extensible(base) || !level_implies(l, base)) {
		assert(base > 0);
		base--;
	}
	return base;
}

enum level level_of_all(enum level others, const struct relation *r)
{
	enum level first = others;
	for (uint32_t k = 1; k < r->order_count && r->owns; k++) {
		enum level l = level_of(others, r, r->order[k]);
		assert(level_mixes(l) || l == others);
		if (k == 1) first = l;
		if (l != first) return LEVEL_COUNT;
	}
	return first;
}

bool level_asks_points(enum level others, const struct relation *r)
{
	if (!r->owns || r->order_count <= 1)
		return level_has_statements(others) ||
		       (r->reads_beside && level_has_snapshots(others));
	for (uint32_t k = 1; k < r->order_count; k++) {
		enum level l = level_of(others, r, r->order[k]);
		if (level_has_statements(l) || (r->ssi && level_is_serial(l)) ||
		    (r->reads_beside && level_has_snapshots(l)))
			return true;
	}
	return false;
}
