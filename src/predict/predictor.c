#include "predict/predictor.h"
