#ifndef ISO_PREDICT_OBSERVED_H
#define ISO_PREDICT_OBSERVED_H

#include "predict/predict.h"

#endif
