/* What became of a worker, in words. */
#ifndef ISO_NATIVE_CASUALTY_H
#define ISO_NATIVE_CASUALTY_H

#endif
