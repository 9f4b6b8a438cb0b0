#ifndef ISO_FORMATS_ELLE_H
#define ISO_FORMATS_ELLE_H
#endif
