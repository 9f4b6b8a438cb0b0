#ifndef ISO_REPORT_PREDICT_TEXT_H
#define ISO_REPORT_PREDICT_TEXT_H

#include "base/text.h"

#endif
