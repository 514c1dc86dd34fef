"""JSBSim, which sends c3104 by UDP: the program that tests receive from.

``python jsbsim_sender.py PORT SECONDS OUTPUT``: the output's element, with PORT and RATE in it.
"""

import sys
import tempfile
import time
from pathlib import Path

import jsbsim

RATE = 50.0
_BURST = 20  # steps, after which the receiver gets its turn


def main(port, seconds, output):
    """Fly and send."""
    simulator = jsbsim.FGFDMExec(str(Path(jsbsim.__file__).parent))
    simulator.set_debug_level(0)
    simulator.load_script("scripts/c3104.xml")
    simulator.set_dt(1.0 / RATE)
    with tempfile.TemporaryDirectory() as folder:
        directive = Path(folder) / "output.xml"
        directive.write_text(output.replace("PORT", port).replace("RATE", str(RATE)))
        simulator.set_output_directive(str(directive))
        simulator.run_ic()
    step = 0
    while simulator.run() and simulator.get_sim_time() < float(seconds):
        step += 1
        if step % _BURST == 0:
            time.sleep(0.002)


if __name__ == "__main__":
    main(*sys.argv[1:])
