"""Simulate the flight c3104 with JSBSim and send it by UDP, as fast as packets are received.

Call ``python jsbsim_sender.py PORT SECONDS OUTPUT``; OUTPUT is JSBSim's output element with the
placeholders PORT and RATE.
"""

import sys
import tempfile
import time
from pathlib import Path

import jsbsim

RATE = 50.0
_BURST = 20  # steps, whose packets fit into the receiver's buffer in the kernel


def main(port, seconds, output):
    """Simulate the flight and send its packets."""
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
        while step % _BURST == 0 and _is_unread(int(port)):
            time.sleep(0.001)


def _is_unread(port):
    """Return whether the kernel holds unread packets of a UDP port, see proc(5)."""
    for line in Path("/proc/net/udp").read_text().splitlines()[1:]:
        _, local, _, _, queues, *_ = line.split()
        if int(local.split(":")[1], 16) == port:
            return int(queues.split(":")[1], 16) > 0
    return False


if __name__ == "__main__":
    main(*sys.argv[1:])
