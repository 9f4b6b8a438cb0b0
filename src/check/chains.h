#ifndef ISO_CHECK_CHAINS_H
#define ISO_CHECK_CHAINS_H
#endif
