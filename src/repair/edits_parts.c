#include "repair/edits_parts.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "lang/source.h"

struct edit *edits_add(struct edits *e, enum edit_kind kind, unsigned cost)
{
	VEC_RESERVE(e->items, e->count, e->capacity);
	assert(kind < EDIT_KIND_COUNT);
	struct edit *new = &e->items[e->count++];
	*new = (struct edit){ .kind = kind,
		              .cost = cost,
		              .level = LEVEL_COUNT };
	return new;
}

const char *edits_text(struct edits *e, const char *before, const char *word,
                       const char *behind)
{
	struct text t = { 0 };
	text_format(&t, "%s%s%s", before, word, behind);
	const char *copy =
		region_copy_string(&e->region, text_get(&t), t.length);
	text_free(&t);
	return copy;
}

void edits_copy_files(struct edits *e, const struct sources *all)
{
	e->file_count = all->count;
	e->files = region_take0(&e->region, all->count * sizeof *e->files);
	for (size_t i = 0; i < all->count; i++) {
		const struct source *s = &all->items[i];
		e->files[i] = (struct edit_file){
			region_copy_string(&e->region, s->path,
			                   strlen(s->path)),
			region_copy_string(&e->region, s->text, s->length),
			s->length
		};
	}
}
