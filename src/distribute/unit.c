#include "distribute/unit.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "dpor/tally.h"
#include "vm/program.h"

struct unit *unit_new(struct task *task, const char *id, uint64_t split)
{
	assert(id && task);
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
	results_file_clear(&u->found);
	free(u->id);
	free(u->histories);
	free(u);
}

void unit_update(struct unit *u, const struct program *p,
                 const struct tally *found, const struct branch_list *open)
{
	assert(found && open && p);
	results_file_clear(&u->found);
	branch_list_free(&u->open);
	results_file_init(&u->found, found, p);
	branch_list_copy(&u->open, open);
}

bool unit_is_finished(const struct unit *u)
{
	return !u->open.count && !u->parts;
}
