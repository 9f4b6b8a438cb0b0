#ifndef ISO_CHECK_STRONG_H
#define ISO_CHECK_STRONG_H
#endif
