#include "report/predict_text.h"
