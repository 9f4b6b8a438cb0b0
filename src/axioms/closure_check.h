/* For builds with --enable-checks: the rows of a closure, derived anew from
 * their definition, are what the steps made of them.
 */
#ifndef ISO_AXIOMS_CLOSURE_CHECK_H
#define ISO_AXIOMS_CLOSURE_CHECK_H

struct closure;

/* Ends the process if a row of a transaction that is there is wrong. Takes the
 * cube of the number of transactions; nothing in other builds. */
#ifdef ISO_CHECKS
void closure_check(const struct closure *c);
#else
#define closure_check(c) ((void)(c))
#endif

#endif
