#include "report/predict_json.h"
