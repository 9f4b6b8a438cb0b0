#ifndef ISO_REPORT_PREDICT_JSON_H
#define ISO_REPORT_PREDICT_JSON_H

#include "base/text.h"

#endif
