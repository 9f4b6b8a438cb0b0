#include "report/compare_report.h"
