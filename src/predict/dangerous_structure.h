/* Where si allows only what is serializable, whatever the reads take.
 *
 * Call a conflict vulnerable where one transaction reads a version of a key
 * that another one overwrites, in another session, and no key is written by
 * both. Every other conflict of two transactions makes one commit before the
 * other begins; that is si, and its sessions. So a cycle of conflicts has two
 * vulnerable ones in a row: else going along it one comes later all the time.
 * The transaction between these two, which writes what another one reads and
 * reads what a third one writes, may be the first one for all three. (Fekete,
 * Liarokapis, O'Neil, O'Neil, Shasha, TODS 30, 2005, theorem 3.2.)
 *
 * What transactions read and write is what was observed: so it is in every
 * history of kept transactions and whole copies.
 */
#ifndef ISO_PREDICT_DANGEROUS_STRUCTURE_H
#define ISO_PREDICT_DANGEROUS_STRUCTURE_H

#include "predict/observed_history.h"

/* Is there such a transaction? Linear in the events and words of a row. */
bool has_dangerous_structure(const struct observed_history *o);

#endif
