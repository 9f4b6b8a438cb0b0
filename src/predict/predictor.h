#ifndef ISO_PREDICT_PREDICTOR_H
#define ISO_PREDICT_PREDICTOR_H

#include "predict/predict.h"

#endif
