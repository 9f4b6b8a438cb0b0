/* Exploring outwards from an observed history: histories that differ in few
 * reads come first. */
#ifndef ISO_DPOR_OUTWARD_H
#define ISO_DPOR_OUTWARD_H

#endif
