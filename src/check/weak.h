#ifndef ISO_CHECK_WEAK_H
#define ISO_CHECK_WEAK_H
#endif
