/* Explore-ce*, which filters, or orderly, which prunes: where the level forbids
 * little, and orderly begins much that it cannot continue, explore-ce* takes
 * less time. So the two race.
 */
#ifndef ISO_DPOR_RACE_H
#define ISO_DPOR_RACE_H

#include "dpor/explore.h"

struct program;

/* Who comes to more histories in the first steps: EXPLORE_CE, if to a twentieth
 * more, or EXPLORE_ORDERLY. Of the options those count that say what is
 * explored. The same each time: steps are counted, and no clock is read. */
enum explorer_algorithm race_winner(const struct program *p,
                                    const struct explore_options *o);

#endif
