#ifndef ISO_PREDICT_PROPOSAL_H
#define ISO_PREDICT_PROPOSAL_H

#include "predict/predict.h"

#endif
