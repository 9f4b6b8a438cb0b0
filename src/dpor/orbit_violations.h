/* What the histories of a class of symmetric ones violate, found on the one
 * that stands for them.
 *
 * They are its images under the permutations of the sessions. An assertion in
 * code that sessions share says the same of all of them, one in a session's own
 * code goes with the session, and a final assertion that names sessions is
 * evaluated once for each way in which others can take their places: the values
 * that tell sessions apart are no constants of it (lang/symmetric.h), so it
 * says of what a session knows the same under another name.
 */
#ifndef ISO_DPOR_ORBIT_VIOLATIONS_H
#define ISO_DPOR_ORBIT_VIOLATIONS_H

#include <stdint.h>

struct engine;
struct finding;

struct orbit_violation {
	uint32_t slot;
	uint64_t histories; /* that violate it, of the class */
	/* Of the history itself, if it is one of them; valid during the
	 * call. */
	const struct finding *finding;
	/* If it is not: one of them, by session the one that it becomes. */
	const uint32_t *image;
};

/* Calls `visit` for every slot that some history of the class of the engine's
 * current execution violates (`serializable` is not among them); perhaps
 * several times, always with the same number. */
void orbit_violations(struct engine *e,
                      void (*visit)(struct engine *e,
                                    const struct orbit_violation *v));

#endif
