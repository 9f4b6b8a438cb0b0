#include "check/check_result.h"

#include "base/memory.h"

void check_result_free(struct check_result *r)
{
	free(r->order);
	free(r->core);
	schedule_free(&r->schedule);
	*r = (struct check_result){ 0 };
}
