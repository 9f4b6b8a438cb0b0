/* Sessions whose use of memory is wrong, but does no harm: for valgrind only.
 * -DCASE=name chooses one.
 */
#include <stdlib.h>

#include <isoscope/client.h>

static void loses_memory(void *unused)
{
	(void)unused;
	iso_begin("lose");
	int64_t *lost = malloc(77);
	*lost = iso_get_int("x");
	iso_put_int("x", *lost + 1);
	iso_commit();
}

static void reads_behind(void *unused)
{
	(void)unused;
	iso_begin("read");
	volatile char *bytes = malloc(10);
	int64_t x = iso_get_int("x");
	bytes[9] = 0;
	volatile char behind = bytes[10];
	(void)behind;
	free((char *)bytes);
	iso_put_int("x", x + 1);
	iso_commit();
}

static void frees_all(void *unused)
{
	(void)unused;
	iso_begin("free");
	int64_t *kept = malloc(sizeof *kept);
	*kept = iso_get_int("x");
	iso_put_int("x", *kept + 1);
	free(kept);
	iso_commit();
}

void iso_client(void)
{
	static void (*const all[])(void *) = { loses_memory, reads_behind,
		                               frees_all };
	(void)all;
	iso_initial_int("x", 0);
	iso_session("a", CASE, NULL);
	iso_session("b", CASE, NULL);
}
