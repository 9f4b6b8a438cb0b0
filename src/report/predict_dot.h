#ifndef ISO_REPORT_PREDICT_DOT_H
#define ISO_REPORT_PREDICT_DOT_H

#include "base/text.h"

#endif
