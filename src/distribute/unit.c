#include "distribute/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "distribute/replace.h"
#include "dpor/tally.h"
#include "vm/program.h"

struct unit *unit_new(struct task *task, const char *id, uint64_t split)
{
	struct unit *u = mem_take0(1, sizeof *u);
	u->task = *task;
	*task = (struct task){ 0 };
	u->id = mem_copy_string(id);
	u->split = split;
	return u;
}

void unit_free(struct unit *u)
{
	if (!u) return;
	task_free(&u->task);
	branch_list_free(&u->open);
	found_clear(&u->found);
	free(u->id);
	free(u->histories);
	free(u);
}

void unit_update(struct unit *u, const struct program *p,
                 const struct tally *found, const struct branch_list *open)
{
	found_clear(&u->found);
	branch_list_free(&u->open);
	found_init(&u->found, found, p);
	branch_list_copy(&u->open, open);
}

bool unit_is_finished(const struct unit *u)
{
	return !u->open.count && !u->parts;
}

bool unit_save(const char *path, const struct unit *u)
{
	struct text t = { 0 };
	unit_write(&t, u);
	bool fine = replace_file(path, &t);
	text_free(&t);
	return fine;
}

bool unit_is_file(const char *path)
{
	static const char beginning[] = "{\"isoscope_unit\"";
	char bytes[sizeof beginning - 1];
	struct stat what;
	if (stat(path, &what) || !S_ISREG(what.st_mode)) return false;
	FILE *f = fopen(path, "rbe");
	size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
	if (f) fclose(f);
	return n == sizeof bytes && !memcmp(bytes, beginning, n);
}
