#ifndef ISO_FORMATS_EDN_H
#define ISO_FORMATS_EDN_H
#endif
