#include "report/predict_dot.h"
