#include "check/levels.h"

unsigned facts_levels(const struct facts *f, enum level others)
{
	unsigned levels = 0;
	if (!f->owns || f->n == 1) return 1u << others;
	for (uint32_t t = 1; t < f->n; t++)
		levels |= 1u << facts_level(f, others, t);
	return levels;
}

enum level facts_level_of_all(const struct facts *f, enum level others)
{
	unsigned levels = facts_levels(f, others);
	enum level first = 0;
	while (!(levels >> first & 1)) first++;
	return levels == 1u << first ? first : LEVEL_COUNT;
}
