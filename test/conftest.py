"""What every test takes for granted."""

import os
import signal

# Before numpy is imported: several tests at a time, each with as many threads as there are cores,
# would only get in each other's way.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# Whoever starts the tests in the background may have told them to ignore these, and they would hand
# it on to the programs that they start and send these signals to.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(
            number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        )
