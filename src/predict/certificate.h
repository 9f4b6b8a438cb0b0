#ifndef ISO_PREDICT_CERTIFICATE_H
#define ISO_PREDICT_CERTIFICATE_H

#include "predict/predict.h"

#endif
