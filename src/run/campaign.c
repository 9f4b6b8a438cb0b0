#include "run/campaign.h"
