"""The commands of the simulator: demo, sim, campaign, lab, bench."""
