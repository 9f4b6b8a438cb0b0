#include "report/run_json.h"
