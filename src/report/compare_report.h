#ifndef ISO_REPORT_COMPARE_REPORT_H
#define ISO_REPORT_COMPARE_REPORT_H

#include "base/text.h"

#endif
