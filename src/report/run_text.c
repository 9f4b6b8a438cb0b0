#include "report/run_text.h"
