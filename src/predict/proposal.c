#include "predict/proposal.h"
