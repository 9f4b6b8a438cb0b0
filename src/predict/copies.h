#ifndef ISO_PREDICT_COPIES_H
#define ISO_PREDICT_COPIES_H

#include "predict/predict.h"

#endif
