#ifndef ISO_CHECK_CYCLE_H
#define ISO_CHECK_CYCLE_H
#endif
