"""The command-line programs of the simulator: demo, sim, campaign, lab, bench."""
