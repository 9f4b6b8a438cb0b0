#ifndef ISO_PREDICT_CANDIDATE_H
#define ISO_PREDICT_CANDIDATE_H

#include "predict/predict.h"

#endif
